"""Example sentences: what the explorers of the trained translator let the reader choose from."""

from qkv.pretrained.load import EXAMPLE

__all__ = ["EXAMPLES"]

# Of the grammar, and translated right. The first three stand in the training text too; the nine
# others were held back from it, each with a combination of words that training never showed.
EXAMPLES = (
    EXAMPLE,
    "The dog did not cross the street because it was tired",
    "The dog did not cross the street because it was wide",
    "The rabbit ate the carrot because it was hungry",
    "The rabbit ate the carrot because it was delicious",
    "I was tired",
    "We bought the hat in the market",
    "She will go to the house",
    "The garden was not pretty",
    "The thirsty teacher closed the box",
    "They do not wait in the quiet library",
    "The clever dog will not come to the garden",
)
