"""The exercises of the chapter on training: the check of each answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    WrongAnswer,
    as_array,
    as_function,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import OneEach
from qkv.language import gettext
from qkv.numpy import cross_entropy, cross_entropy_backward

Array: TypeAlias = np.ndarray[Any, Any]
PAD = 0


def _read(result: Any, shape: tuple[int, ...]) -> tuple[float, Array]:
    reject(
        not isinstance(result, tuple | list) or len(result) != 2,
        "Two results were asked for.",
        "End with: return loss, gradient.",
    )
    loss, gradient = (_plain(value) for value in result)
    reject(loss.size != 1, "The loss is not one number.", "Average over all words of the batch.")
    reject(
        gradient.shape != shape,
        gettext("The gradient has the shape {shape}; the logits have {expected}.").format(
            shape=gradient.shape, expected=shape
        ),
        "One number for each logit, those of <PAD> included.",
    )
    return float(loss.reshape(())), gradient


def _plain(value: Any) -> Array:
    """Numbers as an array, those of a tensor with a graph too."""
    return np.asarray(value.detach() if hasattr(value, "detach") else value, dtype=float)


def _name_loss(got: float, logits: Array, targets: Array, pad_id: int) -> None:
    words = targets != pad_id
    safe = np.where(targets < 0, 0, targets)
    losses = np.asarray(cross_entropy(logits, safe, reduction="none"))  # (B, T)
    right = losses[words].mean()
    if is_close(got, right):
        return
    reject(is_close(got, -right), "The loss has the wrong sign.", "It is −ln p, at least 0.")
    reject(is_close(got, losses.mean()), "<PAD> counts.", "Which positions are words?")
    reject(
        is_close(got, losses[words].sum() / targets.size),
        "The loss of padding is 0, but padding counts in the mean.",
        "Divide by the number of words.",
    )
    reject(
        is_close(got, losses[words].sum()),
        "This is a sum.",
        "Long batches would have larger losses. Take the mean over the words.",
    )
    per_sentence = [row[mask].mean() for row, mask in zip(losses, words, strict=True)]
    reject(
        is_close(got, np.mean(per_sentence)),
        "This is a mean of the sentences' means.",
        "A word of a short sentence must not count more than a word of a long one.",
    )
    raise WrongAnswer(
        "The loss is not that of the words.",
        "Try it on one sentence without padding: softmax, p of each right word, −ln p, mean.",
    )


def _name_gradient(got: Array, logits: Array, targets: Array, pad_id: int) -> None:
    right = cross_entropy_backward(1.0, logits, targets, ignore_index=pad_id)
    if is_close(got, right):
        return
    words = targets != pad_id
    reject(is_close(got, -right), "The gradient has the wrong sign.", "It is p − y, not y − p.")
    reject(
        is_close(got, right * words.sum()),
        "The gradient is that of the sum.",
        "The loss is a mean over the words, so divide the gradient as well.",
    )
    reject(
        bool(np.abs(got[~words]).max(initial=0) > 0),
        "A position of <PAD> has a gradient.",
        "It does not count in the loss. So what happens to the loss when its logits change?",
    )
    reject(
        is_close(got, right * words.sum() / targets.size),
        "The gradient is divided by all positions.",
        "Divide by what the loss was divided by.",
    )
    raise WrongAnswer(
        "The loss is right, the gradient is not.",
        "p − y at each word: subtract 1 from p at the right word, and nowhere else.",
    )


# What each panel of the figure shows, and the other diagnoses that are on offer.
PANELS = {"A": "healthy", "B": "few pairs", "C": "rate too low", "D": "leak"}
DIAGNOSES = (
    *("healthy", "rate too high", "rate too low"),
    *("few pairs", "leak", "loss on padding"),
)


@exercise("training-1")
def two_models(answer: object) -> str:
    """Mean loss and perplexity of p = 0.9, 0.9, 0.9, 0.01, and of 0.5 four times."""
    order = "Loss and perplexity of A, then loss and perplexity of B."
    if isinstance(answer, list | tuple) and all(isinstance(row, list | tuple) for row in answer):
        answer = [number for row in answer for number in row]  # a row for each model
    got = as_array(
        answer, (4,), "Four numbers. Loss and perplexity of A, then loss and perplexity of B."
    ).astype(float)
    a, b = np.array([0.9, 0.9, 0.9, 0.01]), np.full(4, 0.5)
    losses = np.array([-np.log(p).mean() for p in (a, b)])

    def four(of_each: Any) -> Array:
        """Loss, perplexity, loss, perplexity, of two losses."""
        return np.stack([of_each, np.exp(of_each)], axis=1).ravel()

    right = four(losses)
    reject_each(
        got,
        (four(losses[::-1]), "The two are exchanged.", "A is the model with the 0.01."),
        ([*losses, *np.exp(losses)], "These are two losses, then two perplexities.", order),
        (four(-losses), "The sign is wrong.", "The logarithm of a number below 1 is negative."),
        (four(4 * losses), "These are sums.", "The loss of a sentence is a mean over its tokens."),
        (
            four([-np.log(p.mean()) for p in (a, b)]),
            "The mean was taken before the logarithm.",
            "Each token has a loss of its own. Average the losses, not the probabilities.",
        ),
        (
            four(losses / np.log(10)),
            "This is the logarithm to base 10.",
            "The book uses the natural logarithm: −ln 0.5 = 0.693.",
        ),
        (four(losses / np.log(2)), "This is the logarithm to base 2.", "ln is the one to base e."),
        (
            four([1 - p.mean() for p in (a, b)]),
            "No logarithm was taken.",
            "What does a token with p = 0.01 cost?",
        ),
        tolerance=TWO_DECIMALS,
    )
    reject(
        not is_close(got[::2], losses, TWO_DECIMALS),
        "The losses are not these numbers.",
        "Four losses −ln p for each model, then their mean.",
    )
    reject(
        not is_close(got, right, 3 * TWO_DECIMALS),
        "The losses are right, the perplexities are not.",
        "Perplexity is e to the mean loss.",
    )
    return "right. A has the larger probability three times, and the larger loss."


@exercise("training-2")
def gradient_by_hand(answer: object) -> str:
    """Gradient of the mean loss of two words and a <PAD>, on the logits (3, 3)."""
    got = as_array(answer, shape=(3, 3)).astype(float)
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    y = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    counts = np.array([[1], [1], [0]])
    right = (p - y) * counts / 2
    reject_each(
        got,
        (-right, "The signs are reversed.", "This is a gradient, and the step goes against it."),
        ((p - y) / 3, "Row 2 predicts <PAD>.", "Does a row that is not counted have a gradient?"),
        (p - y, "Row 2 predicts <PAD>, and the loss is a mean.", "Which rows count, and how many?"),
        ((p - y) * counts, "The loss is a mean.", "By how many words is the sum divided?"),
        (
            (p - y) * counts / 3,
            "This is divided by 3.",
            "How many of the three rows count in the mean?",
        ),
        ((p - y) / 2, "Row 2 still has a gradient.", "Its answer is <PAD>."),
        (-y * counts / p / 2, "That is the gradient on p.", "On the logits it is p − y."),
        tolerance=1e-3,
    )
    reject(
        not is_close(got, right, 1e-3),
        "Some entries are off.",
        "Write p − y for each row that counts. Then divide by the number of these rows.",
    )
    return "right. Each row sums to 0: what one logit loses, the others gain."


@exercise(
    "training-3",
    OneEach("ABCD", DIAGNOSES, lambda chosen: dict(zip("ABCD", chosen, strict=True))),
)
def diagnose(answer: object) -> str:
    """One diagnosis for each of the panels A to D."""
    if isinstance(answer, list | tuple) and len(answer) == len(PANELS):
        answer = dict(zip(PANELS, answer, strict=True))
    reject(
        not isinstance(answer, Mapping) or {str(key).upper() for key in answer} != set(PANELS),
        "A diagnosis for each of A, B, C and D was asked for.",
        'Write a dictionary, such as {"A": "healthy", "B": …}.',
    )
    assert isinstance(answer, Mapping)  # for the type checker
    said = {str(key).upper(): str(value).strip().lower() for key, value in answer.items()}
    unknown = [name for name in said.values() if name not in DIAGNOSES]
    reject(
        unknown,
        gettext("{names} is none of the diagnoses.").format(names=repr(", ".join(unknown))),
        gettext("They are {names}.").format(names=", ".join(DIAGNOSES)),
    )
    reject_choice(
        said,
        PANELS,
        "Of each run: where do its curves begin and end, and what does it write?",
    )
    return "right. The curves of A and D both look healthy: what each writes tells them apart."


@exercise("training-4")
def loss_and_gradient(answer: object) -> str:
    """`f(logits, targets, pad_id)` gives the mean loss of the words, and its gradient (B, T, V)."""
    function = as_function(answer)
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(2, 3, 5))  # (B, T, V)
    full, padded = np.array([[1, 4, 2], [3, 1, 2]]), np.array([[1, 4, 2], [3, PAD, PAD]])
    other = np.array([[1, 0, 2], [3, 4, 4]])  # 4 is <PAD>, and 0 a word
    for targets, pad_id in ((full, PAD), (padded, PAD), (other, 4)):
        loss, gradient = _read(function(logits.copy(), targets.copy(), pad_id), logits.shape)
        _name_loss(loss, logits, targets, pad_id)
        _name_gradient(gradient, logits, targets, pad_id)
    far = logits * 1000
    with np.errstate(all="ignore"):
        loss, gradient = _read(function(far.copy(), padded.copy(), PAD), far.shape)
    expected = float(cross_entropy(far, padded, ignore_index=PAD))
    reject(
        not is_close(loss, expected) or not np.isfinite(gradient).all(),
        "With logits of 1000 the result is not finite, or wrong.",
        "e^1000 is too large for a float, and ln 0 is −∞. Subtract each row's largest logit first, "
        "and take the logarithm of the sum, not of p.",
    )
    slope = cross_entropy_backward(1.0, far, padded, ignore_index=PAD)
    reject(
        not is_close(gradient, slope),
        "With logits of 1000 the gradient is finite, and wrong.",
        "Does each of its rows still hold p − y? A nan that was replaced by 0 is no probability.",
    )
    ignored = np.where(padded == PAD, -100, padded)
    try:
        loss, gradient = _read(function(logits.copy(), ignored.copy(), -100), logits.shape)
    except WrongAnswer as wrong:
        reject(
            isinstance(wrong.__cause__, IndexError),
            "With pad_id = -100, PyTorch's own, an index is out of range.",
            "No logit has the index -100. Which id may stand where padding is?",
        )
        raise
    _name_loss(loss, logits, ignored, -100)
    _name_gradient(gradient, logits, ignored, -100)
    return "right: padding counts neither in the loss nor in the mean nor in the gradient."


@exercise("training-5")
def mended_loop(answer: object) -> str:
    """`f(model, optimizer, source, target, steps)` trains as it should: parameters are compared."""
    function = as_function(answer)
    target = np.array([[1, 5, 6, 2], [1, 7, 2, PAD]])
    got = _trained(function)
    read, predict = target[:, :-1], target[:, 1:]
    right = _trained(_loop(read, predict))
    half = right.size // 2
    reject(
        is_close(got[:half], right[:half], 1e-9) and not is_close(got, right, 1e-9),
        "After three steps all is right, after two it is not.",
        "How many steps were asked for?",
    )
    if is_close(got, right, 1e-9):
        return "right: one fault kept the loss still, the other let the decoder read its answers."
    reject_each(
        got,
        (
            _trained(_loop(read, predict, clear="before_the_step")),
            "No parameter has moved.",
            "Print the loss of two steps. What does step() read, and who has cleared it?",
        ),
        (
            _trained(_loop(predict, predict)),
            "The loss falls now, and the model writes nothing right.",
            "Print what the decoder reads, and what it has to predict.",
        ),
        (
            _trained(_loop(read, predict, clear="never")),
            "Each step adds its gradients to those of the steps before.",
            "Which call clears them, and where in the loop is it safe?",
        ),
        (
            _trained(_loop(read, predict, ignored=-100)),
            "<PAD> counts in the loss.",
            "It did not in the loop that was given.",
        ),
        (
            _trained(_loop(read, read)),
            "The model is trained to repeat the token that it reads.",
            "What it has to predict was right in the loop that was given.",
        ),
        tolerance=1e-9,
    )
    raise WrongAnswer(
        "After three steps, or after two, the parameters are not those of the right loop.",
        "Clear the old gradients, forward, loss, backward, step: once each, and nothing else.",
    )


def _trained(function: Any) -> Array:
    """All parameters of a small model after three plain steps of a reader's loop, and after two."""
    import torch  # costs seconds, and no other exercise of the chapter asks for it

    from qkv.config import TransformerConfig
    from qkv.torch import Transformer

    sizes: dict[str, Any] = {"d_model": 4, "n_heads": 2, "d_ff": 8, "n_layers": 1}
    config = TransformerConfig(8, 9, tie_word_embeddings="target", pad_id=PAD, dropout=0.0, **sizes)
    source = torch.tensor([[4, 5, 2], [6, 2, PAD]])
    target = torch.tensor([[1, 5, 6, 2], [1, 7, 2, PAD]])
    found = []
    for steps in (3, 2):
        model = Transformer(config, rng=torch.Generator().manual_seed(0)).double()
        function(model, torch.optim.SGD(model.parameters(), lr=0.1), source, target, steps)
        found += [value.detach().numpy().ravel() for value in model.parameters()]
    return np.concatenate(found)


