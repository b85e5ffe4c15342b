"""How a text may write a term of the glossary: for the pages' links and the chapters' rules."""


def forms(term: str) -> set[str]:
    """A term in the singular and in the plural, in lower case, without what is in brackets."""
    term = term.partition(" (")[0].lower()
    plurals = {term + "s", term + "es"}
    return {term} | plurals | ({term[:-1] + "ies"} if term.endswith("y") else set())
