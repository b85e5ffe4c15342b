"""Hints at the end of error messages: how to make the arguments fit.

A key is a name, or "name.symbol" for one axis of an array that did not fit; "call: " before it
holds for that call alone. "r+" is an axis r of which there must be at least one.
"""

from collections.abc import Mapping

ATTENTION_MASK = "a padding mask is (B, 1, 1, S), a causal one (1, 1, T, S)"
SHARED_AXES = "q, k and v share all axes but the last two"
LAYER_BEFORE = "check the width of the layer before"
SAME_CALL = "pass the forward's own"
ONE_SENTENCE = "one sentence is a batch of one, {}[None, :]"
EMBEDDING_SCALE = "write math.sqrt(d_model), or 1.0 for the vectors as they are"
LAYERS_OF_SENTENCES = ("MultiHeadAttention", "EncoderLayer", "DecoderLayer", "Encoder", "Decoder")
NEW_TOKENS = "pass the heads of the new tokens alone"
NO_TOKENS = "at least one sentence of at least one token"

ARRAY_HINTS = {
    # dtypes
    "float": "convert it first",
    "int": "pass token ids",
    "bool": "True = may attend, so write mask == 1 where 1 means keep",
    # torch's habit: 0 and −∞ to be added to the scores, where 0 is what may attend
    "bool float": "True = may attend: pass 0 and -inf as bias=, or as mask == 0, "
    "and 0 and 1 as mask == 1",
    "keep_mask.bool": "True = keep",
    "positions.int": "count them 0, 1, 2 and so on",
    "step's result.float": "log-probabilities of the next token",
    # attention
    "q": "one query is a sequence of one, q[None, :]",
    "q.d_k+": "check W_q's output width",
    "q.d_q+": "check W_q's output width",
    "k": SHARED_AXES,
    "k.d_k": "check W_k's output width",
    "v": SHARED_AXES,
    "v.S": "each key has one value",
    **dict.fromkeys(("mask", "target_mask", "memory_mask"), ATTENTION_MASK),
    "bias": ATTENTION_MASK,
    **{
        f"{n}.axes": f"drop the leading axes of {n}" for n in ("mask", "target_mask", "memory_mask")
    },
    "bias.axes": "drop the leading axes of bias",
    "w_q": "its rows are the width of q",
    "w_k": "w_q and w_k share their output width",
    "w_s": "w_s is one vector as wide as w_q's output",
    "e": "its rows are the S positions of k",
    "e.r+": "project to one",
    "f": "e and f make r rows of S positions",
    "linformer_attention: mask.1": "each of the r keys mixes all positions, so Linformer cannot be "
    "causal",
    "performer_attention: mask.1": "no query meets a key by itself, so hide keys from all, and "
    "write causal=True",
    "features": "draw them with orthogonal_random_features(d_k, n_features)",
    "positions": "each vector has one position",
    "rotary: x": "one vector is a sequence of one, x[None, :]",
    # gradients, and what the forward has kept
    "dout": "dout has the output's shape",
    "softmax: dout": "pass what softmax returned",
    "log_softmax: dout": "pass what log_softmax returned",
    "weights": SAME_CALL,
    "out": SAME_CALL,
    "peak": SAME_CALL,
    "total": SAME_CALL,
    # layers
    "x.d_in": LAYER_BEFORE,
    "x.d_model": LAYER_BEFORE,
    "linear: x": "one number is a vector of one, x[None]",
    "linear: weight": "its rows are the width of x; nn.Linear holds the transpose",
    "linear: bias": "one number for each column of the weight",
    "layer_norm: weight": "weight has one number for each entry of a vector",
    "layer_norm: bias": "bias has one number for each entry of a vector",
    "rms_norm: weight": "weight has one number for each entry of a vector",
    "layer_norm: x": "there is nothing to normalise",
    "rms_norm: x": "there is nothing to normalise",
    "sublayer(x)": "x is added to it, entry by entry",
    "sublayer_backward(dout)": "x is added to it, entry by entry",
    "keep_mask": "draw one for each number of x",
    "table": "each token has one vector",
    "LearnedPositions: x": "one vector is a sequence of one, x[None, :]",
    # heads and caches
    "split_heads: x": "the heads stand side by side in the last axis",
    "merge_heads: x": "pass what split_heads returned",
    **{f"{layer}: x": "one sentence is x[None]" for layer in LAYERS_OF_SENTENCES},
    "memory": "memory is one for each sentence of x",
    "memory.d_model": LAYER_BEFORE,
    "memory.kdim": LAYER_BEFORE,
    "value": "one value for each token of the memory",
    "value.d_model": LAYER_BEFORE,
    "value.vdim": LAYER_BEFORE,
    "cache.keys.B": "begin a new cache with each batch, and reorder it when sentences go",
    "cache.keys.S": "begin a new cache with each memory",
    "cache.keys": "each attention has a cache of its own",
    "cache.values": "each attention has a cache of its own",
    **{f"KeyValueCache.append: {name}": NEW_TOKENS for name in ("k", "v", "k.d_k")},
    **{f"KeyValueCache.set_static: {name}": NEW_TOKENS for name in ("k", "v")},
    # texts and decoding
    **{name: ONE_SENTENCE.format(name) for name in ("ids", "source", "target")},
    **{f"{name}.{n}+": NO_TOKENS for name in ("ids", "source", "target") for n in "BST"},
    "prefixes": "a batch of at least one sentence, each with its start token",
    "target.B": "one for each source",
    "ids.B": "one for each source, or for each row after reorder",
    "prefixes.B": "one for each source, or for each row after reorder",
    "source_mask": "it says which tokens of the source are seen, by whomever",
    "step's result": "one row for each prefix, for its next token alone",
    "scores": "one score for each token",
    "uniforms": "a row for each sentence, a number for each token it may get",
    # training
    "logits": "one score for each word of the vocabulary",
    "targets": "one target for each row of logits",
    "cross_entropy: weight": "one weight for each word of the vocabulary",
}

NUMBER_HINTS = {
    "length_penalty": "0 takes sums as they are, 1 takes means",
    "base": "10000 is usual",
    "betas[0]": "0 forgets at once",
    "betas[1]": "0 forgets at once",
    "dropout": "0 leaves nothing out",
    "p": "0 leaves nothing out",
    "eps": "1e-5 is usual",
    "norm_eps": "1e-5 is usual",
    "Adam: eps": "1e-8 is usual",
    "AdamW: eps": "1e-8 is usual",
    "label_smoothing": "0 smooths nothing, 1 leaves nothing of the target",
    "scale": "None is 1/√d_k",
    "performer_attention: scale": "its root scales queries and keys",
    "embedding: scale": EMBEDDING_SCALE,
    "Embedding: scale": EMBEDDING_SCALE,
    "temperature": "greedy is what it tends to near 0",
    "top_p": "1 keeps all",
}


def first_hint(hints: Mapping[str, str], *keys: str) -> str:
    """The hint of the first key that has one; "" if none has."""
    return next((hints[key] for key in keys if key in hints), "")
