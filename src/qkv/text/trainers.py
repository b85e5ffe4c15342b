"""Train tokenizers on text: subwords by byte-pair encoding (BPE), whole words, or characters.

Train on the training text alone. A vocabulary that has seen the test text has no unknown words
there, and flatters the model.
"""

from collections import Counter
from collections.abc import Iterable

from qkv.shapes import check_count
from qkv.text.bpe import train_merges
from qkv.text.normalization import normalize_characters, normalized_lines
from qkv.text.tokenizer import Tokenizer
from qkv.text.vocabulary import SPECIAL_TOKENS, WORD_START

__all__ = ["train_bpe", "train_character_level", "train_word_level"]


def train_bpe(lines: Iterable[str], vocab_size: int, *, min_count: int = 2) -> Tokenizer:
    """Train a byte-pair encoding (BPE) tokenizer: merge the most frequent pair, again and again.

    It starts at characters. Pieces do not reach over spaces, and punctuation marks stay alone. The
    same lines, in any order and with any number of threads, give the same vocabulary.

    Args:
        lines: the training text; for a vocabulary of two languages, both, one after the other.
        vocab_size: the most tokens, the special ones among them; little text may give fewer.
        min_count: the rarest pair that is still merged.
    Raises:
        ValueError: the lines hold no text, or more characters than the vocabulary has room for.
        ImportError: tokenizers is not installed.
    Source: Sennrich et al. 2016.
    """
    check_count("train_bpe", vocab_size=vocab_size, min_count=min_count)
    texts = sorted(normalized_lines("train_bpe", lines))
    alphabet = set(WORD_START).union(*texts) - {" "}
    least = len(SPECIAL_TOKENS) + len(alphabet)
    if vocab_size < least:
        special = f"the {len(SPECIAL_TOKENS)} special tokens"
        needed = f"{special} and the {len(alphabet)} characters of the text"
        hint = "raise it, or leave out lines in other scripts"
        raise ValueError(
            f"train_bpe: vocab_size must be at least {least}, {needed}, got {vocab_size}: {hint}"
        )
    return Tokenizer(*train_merges(texts, vocab_size, min_count))


def train_word_level(lines: Iterable[str], *, min_count: int = 1) -> Tokenizer:
    """Train a word-level tokenizer: each word between spaces is a token, the most frequent first.

    Meant for small languages, where attention is drawn word by word; "mat." is not "mat" here.

    Args:
        lines: the training text.
        min_count: words that stand there less often are unknown.
    Raises:
        ValueError: the lines hold no text.
    """
    check_count("train_word_level", min_count=min_count)
    counts = Counter(
        word for text in normalized_lines("train_word_level", lines) for word in text.split()
    )
    words = (word for word in counts if counts[word] >= min_count and word not in SPECIAL_TOKENS)
    return Tokenizer([*SPECIAL_TOKENS, *sorted(words, key=lambda word: (-counts[word], word))])


def train_character_level(lines: Iterable[str]) -> Tokenizer:
    """Train a character-level tokenizer: each character, space or line feed is a token, in order.

    For a model that reads and writes letter by letter: small to read, slow to train, and what comes
    back from `decode` has every space that was there.

    Args:
        lines: the training text; one long text can stand in a list alone.
    Raises:
        ValueError: the lines hold no text.
    """
    texts = normalized_lines("train_character_level", lines, normalize_characters)
    return Tokenizer([*SPECIAL_TOKENS, *sorted(set().union(*texts))], characters=True)
