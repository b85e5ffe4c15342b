"""Models and methods that experiments train and compare, for chapters to take apart."""
