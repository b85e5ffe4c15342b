"""How a chapter is stored: one form for all its runs, and outputs that rounding does not change."""
