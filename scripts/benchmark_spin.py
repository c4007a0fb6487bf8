#!/usr/bin/env python3
"""Times our proof and our search beside SPIN, on one pipeline protocol.

benchmark_spin.py [--build DIR] [--memory-mb N] [--limit-s N] [--quick]

SPIN runs with its partial-order reduction, compiled with optimisation, and with an assertion that
notices a wait that is lapped. Needs Debian's packages spin and gcc, and a release build.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "tests/benchmarks/spin/ring.pml"
NAMES = ("STAGES", "ACCUMS", "STEPS", "TILES", "LOADS", "READERS")
# stages, accumulators, k-steps a tile, tiles, loads a stage, epilogue warps
ROWS = [
    (4, 2, 4, 2, 1, 1),
    (4, 2, 4, 4, 1, 1),
    (8, 2, 4, 4, 1, 1),
    (4, 2, 4, 4, 2, 1),
    (4, 2, 4, 4, 1, 2),
    (4, 2, 4, 2, 1, 4),
    (4, 2, 4, 4, 1, 4),
    (4, 2, 4, 8, 1, 4),
]
QUICK = ROWS[:2]
# For ever, which is every number of tiles: no state space that SPIN's memory holds.
ENDLESS = (8, 2, 8, 0, 2, 4)
GEMM = "stages=8 accum_stages=2 tile_k=32 k=256 n=128 ctas=1".split()


def spin(row, memory_mb, limit_s):
    """(seconds of the search, states, what stopped it or None)."""
    defines = [f"-D{name}={value}" for name, value in zip(NAMES, row)] + ["-DQUEUE=4"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["spin", "-a", *defines, str(MODEL)], cwd=folder, check=True, capture_output=True
        )
        subprocess.run(
            ["gcc", "-O2", "-DSAFETY", f"-DMEMLIM={memory_mb}", "-o", "pan", "pan.c"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        start = time.monotonic()
        try:
            text = subprocess.run(
                ["./pan", "-m20000000", "-w24"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=limit_s,
            ).stdout
        except subprocess.TimeoutExpired:
            return time.monotonic() - start, None, f"stopped after {limit_s} s"
        seconds = time.monotonic() - start
    # Its own clock, without the time to set up its tables.
    clock = re.search(r"elapsed time ([0-9.e+-]+) seconds", text)
    seconds = float(clock.group(1)) if clock else seconds
    states = re.search(r"^\s*([0-9.e+]+) states, stored", text, re.MULTILINE)
    count = int(float(states.group(1))) if states else None
    if "errors: 0" not in text:
        return seconds, count, "reports an error"
    if re.search(r"out of memory|max search depth too small|Search not completed", text):
        return seconds, count, f"out of memory ({memory_mb} MB)"
    return seconds, count, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--memory-mb", type=int, default=8000)
    parser.add_argument("--limit-s", type=int, default=120)
    parser.add_argument("--quick", action="store_true", help="the first rows alone")
    options = parser.parse_args()
    for tool in ("spin", "gcc"):
        if shutil.which(tool) is None:
            sys.exit(f"benchmark_spin: {tool} is missing; apt-get install {tool}")
    ours = options.build / "bin/pipeline_benchmark"
    if not ours.exists():
        sys.exit(f"benchmark_spin: {ours} is missing; build it first, or give --build")
    print(
        "stages accums steps tiles loads readers |  SPIN states        s |"
        "  our states        s  fewer | proof us  faster than SPIN"
    )
    for row in QUICK if options.quick else ROWS:
        seconds, states, stopped = spin(row, options.memory_mb, options.limit_s)
        result = json.loads(
            subprocess.run(
                [ours, *map(str, row)], check=True, capture_output=True, text=True
            ).stdout
        )
        fewer = f"{states / result['states']:5.0f}x" if states else "    -"
        note = f"  SPIN {stopped}" if stopped else ""
        print(
            "%6d %6d %5d %5d %5d %7d | %12s %8.2f | %11d %8.4f %6s | %8.0f  %12.0fx%s"
            % (
                *row,
                states or "-",
                seconds,
                result["states"],
                result["seconds"],
                fewer,
                result["proof_seconds"] * 1e6,
                seconds / result["proof_seconds"],
                note,
            ),
            flush=True,
        )
    if options.quick:
        return
    seconds, states, stopped = spin(ENDLESS, options.memory_mb, options.limit_s)
    settings = [word for setting in GEMM for word in ("--set", setting)]
    command = [options.build / "bin/warptwin", "prove", "gemm", *settings, "--for-all", "m"]
    start = time.monotonic()
    proof = json.loads(
        subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout
    )
    elapsed = time.monotonic() - start
    print(f"endless {ENDLESS}: SPIN {seconds:.1f} s, {states or '-'} states, {stopped or 'proved'}")
    print(f"  gemm {' '.join(GEMM)}: {elapsed * 1e3:.0f} ms, {proof['for_all'][0]['strength']}")
    if not proof["for_all"][0]["shown"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
