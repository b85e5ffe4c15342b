"""A search language for Korean, by Sphinx's interface: words without particles and endings.

Sphinx has none, and would find 마스크 only where no particle stands behind it. Words are parted
where Hangul and other letters meet; particles, the copula and the endings of 하다 and 되다 are
taken off, one after the other, while two syllables are left, or one that is a word of this book.
The same patterns make the index (here) and read a query (in the page's script).
"""

import json
import re
import unicodedata
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

PARTICLES = """
이 가 은 는 을 를 의 에 에서 에게 께 한테 으로 로 으로서 로서 으로써 로써 와 과 이랑 랑 하고
도 만 까지 부터 보다 처럼 같이 마다 조차 마저 대로 밖에 뿐 씩 들 이나 이든 이라도 라도 이란 란
"""
COPULA = """
이다 입니다 인 이며 이고 이면 이라 이라는 라는 이라고 라고 이라면 라면 이지만 이므로 이어서 여서
이었다 였다 이었습니다 였습니다 인데 인지 일 임
"""
VERBS = """
합니다 한다 하는 하며 하면 하여 해서 해야 했다 했습니다 할 한 함 하기 하지 하게 하도록 하려면
하므로 하지만 됩니다 된다 되는 되고 되며 되면 되어 돼서 되었다 됐다 되었습니다 됐습니다 될 된 됨
되기 되지 되도록 시킵니다 시킨다 시키는 시키고 시키면 시켜 시킬 시킨 시키기
"""
ENDINGS = f"{PARTICLES} {COPULA} {VERBS}".split()
ONE_SYLLABLE = "키값층행열축칸셀합곱몫빔점글말뜻답표식줄장절것수때"
# In so many sentences that a query with one of them would miss the page it is after.
EVERYWHERE = """
것 수 때 등 및 더 또 각 그 저 두 왜 즉 다시 어떤 모든 그리고 그러나 그래서 따라서 또는 이것 그것
여기 거기 무엇 어떻게 있다 있는 있습니다 없다 없는 없습니다 아니다 아닙니다 무엇입니까 무엇인가
뭔가 대해 대한 위해 위한 통해 때문
"""

HANGUL = "[ㄱ-ㅎㅏ-ㅣ가-힣]"
ENDING = "|".join(sorted(ENDINGS, key=lambda ending: (-len(ending), ending)))
# The shortest that can be left, so the longest ending.
WORD_AND_ENDING = f"^([{ONE_SYLLABLE}]|.{{2,}}?)(?:{ENDING})$"
ONLY_ENDING = f"^(?:{ENDING})$"


def words_pattern(letter: str) -> str:
    """Runs of Hangul, and runs of other letters, digits and underscores."""
    return f"{HANGUL}+|(?:(?!{HANGUL}){letter})+"


PATTERNS = {
    "words": words_pattern(r"[\p{L}\p{N}_]"),
    "hangul": f"{HANGUL}+",
    "wordAndEnding": WORD_AND_ENDING,
    "onlyEnding": ONLY_ENDING,
}
SCRIPT = """
var [splitQuery, withoutParticle] = (() => {
  const { words, hangul, wordAndEnding, onlyEnding } = PATTERNS;
  const bare = (word) => {
    if (new RegExp(onlyEnding, "u").test(word)) return "";
    for (let found; (found = word.match(new RegExp(wordAndEnding, "u"))); ) word = found[1];
    return word;
  };
  const last = new RegExp(`${hangul}$`, "u");
  // Those inside a phrase are part of it, as a title has them.
  const withoutParticle = (query) => query.normalize("NFC").trim().replace(last, bare);
  const splitQuery = (query) => (query.normalize("NFC").match(new RegExp(words, "gu")) ?? [])
    .map((word) => word.replace(last, bare)).filter(Boolean);
  return [splitQuery, withoutParticle];
})();
"""


def bare(word: str) -> str:
    """A run of Hangul without its endings; nothing is left of one that is all ending."""
    if re.match(ONLY_ENDING, word):
        return ""
    while found := re.match(WORD_AND_ENDING, word):
        word = found[1]
    return word


class SearchKorean(SearchEnglish):
    """Words of Latin letters as in English; of Korean words what `bare` leaves.

    They are bared as the text is split and not as a word is stemmed, so that what a page marks
    and the names of the library are asked for without a particle too.
    """

    lang = "ko"
    language_name = "Korean"
    stopwords = SearchEnglish.stopwords.union(EVERYWHERE.split())
    js_splitter_code = SCRIPT.replace("PATTERNS", json.dumps(PATTERNS, ensure_ascii=False))

    def split(self, input: str) -> list[str]:
        words = re.findall(words_pattern(r"\w"), unicodedata.normalize("NFC", input))
        bared = (bare(word) if re.match(HANGUL, word) else word for word in words)
        return [word for word in bared if word]

    def word_filter(self, word: str) -> bool:
        return bool(word) and word not in self.stopwords


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_search_language(SearchKorean)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
