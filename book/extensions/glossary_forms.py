"""How a text may write a term of the glossary: for the pages' links and the chapters' rules."""

import re


def forms(term: str) -> set[str]:
    """A term in lower case, without what is in brackets, in each form that a text may have.

    In English that is the singular and the plural; in Korean, with its spaces and without.
    """
    term = term.partition("(")[0].strip().lower()
    if re.search("[가-힣]", term):
        return {term, term.replace(" ", "")}
    plurals = {term + "s", term + "es"}
    return {term} | plurals | ({term[:-1] + "ies"} if term.endswith("y") else set())
