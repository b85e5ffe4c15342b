"""The one function through which words for readers go, in the package and in the book's build."""

from __future__ import annotations

from gettext import NullTranslations

_CATALOGUE = NullTranslations()


def gettext(message: str) -> str:
    """The message in the reader's language, which is English: the message itself.

    Args:
        message: a whole sentence, title or label, as a literal string, so that it can be found in
            the source. What varies in it is a named field, filled in afterwards:
            `gettext("{done} of {total} done").format(done=2, total=6)`.
    """
    return _CATALOGUE.gettext(message)
