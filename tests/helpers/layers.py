"""What the tests of layers share: twins in both rooms, gradients of all kinds, compared."""

import numpy as np
import torch

from tests.helpers.rooms import close
from tests.helpers.tolerances import STEP, TOLERANCE


def copy_parameters(layer, module):
    """Give a torch module the parameters of a NumPy layer: a matrix of nn.Linear is transposed."""
    owners = dict(module.named_modules())
    own = dict(module.named_parameters())
    state = dict(layer.named_parameters())
    assert set(own) == set(state)
    with torch.no_grad():
        for name, parameter in own.items():
            owner = owners[name.rpartition(".")[0]]
            turned = isinstance(owner, torch.nn.Linear) and parameter.ndim == 2
            value = state[name].T if turned else state[name]
            assert tuple(parameter.shape) == value.shape
            parameter.copy_(torch.tensor(np.ascontiguousarray(value)))


def gradients(module):
    """The gradients of a module's parameters by name, in the NumPy room's layout."""
    owners = dict(module.named_modules())
    found = {}
    for name, parameter in module.named_parameters():
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        owner = owners[name.rpartition(".")[0]]
        turned = isinstance(owner, torch.nn.Linear) and parameter.ndim == 2
        found[name] = (gradient.T if turned else gradient).numpy()
    return found


def numeric(loss, x):
    """The gradient of loss() with respect to x, entry by entry, by central differences."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        kept = x[i]
        x[i] = kept + STEP
        above = loss()
        x[i] = kept - STEP
        gradient[i] = (above - loss()) / (2 * STEP)
        x[i] = kept
    return gradient


def same_gradients(layer, module):
    """Every parameter's gradient in the layer is that of autograd."""
    ours, theirs = dict(layer.named_gradients()), gradients(module)
    assert set(ours) == set(theirs)
    for name, gradient in ours.items():
        close(gradient, theirs[name])


def matches_differences(analytic, loss, x):
    """An analytic gradient agrees with the differences of a loss."""
    tolerance = TOLERANCE["finite differences"]
    np.testing.assert_allclose(analytic, numeric(loss, x), rtol=tolerance, atol=tolerance)
