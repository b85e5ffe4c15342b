"""Small trained models that experiments store beside their results, for chapters to take apart."""
