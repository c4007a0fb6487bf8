#!/usr/bin/env python3
"""Tunes ten spaces of some 500 configurations, runs each whole, and compares.

usage: tune_spaces.py WARPTWIN [--spaces N]
Prints a table in Markdown; exit 1 where the best of a space was not found.
"""

import argparse
import json
import subprocess
import sys
import time

TWO = ["tile_m=64,128", "accum_stages=1,2"]
PAIRS = ["tile_m=128,256", "cluster_m=2,4", "cluster_n=1,2"]
WGMMA = ["tile_m=64,128", "cluster_m=1,2", "in_flight=0,1"]
CLAIMS = ["tile_m=128,256", "clc_stages=1,2", "raster=0,1"]
TILES = ["tile_n=32..256:32", "stages=2..6"]
SPACES = [
    ("gemm", "b200", "m=1024 n=1024 k=2048", [*TWO, "ctas=0,64,148"]),
    ("gemm", "b200", "m=2048 n=2048 k=1024", [*TWO, "ctas=0,128,148"]),
    ("gemm", "b200", "m=1536 n=3072 k=512", [*TWO, "ctas=0,128,148"]),
    ("gemm", "h200", "m=4096 n=256 k=2048", ["tile_m=64,128", "tile_k=32,64", "ctas=0,64,132"]),
    ("gemm_2sm", "b200", "m=2048 n=2048 k=2048", [*PAIRS, "accum_stages=1,2"]),
    ("gemm_2sm", "b200", "m=4096 n=1024 k=1024", [*PAIRS, "clusters=0,32"]),
    ("gemm_wgmma", "h200", "m=2048 n=2048 k=2048", [*WGMMA, "swizzle=0,4"]),
    ("gemm_wgmma", "h200", "m=1024 n=4096 k=1024", [*WGMMA, "ctas=0,132"]),
    ("gemm_persistent", "b200", "m=2048 n=2048 k=1024", [*CLAIMS, "accum_stages=1,2"]),
    ("gemm_split_k", "b200", "m=512 n=512 k=8192", ["splits=1,2,4,8", *TWO]),
]  # fmt: skip


def ask(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("warptwin")
    parser.add_argument("--spaces", type=int, default=len(SPACES))
    arguments = parser.parse_args()
    print(
        "| scenario, chip, problem | configurations | fit | runs | best, us | found, us "
        "| s, of all s |"
    )
    print("|---|---|---|---|---|---|---|")
    missed = 0
    for scenario, chip, problem, axes in SPACES[: arguments.spaces]:
        common = [scenario, "--chip", chip, "--json"]
        for setting in problem.split() + TILES + axes:
            common += ["--set", setting]
        begin = time.monotonic()
        tuned = ask([arguments.warptwin, "tune", *common])["problems"][0]
        between = time.monotonic()
        rows = ask([arguments.warptwin, "sweep", *common])["rows"]
        end = time.monotonic()
        times = [row["us"] for row in rows if row["end"] == "run"]
        found = tuned["best"]["us"]
        missed += found > min(times) * (1 + 1e-9)
        print(
            f"| {scenario}, {chip}, {problem} | {len(rows)} | {len(times)} | {len(tuned['runs'])} "
            f"| {min(times):.3f} | {found:.3f} | {between - begin:.0f}, {end - between:.0f} |",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
