"""The words that options may be."""

PLACEMENTS = ("post", "pre")
NORMS = ("layer", "rms")
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "swiglu")
APPROXIMATIONS = ("none", "tanh")
APPROXIMATE = {"gelu": "none", "gelu_tanh": "tanh"}  # what `gelu` takes for each activation
LAYOUTS = ("interleaved", "halves")
LENGTH_FORMULAS = ("power", "gnmt")
REDUCTIONS = ("mean", "sum", "none")
MODELS = ("encoder-decoder", "decoder-only")
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "none")
TIES = ("none", "target", "all")
