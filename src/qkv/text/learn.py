"""Vocabularies learnt from text: pieces of words by BPE, whole words, or characters.

Learn from the training text alone. A vocabulary that has seen the test text has no unknown words
there, and flatters the model.
"""

from collections import Counter
from collections.abc import Iterable

from qkv.shapes import check_count
from qkv.text.bpe import merge_pairs
from qkv.text.tokenizer import Tokenizer
from qkv.text.vocabulary import SPECIALS, START, clean_characters, cleaned

__all__ = ["learn_bpe", "learn_characters", "learn_words"]


def learn_bpe(lines: Iterable[str], vocab_size: int, *, min_count: int = 2) -> Tokenizer:
    """Join the most frequent pair of neighbouring pieces, again and again, starting at characters.

    Pieces do not reach over spaces, and punctuation marks stay alone. The same lines, in any order
    and with any number of threads, give the same vocabulary.

    Args:
        lines: the training text; for a vocabulary of two languages, both, one after the other.
        vocab_size: the most tokens, the special ones among them; little text may give fewer.
        min_count: the rarest pair that is still joined.
    Raises:
        ValueError: the lines hold no text, or more characters than the vocabulary has room for.
        ImportError: tokenizers is not installed.
    Source: Sennrich et al. 2016.
    """
    check_count("learn_bpe", vocab_size=vocab_size, min_count=min_count)
    texts = sorted(cleaned("learn_bpe", lines))
    alphabet = set(START).union(*texts) - {" "}
    least = len(SPECIALS) + len(alphabet)
    if vocab_size < least:
        words = f"the {len(SPECIALS)} special tokens and the {len(alphabet)} characters of the text"
        mend = "raise it, or leave out lines in other scripts"
        raise ValueError(
            f"learn_bpe: vocab_size must be at least {least}, {words}, got {vocab_size}: {mend}"
        )
    return Tokenizer(*merge_pairs(texts, vocab_size, min_count))


def learn_words(lines: Iterable[str], *, min_count: int = 1) -> Tokenizer:
    """Take every word between spaces as a token, the most frequent first.

    Meant for small languages, where attention is drawn word by word; "mat." is not "mat" here.

    Args:
        lines: the training text.
        min_count: words that stand there less often are unknown.
    Raises:
        ValueError: the lines hold no text.
    """
    check_count("learn_words", min_count=min_count)
    counts = Counter(word for text in cleaned("learn_words", lines) for word in text.split())
    words = (word for word in counts if counts[word] >= min_count and word not in SPECIALS)
    return Tokenizer([*SPECIALS, *sorted(words, key=lambda word: (-counts[word], word))])


def learn_characters(lines: Iterable[str]) -> Tokenizer:
    """Take every character of the text as a token, spaces and line feeds among them, in order.

    For a model that reads and writes letter by letter: small to read, slow to train, and what comes
    back from `decode` has every space that was there.

    Args:
        lines: the training text; one long text can stand in a list alone.
    Raises:
        ValueError: the lines hold no text.
    """
    texts = cleaned("learn_characters", lines, clean_characters)
    return Tokenizer([*SPECIALS, *sorted(set().union(*texts))], characters=True)
