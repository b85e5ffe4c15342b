"""DivergenceCheck names the first step that was not finite; Scores know which model is better."""

import math

import pytest
import torch

from qkv.trainer import History, Scores, StepResult, divergence
from qkv.trainer.divergence import DivergenceCheck


def result(step, loss, norm):
    loss, norm = (torch.tensor(x) if isinstance(x, float) else x for x in (loss, norm))
    return StepResult(step, 0, step - 1, 0.5, 9, 4, loss, norm)


def test_on_a_processor_each_step_is_looked_at():
    history = History()
    check = DivergenceCheck(torch.device("cpu"), history)
    check.add(result(1, 3.0, 1.0))
    assert (history.steps, history.losses, history.grad_norms) == ([1], [0.75], [1.0])
    assert history.learning_rates == [0.5]
    with pytest.raises(ValueError, match="the loss became NaN at step 2: begin another run"):
        check.add(result(2, math.nan, math.nan))
    with pytest.raises(ValueError, match="the gradient became infinite at step 1,234"):
        check.add(result(1234, 3.0, math.inf))
    assert history.steps == [1]


def test_an_accelerator_is_not_asked_at_each_step():
    """No number is read before the last of fifty, and then the first that is bad is named."""
    history = History()
    check = DivergenceCheck(torch.device("cuda"), history)
    unread = torch.empty((), device="meta")  # raises when it is read
    for step in range(1, divergence.TOGETHER):
        check.add(result(step, unread, unread))
    check.waiting = [result(waiting.step, 1.0, 1.0 if waiting.step < 7 else math.nan)
                     for waiting in check.waiting]  # fmt: skip
    with pytest.raises(ValueError, match="the gradient became NaN at step 7:"):
        check.add(result(divergence.TOGETHER, 1.0, 1.0))
    assert history.steps == [1, 2, 3, 4, 5, 6]
    check.add(result(51, math.inf, math.inf))
    with pytest.raises(ValueError, match="the loss became infinite at step 51:"):
        check.read()  # before a validation
    check.read()


def scores(bleu, loss):
    return Scores(loss=loss, bleu=bleu, exact=0.0)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (scores(20.0, 3.0), scores(19.0, 2.0)),  # BLEU is what a translation is measured by
        (scores(20.0, 2.0), scores(20.0, 3.0)),
        (scores(0.2, 2.0), scores(0.4, 3.0)),  # there, BLEU is chance
        (scores(1.0, 3.0), scores(0.99, 2.0)),
        (scores(0.0, 2.0), scores(0.0, 3.0)),
    ],
)
def test_the_best_is_that_of_the_highest_bleu_once_it_says_something(good, bad):
    assert good.better_than(bad)
    assert not bad.better_than(good)
    assert not good.better_than(good)
