#!/usr/bin/env python3
"""Compiles the kernels of the folder `cuda` with nvcc and holds the PTX against warptwin.

usage: nvcc_test.py WARPTWIN NVCC
Each kernel for sm_90a and sm_100a, with and without source lines: everything is parsed, decoded and
covered, and the listing names the kernel and its own lines.
exit codes: 0 right, 1 wrong, 77 skipped: there is no nvcc
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# What each kernel is there for.
EXPECTED = {
    "plain": ["atom.global.add.f32", "brx.idx", "vprintf", "bar.sync", "shfl.sync.bfly.b32"],
    "types": ["cvt.rn.satfinite.e4m3x2.f32", "fma.rn.f16x2", "fma.rn.f64"],
    "calls": ["its prototype", "trap"],
    "barriers": ["mbarrier.try_wait.parity", "cp.async.bulk.shared::cluster", "fence.proxy.async"],
}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(warptwin, nvcc, source, arch, folder):
    """What is wrong with one source for one architecture, in words."""
    ptx = folder / f"{source.stem}.{arch}.ptx"
    compiled = run([nvcc, "-ptx", "-lineinfo", "-std=c++17", f"-arch={arch}", source, "-o", ptx])
    if compiled.returncode != 0:
        return [f"nvcc: {compiled.stderr}"]
    covered = run([warptwin, "ptx", "coverage", ptx, "--json"])
    if covered.returncode != 0:
        return [f"coverage: {covered.stdout}{covered.stderr}"]
    wrong = []
    if json.loads(covered.stdout)["files"][0]["instructions"] < 20:
        wrong.append("coverage: fewer than 20 instructions")
    shown = run([warptwin, "ptx", "show", ptx])
    if shown.returncode != 0:
        return [*wrong, f"show: {shown.stderr}"]
    wrong += [
        f"show: no '{text}'"
        for text in [*EXPECTED[source.stem], f"{source.name}:"]
        if text not in shown.stdout
    ]
    return wrong


def main():
    warptwin, nvcc = sys.argv[1:3]
    if shutil.which(nvcc) is None:
        print("skipped: there is no nvcc")
        return SKIPPED
    sources = sorted((pathlib.Path(__file__).parent / "cuda").glob("*.cu"))
    failed = sorted(EXPECTED) != [source.stem for source in sources]
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            for arch in ["sm_90a", "sm_100a"]:
                for wrong in check(warptwin, nvcc, source, arch, pathlib.Path(folder)):
                    failed = True
                    print(f"{source.name} for {arch}: {wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
