"""Render a sentence pair from its features: English, Korean and their word alignment."""

from dataclasses import dataclass

from qkv.corpus.intransitive import INTRANSITIVE
from qkv.corpus.nouns import ADJECTIVES, NOUNS, POSITIONS
from qkv.corpus.particles import Particle, with_particle
from qkv.corpus.transitive import TRANSITIVE

__all__ = ["TENSES", "Features", "Pair", "render"]

TENSES = ("present", "past", "future")
VERBS = {verb.english.split()[0]: verb for verb in (*TRANSITIVE, *INTRANSITIVE)}
QUALITIES = {adjective.english: adjective for adjective in ADJECTIVES}

# A word and its role in the sentence; Korean words may carry several roles, and articles have none.
English = list[tuple[str, str]]
Korean = list[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Features:
    """Grammatical features of a sentence, in English words.

    Args:
        verb: its base, or the adjective that stands after "be".
        tense: "present", "past" or "future".
        adjective: one that stands before a noun, and in `describes` which: "subject", "object" or
            "place".
        reason: an adjective that stands after "because it is", and in `reason_of` which noun *it*
            stands for: "subject", "object" or "place".
    """

    subject: str
    verb: str
    tense: str
    negated: bool
    object: str | None = None
    preposition: str | None = None
    place: str | None = None
    adjective: str | None = None
    describes: str | None = None
    reason: str | None = None
    reason_of: str | None = None


@dataclass(frozen=True)
class Pair:
    """A sentence pair with its word alignment.

    Args:
        source, target: the words of the English and of the Korean sentence.
        alignment: (target index, source index) where the Korean word says what the English one
            says. Every Korean word is aligned; of the English words, all but the articles.
        features: what the sentence was made of.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]
    features: Features


def render(features: Features) -> Pair:
    """Render the features as a sentence in both languages.

    The topic particle 은/는 marks pronouns, and the subject of a negation or of a property; 이/가
    the subject of an event. Where there is a reason, the subject is the topic.

    Korean says the reason first, and no pronoun. Where *it* stands for the subject, that noun
    serves both clauses: 개는 피곤해서 길을 건너지 않았다. Else the noun is said twice, the first
    time with 이/가: 길이 넓어서 개는 길을 건너지 않았다.

    *It* is aligned with the noun that the reason is said of (개는, 길이). A Korean noun is aligned
    with its English one each time that it is said. "Because", "is" and the adjective are one word.
    """
    verb = VERBS.get(features.verb)
    is_topic = (
        NOUNS[features.subject].pronoun
        or features.negated
        or features.reason is not None
        or verb is None
        or verb.state
    )
    english, korean = _noun(features, "subject", "topic" if is_topic else "subject")
    predicate = _english_predicate(features)
    place = _place(features, "에서" if verb is None else verb.particle)
    object_ = _noun(features, "object", "object") if features.object else ([], [])

    reason = _reason(features)
    english += predicate + object_[0] + place[0] + reason[0]
    if features.reason_of == "subject":
        korean = [(korean[0][0], ("subject", "it")), *reason[1]]
    else:
        korean = reason[1] + korean
    korean += place[1] + object_[1] + _korean_predicate(features)
    source = [word for word, _ in english]
    return Pair(
        (source[0][0].upper() + source[0][1:], *source[1:]),
        tuple(word for word, _ in korean),
        frozenset(
            (i, j)
            for i, (_, roles) in enumerate(korean)
            for j, (_, role) in enumerate(english)
            if role in roles
        ),
        features,
    )


def _noun(features: Features, role: str, particle: Particle | None) -> tuple[English, Korean]:
    """The article, the adjective and the noun; a particle joins the Korean noun."""
    noun = NOUNS[getattr(features, role)]
    english: English = [] if noun.pronoun else [("the", "")]
    korean: Korean = []
    if features.adjective and features.describes == role:
        english.append((features.adjective, "adjective"))
        korean.append((QUALITIES[features.adjective].korean.split()[0], ("adjective",)))
    english.append((noun.english, role))
    word = noun.korean if particle is None else with_particle(noun.korean, particle)
    return english, [*korean, (word, (role,))]


def _place(features: Features, particle: str) -> tuple[English, Korean]:
    """매트 위에 has a word for "on"; in 공원에, "in" is the particle at the noun."""
    if features.place is None or features.preposition is None:
        return [], []
    english, korean = _noun(features, "place", None)
    english.insert(0, (features.preposition, "position"))
    position = POSITIONS[features.preposition]
    if position:
        return english, [*korean, (position + particle, ("position",))]
    noun, roles = korean[-1]
    return english, [*korean[:-1], (noun + particle, (*roles, "position"))]


def _reason(features: Features) -> tuple[English, Korean]:
    """길이 넓어서, "because it was wide"; of the subject, which stands there already, 피곤해서."""
    if features.reason is None or features.reason_of is None:
        return [], []
    be = "was" if features.tense == "past" else "is"
    words = ((word, "reason") for word in ("because", be, features.reason))
    because, *rest = words
    korean: Korean = [(QUALITIES[features.reason].korean.split()[5], ("reason",))]
    if features.reason_of != "subject":
        noun = NOUNS[getattr(features, features.reason_of)]
        repeated = with_particle(noun.korean, "subject")
        korean.insert(0, (repeated, (features.reason_of, "it")))
    return [because, ("it", "it"), *rest], korean


def _english_predicate(features: Features) -> English:
    """The verb, or "be" and an adjective; negation brings "do", the future brings "will"."""
    present_be, past_be = NOUNS[features.subject].be
    quality = features.verb in QUALITIES
    third = present_be == "is"
    forms = ("be", present_be, past_be) if quality else tuple(VERBS[features.verb].english.split())
    negation: English = [("not", "negation")] if features.negated else []
    rest: English = [(features.verb, "verb")] if quality else []
    if features.tense == "future":
        return [("will", "future"), *negation, (forms[0], "verb"), *rest]
    if quality:
        be = forms[1 + (features.tense == "past")]
        return [(be, "negation" if negation else "verb"), *negation, *rest]
    if negation:
        do = "did" if features.tense == "past" else "does" if third else "do"
        return [(do, "negation"), *negation, (forms[0], "verb")]
    return [(forms[2] if features.tense == "past" else forms[1 if third else 0], "verb")]


def _korean_predicate(features: Features) -> Korean:
    """The form in -지 and 않다 for a negation, a form and 것이다 for the future."""
    quality = QUALITIES.get(features.verb)
    forms = quality.korean.split()[1:] if quality else VERBS[features.verb].korean.split()
    words: Korean = []
    role = "verb"
    if features.negated:
        words.append((forms[3], ("verb",)))
        forms, role = ["않다" if quality else "않는다", "않았다", "않을"], "negation"
    form = forms[TENSES.index(features.tense)]
    if features.tense == "future":
        return [*words, (form, (role, "future")), ("것이다", ("future",))]
    return [*words, (form, (role,))]
