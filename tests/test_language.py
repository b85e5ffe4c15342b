"""Words for readers: the message itself in English, its translation in a chosen language."""

import pytest

import qkv
from qkv.language import get_language, gettext, languages, using_language
from tests.helpers.processes import run_python

MESSAGE = "{done} of {total} done"


def test_an_english_message_is_itself():
    assert gettext(MESSAGE) == MESSAGE
    assert gettext(MESSAGE).format(done=2, total=6) == "2 of 6 done"
    assert gettext("") == ""


def test_a_language_holds_for_a_block_and_its_context():
    with using_language("ko"):
        assert get_language() == "ko"
        assert gettext(MESSAGE).format(done=2, total=6) != "2 of 6 done"
        assert gettext("no message of any catalogue") == "no message of any catalogue"
        with using_language("en"):
            assert gettext(MESSAGE) == MESSAGE
    assert get_language() == "en"


def test_an_unknown_language_is_refused_and_changes_nothing():
    assert {"en", "ko"} <= set(languages())
    with pytest.raises(ValueError, match="set_language: language must be one of en, ko, got 'xx'"):
        qkv.set_language("xx")
    assert get_language() == "en"


def test_to_import_qkv_reads_no_catalogue():
    code = "import sys, qkv; print('babel' in sys.modules, 'numpy' in sys.modules)"
    assert run_python(code).stdout.split() == ["False", "False"]
