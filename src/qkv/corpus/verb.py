"""Verbs: their forms in both languages, and frames of the nouns and places they go with."""

from dataclasses import dataclass

__all__ = ["WHO", "Frame", "Verb"]

WHO = "people pronouns"


@dataclass(frozen=True)
class Frame:
    """Nouns that go together with a verb, by name or by group, and where it happens.

    Places are pairs such as "on:mat". Beside an object a place is an addition; without one, each
    place makes an event of its own.
    """

    subjects: str
    objects: str
    places: str


@dataclass(frozen=True)
class Verb:
    """A verb; its Korean forms are given and not made by rule, since many are irregular.

    Args:
        english: base, third person and past: "sit sits sat".
        korean: present, past, before 것이다 and before 않다: "앉는다 앉았다 앉을 앉지".
        particle: of places: 에 where something comes to be or stays, 에서 where it is done.
        alone: whether subject and verb make a sentence.
        state: whether it tells a property of its subject, which is then the topic (은/는).
    """

    english: str
    korean: str
    frames: tuple[Frame, ...]
    particle: str = "에서"
    alone: bool = False
    state: bool = False