def _loop(read: Array, predict: Array, ignored: int = PAD, clear: str = "before_backward") -> Any:
    """A training loop, the right one or with a fault."""
    import torch
    from torch.nn import functional as F

    def train(model: Any, optimizer: Any, source: Any, target: Any, steps: int) -> None:
        for _ in range(steps):
            logits = model(source, torch.tensor(read)).flatten(0, 1)
            loss = F.cross_entropy(logits, torch.tensor(predict).flatten(), ignore_index=ignored)
            if clear == "before_backward":
                optimizer.zero_grad()
            torch.autograd.backward(loss)
            if clear == "before_the_step":
                optimizer.zero_grad()
            optimizer.step()

    return train


@exercise("training-6")
def three_steps_of_adam(answer: object) -> str:
    """Adam's three steps for gradients 1, −7 and 1, β₁ = 0.9, η = 1: −1, +0.639 and +0.402."""
    got = as_array(answer, (3,), "One number for each of the three steps.").astype(float)
    m, v = np.array([0.1, -0.61, -0.449]), np.array([0.02, 0.9996, 0.999608])
    by_m, by_v = np.array([0.1, 0.19, 0.271]), np.array([0.02, 0.0396, 0.058808])
    right = -(m / by_m) / (v / by_v) ** 0.5
    uncorrected = -m / v**0.5
    kept = "m and v were not corrected."
    hint = "Divide m by 1 − 0.9ᵗ and v by 1 − 0.98ᵗ, where t is the step."
    later = (
        "In steps 2 and 3 as well: divide m by 1 − 0.9ᵗ and v by 1 − 0.98ᵗ, where t is the step."
    )
    reject_each(
        got,
        (-right, "The signs are reversed.", "A step goes against m̂."),
        ([-1, 7, -1], "These are plain steps.", "Adam divides m̂ by the root of v̂."),
        ([-1, 1, -1], "The later steps are not η.", "m̂ is an average of gradients, v̂ of squares."),
        (uncorrected, kept, hint),
        ([-1, *uncorrected[1:]], kept, later),
        (-m / (v / by_v) ** 0.5, "m is not yet m̂.", "Divide it by 1 − 0.9ᵗ, where t is the step."),
        (-(m / by_m) / v**0.5, "v is not yet v̂.", "Divide it by 1 − 0.98ᵗ, where t is the step."),
        (-(m / by_m), "These are the m̂, reversed.", "Divide each by the root of v̂."),
        (m / by_m, "These are the m̂.", "Divide each by the root of v̂, and go against it."),
        (-(m / by_m) / (v / by_v), "You divided by v̂.", "Adam divides by its root."),
        (right.cumsum(), "These are positions.", "By how much does each step change it?"),
        ([-1, right[1], -right[2]], "The last sign is wrong.", "What sign has m after step 3?"),
        ([-1, -right[1], -right[2]], "Two signs are wrong.", "What sign has m after step 2?"),
        tolerance=4e-3,
    )
    reject(
        not is_close(got, right, 6e-3),
        "Not these numbers.",
        "m₂ = 0.9 m₁ + 0.1 · (−7). In v the same gradient stands squared, and 0.98 and 0.02.",
    )
    return "right. The second gradient is seven times larger, and its step is smaller."


@exercise("training-7")
def half_the_peak(answer: object) -> str:
    """The two steps at which Noam's rate is half of its peak, warm-up 4000: 2000 and 16000."""
    got = as_array(answer, (2,), "One stands before the peak, and one after it.").astype(float)
    early, late = sorted(got)
    reject_each(
        late,
        (8000, "The later step is wrong.", "After the peak the rate falls with the root."),
        (6000, "The rate does not fall in a line.", "It falls as 1 / √step."),
        (5657, "At this step it is 0.84 of the peak.", "1 / √step has to become half as large."),
    )
    reject(
        is_close(early, 1000.0),
        "The earlier step is wrong.",
        "Before the peak the rate rises in a line, from 0.",
    )
    reject(
        not is_close(got[got.argsort()], [2000.0, 16000.0]),
        "Not these steps.",
        "Which of the two terms of the minimum holds before the peak, and which after it?",
    )
    return "right: a line up to the peak, then 1 / √step. Neither d_model nor the factor matters."
