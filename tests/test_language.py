"""Words for readers: the message itself in English, with its fields filled in afterwards."""

from qkv.language import gettext


def test_an_english_message_is_itself():
    message = "{done} of {total} done"
    assert gettext(message) == message
    assert gettext(message).format(done=2, total=6) == "2 of 6 done"
