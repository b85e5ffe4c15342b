"""The kernels among which NumPy's and torch's libraries choose, and how to make them choose."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

# What NumPy's OpenBLAS can be told to run, oldest first, and what a processor needs for it: it does
# not ask, and dies by an illegal instruction. On Zen it runs what it has for Haswell, on Cooperlake
# and later what it has for SkylakeX.
OPENBLAS = {
    "Prescott": ("SSE3",),
    "Nehalem": ("SSE42",),
    "Sandybridge": ("AVX",),
    "Haswell": ("AVX2", "FMA3"),
    "SkylakeX": ("AVX512_SKX",),
}
NAMES = {"Prescott": "Katmai"}  # what it calls them
ATEN = {"default": ("SSE3",), "avx2": ("AVX2", "FMA3"), "avx512": ("AVX512_SKX",)}
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
# Run by `probe`: the libraries are asked which kernels they took; of MKL, its rounding says that.
PROBE = """
import ctypes, os, sys, zlib
from pathlib import Path
import numpy, torch
folder = Path(numpy.__file__).parent.parent / "numpy.libs"
for file in folder.glob("*openblas*"):
    library = ctypes.CDLL(str(file))
    for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename"):
        if hasattr(library, name):
            corename = getattr(library, name)
            corename.restype = ctypes.c_char_p
            print("OpenBLAS", corename().decode(), end="; ")
a = torch.linspace(-1, 1, 6400).sin().reshape(64, 100)
print(f"MKL {zlib.crc32((a @ a.T).numpy().tobytes()):08x}", end="; ")
print("ATen", torch.backends.cpu.get_cpu_capability(), end="; ")
print("threads", torch.get_num_threads(), end="; ", flush=True)
with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):
    torch.nn.functional.conv2d(torch.ones(8, 16, 32, 32), torch.ones(16, 16, 3, 3))
"""


@dataclass(frozen=True)
class Setting:
    """Variables that make a library take other kernels, and what `probe` says if it does."""

    name: str
    backend: str
    variables: tuple[tuple[str, str], ...]
    shows: str

    @property
    def environment(self) -> dict[str, str]:
        return dict(self.variables)


def settings(features: Mapping[str, bool] | None = None) -> list[Setting]:
    """Each value that this processor can run, once.

    Args:
        features: {instruction set: whether it is there}, as NumPy names them; this processor's.
    """
    has = cpu_features() if features is None else features

    def able(needed: Sequence[str]) -> bool:
        return all(has.get(name, False) for name in needed)

    found = [
        Setting(
            core, "OpenBLAS", (("OPENBLAS_CORETYPE", core),), f"OpenBLAS {NAMES.get(core, core)};"
        )
        for core, needed in OPENBLAS.items()
        if able(needed)
    ]
    found += [
        Setting(f"ATen-{name}", "ATen", (("ATEN_CPU_CAPABILITY", name),), f"ATen {name.upper()};")
        for name, needed in ATEN.items()
        if able(needed)
    ]
    if able(("SSE42",)):
        mkl = (("MKL_CBWR", "COMPATIBLE"),)  # MKL_ENABLE_INSTRUCTIONS: of Intel's own alone
        found.append(Setting("MKL-COMPATIBLE", "MKL", mkl, ""))
        onednn = (("ONEDNN_MAX_CPU_ISA", "SSE41"),)
        found.append(Setting("oneDNN-SSE41", "oneDNN", onednn, "oneDNN Intel SSE4.1"))
    for count in ("1", "2"):
        variables = tuple((name, count) for name in THREADS)
        found.append(Setting(f"threads-{count}", "threads", variables, f"threads {count};"))
    return found


def cpu_features() -> Mapping[str, bool]:
    """{instruction set: whether this processor has it}, as NumPy found out."""
    found: Mapping[str, bool] = import_module("numpy._core._multiarray_umath").__cpu_features__
    return found


def probe(setting: Setting | None = None) -> str:
    """What the libraries say that they run, in a fresh Python under a setting."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={**os.environ, **(setting.environment if setting else {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"
    said, _, verbose = done.stdout.partition("onednn_verbose")
    isa = [line.partition("isa:")[2] for line in verbose.splitlines() if "isa:" in line]
    return said + (f"oneDNN {isa[0]}" if isa else "oneDNN unasked")


def another(every: Sequence[Setting], seen: str | None = None) -> Setting:
    """One setting of OpenBLAS and of ATen at once whose sums round unlike those of this processor.

    Without fused multiplication, that of Haswell and later; the oldest are too slow to wait for.

    Args:
        seen: what `probe` says without any setting.
    """
    seen = probe() if seen is None else seen
    here = {setting.name: setting for setting in every}
    names = [name for name in ("Sandybridge", "Nehalem", "Prescott") if name in here]
    core = next((name for name in names if here[name].shows not in seen), None)
    if core is None:
        return here["threads-1"]
    variables = (*here[core].variables, *here["ATen-default"].variables)
    return Setting(f"{core} ATen-default", "all", variables, here[core].shows)
