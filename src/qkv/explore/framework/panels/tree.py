"""A rooted tree, laid out from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qkv.explore.framework.panels.validation import (
    Floats,
    Spec,
    split_values,
    validate_choice,
)

STATES = ("kept", "pruned", "finished")


@dataclass(frozen=True)
class Node:
    """One node of a Tree.

    Args:
        label: what stands in it, such as a token.
        parent: place of its parent in the list of nodes; -1 for the root, which comes first.
        value: a number or a text under the label.
        state: "kept", "pruned" or "finished": told by mark, line and colour; None for neither.
    """

    label: object
    parent: int = -1
    value: float | str | None = None
    state: str | None = None


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree from left to right; the readout gives the path from the root.

    Args:
        nodes: each after its parent, the root first.
    Raises:
        ValueError: there is no node, a parent does not stand before its child, there is a second
            root, or a state or value is not one of those allowed.
    """

    nodes: Sequence[Node]

    def __post_init__(self) -> None:
        nodes = tuple(self.nodes)
        if not nodes or not all(isinstance(node, Node) for node in nodes):
            raise ValueError(
                f"Tree: nodes must hold one Node or more, got {self.nodes!r}: "
                'pass [Node("root"), Node("child", parent=0)]'
            )
        for i, node in enumerate(nodes):
            if node.parent not in (range(i) if i else [-1]):
                raise ValueError(
                    f"Tree: nodes[{i}].parent must be {f'0 to {i - 1}' if i else '-1'}, got "
                    f"{node.parent}: put the one root first and each node after its parent"
                )
            validate_choice("Tree", f"nodes[{i}].state", node.state, (None, *STATES))
        object.__setattr__(self, "nodes", nodes)
        split_values("Tree", {f"nodes[{i}]": node.value for i, node in enumerate(nodes)})

    def spec(self) -> Spec:
        _, texts = split_values("Tree", {str(i): node.value for i, node in enumerate(self.nodes)})
        return {
            "labels": tuple(str(node.label) for node in self.nodes),
            "parents": tuple(int(node.parent) for node in self.nodes),
            "states": tuple(node.state for node in self.nodes),
            "texts": texts,
        }

    def arrays(self) -> list[Floats]:
        numbers, _ = split_values("Tree", {str(i): n.value for i, n in enumerate(self.nodes)})
        return [numbers]
