"""The playground: any sentence, translated by the trained model in the page, with no server.

`playground(…)` makes the box. What computes an answer stands in `static/` beside what draws it; the
model is `qkv.javascript`, the drawing of panels is `explore/framework/static`.
"""

from qkv.explore.playground.widget import playground

__all__ = ["playground"]
