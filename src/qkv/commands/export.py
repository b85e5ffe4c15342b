"""`qkv export`: a trained model in, a folder of ONNX files out."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from qkv.commands.messages import escaped, os_error_message
from qkv.commands.translate import load
from qkv.commands.translate_arguments import SHIPPED
from qkv.onnx import OnnxExport, export_onnx
from qkv.onnx.graph import import_onnx
from qkv.onnx.readme import axes

__all__ = ["main"]

INTERRUPTED = 130  # as a shell counts: 128 and the signal's number
INSTALL = "pip install 'qkv[onnx]'"
CALL = re.compile(r"^(export_onnx|decoder_step_model): ")  # no matter to who types
ROOMS = {"numpy": "NumPy", "torch": "torch"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Export; the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        import_onnx()  # before a model is loaded in vain
        translator = load(options.checkpoint, "numpy", None)
        show(export_onnx(translator, options.onnx, overwrite=options.overwrite))
    except KeyboardInterrupt:
        print("\nStopped: nothing is written.", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        report(os_error_message(error))
        return 1
    except (ValueError, ImportError) as error:
        report(CALL.sub("", str(error)).replace("overwrite=True", "--overwrite"))
        return 1
    except MemoryError:
        report("out of memory: the model, its two files and their check must fit together")
        return 1
    return 0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="qkv export",
        description="Export a model that qkv train has saved, to be run without qkv: its encoder, "
        "its decoder step with the cache, its vocabularies, and a README that says how.",
    )
    parser.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        help=f'its JSON file or folder; "{SHIPPED}" is the English-Korean model of the book',
    )
    parser.add_argument(
        "--onnx", type=Path, metavar="FOLDER", required=True, help="written whole, at the end"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier export")
    return parser


def show(export: OnnxExport) -> None:
    """What was written, in which versions, and what the check said."""
    folder = escaped(str(export.folder))
    print(", ".join(f"{name} {version}" for name, version in export.versions.items()))
    for file, model in export.models.items():
        print(f"{folder}/{file} ({model.ByteSize() / 1e6:.2f} MB)")
        for way, values in (("in ", model.graph.input), ("out", model.graph.output)):
            for value in values:
                print(f"  {way} {value.name} {axes(value)}")
    print(checked(export.differences))
    print(f"{folder}/README.md shows how to run them.")


def checked(differences: dict[str, float] | None) -> str:
    """What the comparison with the rooms found, or why there was none."""
    if differences is None:
        return f"Not checked: there is no onnxruntime here. {INSTALL} brings it; then export again."
    found = " and ".join(
        f"{value:.1e} from the {ROOMS[n]} room" for n, value in differences.items()
    )
    missing = "" if "torch" in differences else "; there is no torch here to compare with"
    return f"Checked: logits by onnxruntime differ by at most {found}, of the largest{missing}."


def report(message: str) -> None:
    print(f"qkv export: {escaped(message)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
