"""`make assignments`: the chapters' exercises as assignments for nbgrader."""
