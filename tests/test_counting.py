"""Counted numbers: the tally is what a pencil would count, and the values are NumPy's."""

import numpy as np

from qkv.counting import CountedNumber, Tally, count_operations, count_products


def test_a_matrix_product_is_counted_entry_by_entry():
    tally = count_operations(np.matmul, np.ones((2, 3)), np.ones((3, 5)))
    assert tally == Tally(multiplications=30, additions=20, longest_chain=1)


def test_softmax_is_counted():
    def softmax(scores):
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    tally = count_operations(softmax, np.ones((2, 3)))
    assert tally == Tally(additions=6 + 4, divisions=6, functions=6)


def test_the_chain_is_that_of_results_that_wait_for_each_other():
    def powers(x):
        state = x
        for _ in range(4):
            state = np.tanh(state * x)
        return state

    assert count_operations(powers, [2.0, 3.0]).longest_chain == 4
    assert count_operations(lambda a, b: a * b + b * a, [2.0], [3.0]).longest_chain == 1


def test_values_are_those_of_plain_numbers():
    seen = []
    count_operations(lambda a: seen.append(((2 * a - 1) / (a + 3)).tolist()), [1.0, 5.0])
    assert [float(number) for number in seen[0]] == [1 / 4, 9 / 8]
    assert repr(seen[0][0]) == "0.25"


def test_numbers_are_compared_by_value():
    tally = Tally()
    assert CountedNumber(1, tally) < CountedNumber(2, tally)
    assert CountedNumber(3, tally) >= 2
    assert tally == Tally()


def test_products_of_plain_arrays_are_counted_through_other_operations():
    w = np.ones((3, 4), np.float32)

    def layer(x):
        hidden = np.maximum(x @ w, 0)
        hidden += 1
        return hidden.sum() + hidden @ w.T

    x = np.ones((2, 5, 3), np.float32)
    assert count_products(layer, x) == 2 * 2 * 10 * 3 * 4
    assert count_products(np.exp, x) == 0
