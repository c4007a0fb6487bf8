#!/usr/bin/env python3
"""Compiles the kernels of this folder and keeps them with their launches.

usage: keep.py FOLDER [NVCC]
Writes COMPILER_NAME.ptx and COMPILER_NAME.json of each kernel, as `warptwin ptx check` takes them
and scripts/ptx_mutants.py too; and as NAME_mended what check refutes, without its fault. A compiler
that is not there is left out, with its words. The same variables name the interpreters as for the
tests.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import cute_test
import foreign_test
import gluon_test
import structured_test
import tile_test


def interpreter(variable):
    return os.environ.get(variable, sys.executable)


def cases(nvcc):
    """By compiler: what writes NAME.ptx into a folder, and returns by NAME the case."""
    triton = interpreter("WARPTWIN_TRITON_PYTHON")
    tile = interpreter("WARPTWIN_TILELANG_PYTHON")
    return {
        "triton": foreign_test.compiled_cases(triton),
        "gluon": gluon_test.compiled_cases(triton),
        "cute": cute_test.compiled_cases(interpreter("WARPTWIN_CUTE_PYTHON")),
        "tile": tile_test.compiled_cases(tile, nvcc),
    }


# A copy writes where tcgen05.alloc has written its address, with no proxy fence between the two.
MENDED = {
    "triton_described_sm100": (r"ld\.shared\.b32[^;]*\[global_smem\];",
                               r"\g<0>\n\tfence.proxy.async.shared::cta;"),
}


def keep(folder, name, ptx, launch):
    shutil.copy(ptx, folder / f"{name}.ptx")
    (folder / f"{name}.json").write_text(json.dumps(launch), encoding="utf-8")
    print(name)
    if name in MENDED:
        text = re.sub(*MENDED[name], ptx.read_text(encoding="utf-8"), count=1)
        (folder / f"{name}_mended.ptx").write_text(text, encoding="utf-8")
        (folder / f"{name}_mended.json").write_text(json.dumps(launch), encoding="utf-8")
        print(f"{name}_mended")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for compiler, compiled in cases(sys.argv[2] if len(sys.argv) > 2 else "nvcc").items():
        with tempfile.TemporaryDirectory() as name:
            made = pathlib.Path(name)
            try:
                for full, case in compiled(made).items():
                    keep(folder, f"{compiler}_{full}", made / f"{full}.ptx", case.launch)
            except SystemExit as failed:
                print(f"{compiler}: left out: {str(failed).strip().splitlines()[-1]}")
    with tempfile.TemporaryDirectory() as name:
        try:
            for kernel, ptx in structured_test.compiled(pathlib.Path(name)).items():
                launch = structured_test.launch(structured_test.KERNELS[kernel])
                keep(folder, f"mojo_structured_{kernel}", ptx, launch)
        except SystemExit as failed:
            print(f"mojo: left out: exit code {failed}")


if __name__ == "__main__":
    main()
