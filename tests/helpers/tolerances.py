"""How close is close: the one table that all tests read (largest absolute difference)."""

TOLERANCE = {
    "float64": 1e-10,
    "float32": 1e-5,
    "float16": 2e-3,  # 11 significant bits: two roundings of a number near 1
    "bfloat16": 2e-2,
    "finite differences": 1e-5,  # central, h = 1e-6, float64
}
STEP = 1e-6
