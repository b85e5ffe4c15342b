"""Explorer of the first chapter: where the trained model looks for each word that it writes."""

from __future__ import annotations

from functools import cache

from qkv.explore.framework.panels import Bars, Panels, Table
from qkv.pretrained import EXAMPLES, pretrained
from qkv.translator import AttentionMaps

# What each Korean word of the examples' translations says; its ending marks its role.
WORDS = """
고양이가 cat, 매트 mat, 위에 on, 앉았다 sat, 개는 dog, 피곤해서 because tired, 길을 street,
건너지 cross, 않았다 not, 길이 street, 넓어서 because wide, 토끼는 rabbit, 배고파서 because hungry,
당근을 carrot, 먹었다 ate, 당근이 carrot, 맛있어서 because delicious, 나는 I, 피곤했다 was tired,
우리는 we, 시장에서 in market, 모자를 hat, 샀다 bought, 그녀는 she, 집에 to house, 갈 go,
것이다 will, 정원은 garden, 예쁘지 pretty, 목마른 thirsty, 선생님이 teacher, 상자를 box,
닫았다 closed, 그들은 they, 조용한 quiet, 도서관에서 in library, 기다리지 wait, 않는다 not,
똑똑한 clever, 정원에 to garden, 오지 come, 않을 not
"""
GLOSSES = dict(pair.strip().split(maxsplit=1) for pair in WORDS.split(","))
# What the buttons say: a whole sentence on each would fill the screen of a phone.
NAMES = """
cat; dog, tired; dog, wide; rabbit, hungry; rabbit, delicious; I was tired; hat; house; garden;
teacher; library; clever dog
"""
SENTENCES = dict(zip(map(str.strip, NAMES.split(";")), EXAMPLES, strict=True))
HEADS = ("average", "head 1", "head 2")
MOST_WORDS = 6  # of a translation of an example
CHOSEN = "←"


def look(*, sentence: str, word: int, head: str) -> Panels:
    """Cross-attention of one Korean word: how much of each English word the model takes for it.

    Args:
        sentence: a name of SENTENCES, or English words that the model knows.
        word: which word of the translation, counted from 1; the last where it has fewer.
        head: one of HEADS.
    """
    english = SENTENCES.get(sentence, sentence)
    maps = _maps(english)
    korean = maps.translation.split()
    at = min(word, len(korean)) - 1
    heads = maps.stack("cross")[-1]  # (H, T, S)
    weights = heads.mean(0) if head == HEADS[0] else heads[HEADS.index(head) - 1]  # (T, S)
    rows = [(f"{n}", one, GLOSSES.get(one, "")) for n, one in enumerate(korean, start=1)]
    rows[at] = (f"{at + 1} {CHOSEN}", *rows[at][1:])
    return {
        "english": english,
        "translation": Table(["word", "Korean", "in English"], rows),
        "shown": f"word {at + 1} of {len(korean)}: {korean[at]}",
        "weights": Bars(weights[at], maps.source, limits=(0, 1)),
    }


@cache
def _maps(sentence: str) -> AttentionMaps:
    return pretrained().attention(sentence)


GRID = {"sentence": SENTENCES, "word": range(1, MOST_WORDS + 1), "head": HEADS}
