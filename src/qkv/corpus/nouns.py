"""The nouns, pronouns and adjectives of the grammar."""

from dataclasses import dataclass

__all__ = ["ADJECTIVES", "GROUPS", "NOUNS", "POSITIONS", "Adjective", "Noun"]


@dataclass(frozen=True)
class Noun:
    """A noun, or a pronoun, which has no article and its own forms of "be"."""

    english: str
    korean: str
    be: tuple[str, str] = ("is", "was")
    pronoun: bool = False


@dataclass(frozen=True)
class Adjective:
    """An adjective and what it may describe.

    Korean adjectives conjugate; `korean` is before a noun, present, past, before 것이다, before
    않다 and as a reason: "작은 작다 작았다 작을 작지 작아서".
    """

    english: str
    korean: str
    nouns: str


PRONOUNS = (
    Noun("I", "나", ("am", "was"), True),
    Noun("we", "우리", ("are", "were"), True),
    Noun("he", "그", pronoun=True),
    Noun("she", "그녀", pronoun=True),
    Noun("they", "그들", ("are", "were"), True),
)
WORDS = {
    "people": "child 아이 student 학생 teacher 선생님 friend 친구 doctor 의사 girl 소녀 boy 소년 "
    "farmer 농부",
    "animals": "cat 고양이 dog 개 bird 새 rabbit 토끼 bear 곰 horse 말",
    "foods": "rice 밥 bread 빵 apple 사과 fish 생선 meat 고기 egg 달걀 cake 케이크 carrot 당근",
    "drinks": "water 물 milk 우유 tea 차 juice 주스",
    "things": "book 책 letter 편지 poem 시 song 노래 flower 꽃 ball 공 stone 돌 hat 모자 cup 컵 "
    "box 상자 bag 가방 door 문 window 창문 mat 매트 chair 의자 table 탁자 bed 침대 sofa 소파 "
    "tree 나무 bridge 다리",
    "places": "park 공원 school 학교 room 방 garden 정원 forest 숲 kitchen 부엌 library 도서관 "
    "market 시장 house 집 hospital 병원 river 강 lake 호수 sea 바다 field 들판 street 길",
}

# What the frames of verbs and adjectives call a whole group by its name.
GROUPS: dict[str, tuple[Noun, ...]] = {
    name: tuple(
        Noun(english, korean) for english, korean in zip(words[::2], words[1::2], strict=True)
    )
    for name, words in ((name, text.split()) for name, text in WORDS.items())
} | {"pronouns": PRONOUNS}
NOUNS = {noun.english: noun for group in GROUPS.values() for noun in group}

# Where Korean has a noun of its own for the place (매트 위에, on the mat); a bare 에 or 에서 else.
POSITIONS = {"on": "위", "under": "아래", "beside": "옆", "behind": "뒤", "in": "", "to": ""}

ADJECTIVES = (
    Adjective(
        "small", "작은 작다 작았다 작을 작지 작아서", "animals ball box bag stone book house"
    ),
    Adjective("big", "큰 크다 컸다 클 크지 커서", "animals fish ball box stone tree house river"),
    Adjective(
        "white", "하얀 하얗다 하얬다 하얄 하얗지 하얘서", "cat dog bird rabbit horse flower hat"
    ),
    Adjective("black", "검은 검다 검었다 검을 검지 검어서", "cat dog bird bear horse hat bag"),
    Adjective("red", "빨간 빨갛다 빨갰다 빨갈 빨갛지 빨개서", "apple flower hat ball door bag cup"),
    Adjective("blue", "파란 파랗다 파랬다 파랄 파랗지 파래서", "bird ball hat door bag cup sea"),
    Adjective("pretty", "예쁜 예쁘다 예뻤다 예쁠 예쁘지 예뻐서", "cat bird flower hat cup garden"),
    Adjective("fast", "빠른 빠르다 빨랐다 빠를 빠르지 빨라서", "animals"),
    Adjective("slow", "느린 느리다 느렸다 느릴 느리지 느려서", "animals"),
    Adjective(
        "hungry", "배고픈 배고프다 배고팠다 배고플 배고프지 배고파서", "people animals pronouns"
    ),
    Adjective(
        "thirsty", "목마른 목마르다 목말랐다 목마를 목마르지 목말라서", "people animals pronouns"
    ),
    Adjective(
        "happy", "행복한 행복하다 행복했다 행복할 행복하지 행복해서", "people pronouns cat dog"
    ),
    Adjective("sad", "슬픈 슬프다 슬펐다 슬플 슬프지 슬퍼서", "people pronouns song poem"),
    Adjective(
        "tired", "피곤한 피곤하다 피곤했다 피곤할 피곤하지 피곤해서", "people animals pronouns"
    ),
    Adjective("sick", "아픈 아프다 아팠다 아플 아프지 아파서", "people animals pronouns"),
    Adjective("kind", "친절한 친절하다 친절했다 친절할 친절하지 친절해서", "people pronouns"),
    Adjective("clever", "똑똑한 똑똑하다 똑똑했다 똑똑할 똑똑하지 똑똑해서", "people pronouns dog"),
    Adjective("delicious", "맛있는 맛있다 맛있었다 맛있을 맛있지 맛있어서", "foods tea milk juice"),
    Adjective(
        "cold",
        "차가운 차갑다 차가웠다 차가울 차갑지 차가워서",
        "drinks rice fish meat stone river lake sea bed mat chair",
    ),
    Adjective(
        "warm",
        "따뜻한 따뜻하다 따뜻했다 따뜻할 따뜻하지 따뜻해서",
        "rice bread tea milk room house kitchen bed mat sofa",
    ),
    Adjective(
        "heavy", "무거운 무겁다 무거웠다 무거울 무겁지 무거워서", "stone box bag table chair door"
    ),
    Adjective(
        "expensive", "비싼 비싸다 비쌌다 비쌀 비싸지 비싸서", "fish meat cake hat bag ball table"
    ),
    Adjective(
        "quiet", "조용한 조용하다 조용했다 조용할 조용하지 조용해서", "park room library forest"
    ),
    Adjective(
        "wide",
        "넓은 넓다 넓었다 넓을 넓지 넓어서",
        "park room garden river lake sea field street",
    ),
    Adjective("narrow", "좁은 좁다 좁았다 좁을 좁지 좁아서", "bridge room street"),
    Adjective("deep", "깊은 깊다 깊었다 깊을 깊지 깊어서", "river lake sea"),
    Adjective(
        "dangerous",
        "위험한 위험하다 위험했다 위험할 위험하지 위험해서",
        "bear street bridge river lake sea forest",
    ),
)
