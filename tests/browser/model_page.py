"""A page that holds the translator in JavaScript, and what the NumPy room says to the same."""

from __future__ import annotations

import importlib
import json
import math
import shutil
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from playwright.sync_api import Page

import qkv.numpy as qn
from qkv.javascript.scripts import parameters_script
from qkv.live.content_security_policy import build_policy
from qkv.text import EOS, PAD, SOS
from qkv.translator import Translator
from qkv.translator.ablation import without_positions, zero_ablation
from tests.browser.web_server import QuietHandler

# By its name, for `qkv.numpy.decoding.beam_search` is the function.
beam_module: Any = importlib.import_module("qkv.numpy.decoding.beam_search")
sys.path.append(str(Path(__file__).parents[2] / "book" / "extensions"))
model_in_page = importlib.import_module("model_in_page")

ASK = Path(__file__).with_suffix(".js").read_text("utf-8").rstrip().removesuffix(";")
IN_PYTHON = {
    "beamSize": "beam_size",
    "lengthPenalty": "length_penalty",
    "lengthFormula": "length_formula",
    "earlyStopping": "early_stopping",
    "topK": "top_k",
    "topP": "top_p",
}
HTML = """<!doctype html><meta charset="utf-8"><title>model</title><link rel="icon" href="data:,">
<script src="site.js" defer></script><script src="model/load_model.js" defer></script>"""
SITE = Path(__file__).parents[2] / "book" / "assets" / "site.js"  # whose gettext the loader calls


class PolicyHandler(QuietHandler):
    """Serves files under the policy that `qkv serve` sends with a page."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", build_policy())
        super().end_headers()


def write_page(folder: Path) -> Path:
    """A page with the loader, and the scripts beside it as the build writes them."""
    (folder / "model").mkdir()
    shutil.copy(SITE, folder)
    for name, text in model_in_page.model_scripts().items():
        (folder / "model" / name).write_text(text, "utf-8")
    page = folder / "page.html"
    page.write_text(HTML, "utf-8")
    return page


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on a server of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(PolicyHandler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def content_of(translator: Translator) -> dict[str, Any]:
    """What the script of its parameters holds."""
    script = parameters_script(translator)
    content: dict[str, Any] = json.loads(script.partition("=")[2].rstrip(";\n"))
    return content


def ask(
    page: Page, asked: list[dict[str, Any]], content: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """What the page answers, with the (n,) numbers of each sentence under "numbers".

    Args:
        content: of another translator than the one that comes with the book.
    """
    opened = "(await qkvModel.loadEngine()).openPretrained(content)"
    opened = "await qkvModel.load()" if content is None else opened
    return ask_opened(page, opened, asked, content)


def ask_opened(
    page: Page, opened: str, asked: list[dict[str, Any]], content: Any
) -> list[dict[str, Any]]:
    """What the page answers by the translator that `opened`, in JavaScript, makes of `content`."""
    script = f"async ([asked, content]) => ({ASK}\n)({opened}, asked)"
    result = page.evaluate(script, [asked, content])
    numbers = np.frombuffer(b64decode(result["numbers"]), np.float32)
    ends = np.cumsum([answer["count"] for answer in result["answers"]])
    assert ends[-1] == len(numbers)
    for answer, part in zip(result["answers"], np.split(numbers, ends[:-1]), strict=True):
        answer["numbers"] = part
    return list(result["answers"])


class NumPyRoom:
    """One translator of the NumPy room, asked one sentence at a time, as the page is."""

    def __init__(self, translator: Translator) -> None:
        self.translator, self.model = translator, translator.model

    @contextmanager
    def changed(self, options: dict[str, Any]) -> Iterator[None]:
        """While it is open, heads and positions are off as the page's options say."""
        parts = dict(self.model.named_modules())
        with ExitStack() as stack:
            for name, heads in options.get("switchedOff", {}).items():
                for head in heads:
                    stack.enter_context(zero_ablation(parts[name], head))
            on = options.get("positions", {})
            off = [part for part in ("encoder", "decoder") if not on.get(part, True)]
            if off:
                stack.enter_context(without_positions(self.model, off))
            yield

    def _search(self, search: Any, ids: list[int], **options: Any) -> Any:
        state = self.model.start_decoding(np.array([ids]))
        limits = {"eos_id": EOS, "pad_id": PAD, "max_new_tokens": self.translator.max_len}
        tokens, scores = search(state, np.array([[SOS]]), **limits, **options)
        return tokens[..., 1:].tolist()[0], scores.tolist()[0]

    def greedy(self, ids: list[int]) -> tuple[list[int], float]:
        tokens, total = self._search(qn.greedy, ids)
        return tokens, total

    def sample(self, ids: list[int], sampling: dict[str, Any]) -> list[int]:
        options = {IN_PYTHON.get(name, name): value for name, value in sampling.items()}
        options["uniforms"] = np.array([options["uniforms"]])
        tokens, _ = self._search(qn.sample, ids, **options)
        return up_to_eos(tokens)

    def beam(
        self, ids: list[int], search: dict[str, Any]
    ) -> tuple[list[tuple[list[int], float]], list[Any]]:
        """All hypotheses, and what was looked at in each step: (sums, places, beams)."""
        options = {IN_PYTHON[name]: value for name, value in search.items()}
        options["n_best"] = search["beamSize"]
        looked_at: list[Any] = []

        class Recorder(beam_module.BeamScorer):
            def process(self, sums: Any, places: Any, K: int, V: int) -> Any:
                beams = super().process(sums, places, K, V)
                looked_at.append((sums[0], places[0], beams))
                return beams

        original, beam_module.BeamScorer = beam_module.BeamScorer, Recorder
        try:
            tokens, scores = self._search(qn.beam_search, ids, **options)
        finally:
            beam_module.BeamScorer = original
        pairs = zip(tokens, scores, strict=True)
        return [(up_to_eos(row), score) for row, score in pairs if score > -math.inf], looked_at

    def numbers(self, ids: list[int], tokens: list[int]) -> Any:
        """Log-probabilities and decoder maps step by step; logits and all maps at once; flat."""
        maps: dict[str, Any] = {}
        decoder_input = np.array([[SOS, *tokens[:-1]]])
        logits = self.model(np.array([ids]), decoder_input, attention_maps=maps)[0]  # (T, V)
        names = sorted(maps)
        parts = []
        for t, log_probs in enumerate(qn.log_softmax(logits)):
            parts.append(log_probs)
            for name in names:
                if name.startswith("decoder"):
                    length = t + 1 if name.endswith("self_attention") else len(ids)
                    parts += [head[t, :length] for head in maps[name][0]]
        parts.append(logits)
        for side in ("encoder", "decoder"):
            parts += [head for name in names if name.startswith(side) for head in maps[name][0]]
        return np.concatenate([np.ravel(part) for part in parts])


def up_to_eos(row: list[int]) -> list[int]:
    return row[: row.index(EOS) + 1] if EOS in row else row
