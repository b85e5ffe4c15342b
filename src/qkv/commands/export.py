"""`qkv export`: a trained model in; a folder of ONNX files out, or one file for the page."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from qkv.commands.argument_types import ArgumentParser
from qkv.commands.messages import escaped, os_error_message
from qkv.commands.output_files import check_output_files
from qkv.commands.translate import load, own_path
from qkv.commands.translate_arguments import SHIPPED
from qkv.files import atomic_write
from qkv.javascript.model_file import DTYPES, model_file
from qkv.onnx import OnnxExport, export_onnx
from qkv.onnx.readme import axes
from qkv.onnx.versions import import_exporter

__all__ = ["main"]

INTERRUPTED = 130  # as a shell counts: 128 and the signal's number
INSTALL = "pip install 'qkv[onnx]'"
CALL = re.compile(r"^(export_onnx|decoder_step_model|model_file): ")  # no matter to who types
STEPS = {
    "encoder.onnx": "Tracing the encoder ...",
    "decoder_step.onnx": "Tracing the decoder step ...",
    "comparison": "Comparing with both rooms ...",
}
ROOMS = {"numpy": "NumPy", "torch": "torch"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Export; the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        if options.onnx is not None:
            write_onnx(options)
        else:
            write_model_file(options)
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


def write_onnx(options: argparse.Namespace) -> None:
    """The folder of ONNX files, and what is said of it."""
    if options.dtype is not None:
        raise ValueError("--dtype goes with --safetensors: leave it out")
    import_exporter()  # before a model is loaded in vain
    translator = load(options.checkpoint, "numpy", None)
    show(export_onnx(translator, options.onnx, overwrite=options.overwrite, progress=announce))


def write_model_file(options: argparse.Namespace) -> None:
    """One safetensors file, whole or not at all, and what is said of it."""
    path = options.safetensors
    check_output_files({"--safetensors": path}, (), own_path(options.checkpoint))
    if path.exists() and not options.overwrite:
        raise ValueError(f"{path} is there already: name another file, or pass --overwrite")
    dtype = options.dtype or "float32"
    data = model_file(load(options.checkpoint, "numpy", None), dtype)
    atomic_write(path, data)
    print(f"{escaped(str(path))} ({len(data) / 1e6:.2f} MB, {dtype})")
    print("Choose it as your own model in a box of the book where a sentence is translated.")


def build_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="qkv export",
        description="Export a model that qkv train has saved, to be run without qkv: as ONNX, its "
        "encoder, its decoder step with the cache, its vocabularies, and a README that says how; "
        "or as one file that the book's page opens.",
    )
    parser.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        help=f'its JSON file or folder; "{SHIPPED}" is the English-Korean model of the book',
    )
    written = parser.add_mutually_exclusive_group(required=True)
    written.add_argument("--onnx", type=Path, metavar="FOLDER", help="written whole, at the end")
    written.add_argument(
        "--safetensors",
        type=Path,
        metavar="FILE",
        help="parameters, configuration and vocabularies in one file, which the page opens",
    )
    parser.add_argument(
        "--dtype", choices=DTYPES, help="of the numbers in FILE: float32, or float16 for half"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier export")
    return parser


def announce(step: str) -> None:
    """What is done next, on a terminal."""
    if sys.stderr.isatty():
        print(STEPS[step], file=sys.stderr, flush=True)


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
    return f"Checked: logits by onnxruntime differ by at most {found}, of the largest."


def report(message: str) -> None:
    print(f"qkv export: {escaped(message)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
