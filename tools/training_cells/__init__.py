"""The cells of the chapters that train something themselves: which they are, and what holds there.

`python -m tools.training_cells` runs them with other seeds and with starts a little changed.
"""

from tools.training_cells.find import chapters_that_train, training_cells

__all__ = ["chapters_that_train", "training_cells"]
