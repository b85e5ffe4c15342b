"""Choices of each option, as words; each room's tables say what is computed for them."""

NORMS = ("layer", "rms")
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "swiglu")
GATED = ("swiglu",)  # of these activations: a third matrix of the feed-forward part is a gate
GELUS = ("gelu", "gelu_tanh")  # of these: what the head of a masked language model has
APPROXIMATIONS = ("none", "tanh")
LAYOUTS = ("interleaved", "halves")
LENGTH_FORMULAS = ("power", "gnmt")
OPTIMIZERS = ("adam", "adamw")
REDUCTIONS = ("mean", "sum", "none")
MODELS = ("encoder-decoder", "decoder-only")
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "none")
PAGE_POSITIONS = ("sinusoidal", "learned", "rotary", "none")  # of these: what JavaScript computes
TIES = ("none", "target", "all")
SCHEDULES = ("linear", "noam")
