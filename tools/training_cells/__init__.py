"""The cells of the chapters that train something themselves: which they are."""

from tools.training_cells.find import chapters_that_train, training_cells

__all__ = ["chapters_that_train", "training_cells"]
