"""Korean particles that depend on how the noun ends."""

from typing import Literal

__all__ = ["Particle", "has_final_consonant", "with_particle"]

Particle = Literal["topic", "subject", "object"]

# After a final consonant, and after a vowel.
PARTICLES: dict[Particle, tuple[str, str]] = {
    "topic": ("은", "는"),
    "subject": ("이", "가"),
    "object": ("을", "를"),
}


def has_final_consonant(word: str) -> bool:
    """Whether the last syllable is closed: 밥 is, 고양이 is not.

    Unicode orders the 11,172 syllables by first consonant, vowel and final: with 28 finals, none
    the first of them, (code − U+AC00) mod 28 is 0 for an open syllable.

    Raises:
        ValueError: the word does not end in a Hangul syllable.
    Source: The Unicode Standard, section 3.12.
    """
    last = word[-1:]
    if not "가" <= last <= "힣":
        raise ValueError(
            f"has_final_consonant: the word must end in a Hangul syllable, got {word!r}: "
            "decomposed text must be composed first (NFC)"
        )
    return (ord(last) - ord("가")) % 28 != 0


def with_particle(noun: str, particle: Particle) -> str:
    """A noun with 은 or 는 ("topic"), 이 or 가 ("subject"), 을 or 를 ("object").

    Raises:
        ValueError: the particle is unknown, or the noun does not end in a Hangul syllable.
    """
    if particle not in PARTICLES:
        words = ", ".join(map(repr, PARTICLES))
        raise ValueError(f"with_particle: particle must be one of {words}, got {particle!r}")
    closed, opened = PARTICLES[particle]
    return noun + (closed if has_final_consonant(noun) else opened)
