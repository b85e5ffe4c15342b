"""A catalogue follows its source: what is new is empty, what changed fuzzy, what went gone."""

from tools.translations.catalogue import (
    Message,
    Translations,
    catalogue_text,
    read_catalogue,
    untranslated,
    update_catalogue,
)

OLD = "The causal mask blocks the later words of a sentence."
NEW = "The causal mask blocks all later words of a sentence."


def catalogue(tmp_path, *texts):
    path = tmp_path / "masks.po"
    return path, update_catalogue(path, "ko", [Message(text, "masks-01") for text in texts])


def translated(path, **translations):
    read = read_catalogue(path, "ko")
    for message in read:
        if message.id in translations:
            message.string = translations[message.id]
    path.write_text(catalogue_text(read), encoding="utf-8")


def test_a_new_message_is_empty(tmp_path):
    _, read = catalogue(tmp_path, OLD)
    assert untranslated(read) == [OLD]
    assert Translations(read)(OLD) is None


def test_a_changed_message_is_fuzzy_and_shown_in_english(tmp_path):
    path, _ = catalogue(tmp_path, OLD, "Another message, which stays.")
    translated(path, **{OLD: "옛것", "Another message, which stays.": "그대로"})
    path, read = catalogue(tmp_path, NEW, "Another message, which stays.")
    assert untranslated(read) == [NEW]
    assert read.get(NEW).string == "옛것"
    translate = Translations(read)
    assert translate(NEW) is None
    assert translate("Another message, which stays.") == "그대로"
    assert (
        OLD not in path.read_text("utf-8").replace("#| ", "").replace(NEW, "").split("msgstr")[-1]
    )


def test_the_english_of_before_goes_once_its_translation_is_mended(tmp_path):
    path, _ = catalogue(tmp_path, OLD)
    translated(path, **{OLD: "옛것"})
    catalogue(tmp_path, NEW)
    assert "#| " in path.read_text("utf-8")
    mended = path.read_text("utf-8").replace("#, fuzzy\n", "").replace("옛것", "새것")
    path.write_text(mended, encoding="utf-8")
    catalogue(tmp_path, NEW)
    assert OLD not in path.read_text("utf-8")
    assert "새것" in path.read_text("utf-8")


def test_a_message_that_went_is_gone(tmp_path):
    path, _ = catalogue(tmp_path, OLD, "Another message, which stays.")
    translated(path, **{OLD: "옛것"})
    path, read = catalogue(tmp_path, "Another message, which stays.")
    assert [message.id for message in read if message.id] == ["Another message, which stays."]
    assert "옛것" not in path.read_text("utf-8")


def test_one_cell_may_have_a_translation_of_its_own(tmp_path):
    path, _ = catalogue(tmp_path, "key")
    translated(path, key="키")
    read = read_catalogue(path, "ko")
    read.add("key", "열쇠", context="masks-01")
    path.write_text(catalogue_text(read), encoding="utf-8")
    _, read = catalogue(tmp_path, "key")
    translate = Translations(read)
    assert (translate("key", "masks-01"), translate("key", "masks-02")) == ("열쇠", "키")


def test_an_update_without_a_change_changes_no_byte(tmp_path):
    path, _ = catalogue(tmp_path, OLD, 'With "quotes" and\ntwo lines')
    translated(path, **{OLD: "옛것"})
    before = path.read_bytes()
    catalogue(tmp_path, OLD, 'With "quotes" and\ntwo lines')
    assert path.read_bytes() == before
