"""The exercises of the first chapter: matrix product, softmax, gradient, a row of weights."""

from __future__ import annotations

from qkv.exercises.checks import (
    as_array,
    as_letters,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)


@exercise("start-1")
def matrix_product(answer: object) -> str:
    """((½, ¼, ¼), (0, 1, 0)) times ((4, 0), (0, 8), (8, 4))."""
    product = as_array(answer)
    reject_each(
        product,
        (
            [4, 3],
            "This is the first row. The product has two.",
            "How many rows has the left matrix?",
        ),
        (
            [[4, 0], [3, 8]],
            "Rows and columns are exchanged.",
            "Row i of the left matrix gives row i of the product.",
        ),
        (
            [[4, 4], [4, 4]],
            "Every row of the right matrix counts the same here.",
            "Multiply each of them by its number in the row of the left matrix, then add.",
        ),
        (
            [[12, 12], [0, 8]],
            "The first row only adds up the right matrix.",
            "Its numbers are taken by halves and quarters.",
        ),
    )
    reject(
        product.shape != (2, 2),
        f"The shape is {product.shape}.",
        "2 × 3 times 3 × 2 has the rows of the first and the columns of the second.",
    )
    reject(
        not is_close(product, [[4, 3], [0, 8]]),
        "Not these four numbers.",
        "Entry (i, j) is row i of the left matrix times column j of the right one, added up.",
    )
    return "right: each row is a mix of the three rows, and the second takes one of them whole."


@exercise("start-2")
def softmax_by_hand(answer: object) -> str:
    """Softmax of (ln 2, 0, 0)."""
    weights = as_array(answer, shape=(3,))
    reject_each(
        weights,
        (
            [2, 1, 1],
            "These are the exponentials. They sum to 4.",
            "Softmax has one step more: its numbers sum to 1.",
        ),
        (
            [1, 0, 0],
            "You divided the scores by their sum.",
            "First take e to the power of each. What is e to the power of 0?",
        ),
        (
            [1 / 3, 1 / 3, 1 / 3],
            "These are equal, and the scores are not.",
            "The larger score gets the larger share.",
        ),
        (
            [0.2, 0.4, 0.4],
            "The larger score has the smaller share here.",
            "Take e to the power of the score, not of its negative.",
        ),
    )
    reject(
        not is_close(weights.sum(), 1, 0.01),
        "These do not sum to 1.",
        "Divide each exponential by the sum of all three.",
    )
    reject(
        not is_close(weights, [0.5, 0.25, 0.25], 0.001),
        "Not these three numbers.",
        "e to the power of ln 2 is 2.",
    )
    return "right: the shares are 2 : 1 : 1."


@exercise("start-3")
def gradient(answer: object) -> str:
    """The gradient of x² + 3xy at (1, 2)."""
    slopes = as_array(answer)
    slopes = slopes.reshape(2) if slopes.size == 2 else slopes
    reject_each(
        slopes,
        (7, "This is the function's value.", "How fast does it change, first with x, then with y?"),
        (8, "This is the slope along x alone.", "A gradient has one number for each variable."),
        ([2, 3], "The product 3xy has a slope along x too.", "Hold y at 2: then 3xy is 6x."),
        ([2, 6], "Each slope has one term here.", "Along x, both x² and 3xy change."),
        ([3, 8], "The two are exchanged.", "First the slope along x, then the one along y."),
        ([-8, -3], "This is the way down.", "The gradient points to where the function grows."),
    )
    reject(
        slopes.shape != (2,),
        f"The shape is {slopes.shape}.",
        "Two numbers: the slope along x, the slope along y.",
    )
    reject(
        not is_close(slopes, [8, 3]),
        "Not these two numbers.",
        "Change x by 0.01, hold y, and divide the change of the function by 0.01.",
    )
    return "right: a small step against it, smaller x and smaller y, makes the function smaller."


@exercise("start-4")
def row_of_weights(answer: object) -> str:
    """The weight that 0.12 and 0.36 leave, and what the row shows alone: 0.52, A and D."""
    number, chosen = answer if isinstance(answer, tuple | list) and len(answer) == 2 else ("", "")
    reject(
        isinstance(number, str),
        "A number and letters are asked for.",
        'Write both, such as (0.5, "AB").',
    )
    share, letters = as_number(number), as_letters(chosen, "ABCD")
    reject(is_close(share, 0.48, 0.001), "This is what the others have.", "What is left of 1?")
    reject(is_close(share, 0.64, 0.001), "*The* has a weight too.", "Add all the others first.")
    reject(not is_close(share, 0.52, 0.001), "Not this weight.", "The weights of a row sum to 1.")
    reject_choice(
        letters,
        "AD",
        "Which claims only repeat what the row says?",
        (
            "ABCD",
            "You took where the model looks for what the output needs.",
            "Was a look blocked, or a word changed, to see what comes of it?",
        ),
    )
    return "right: a row says where the model looked. B and C need an experiment."
