#!/usr/bin/env python3
"""How many instructions the engines, the proof and the model of time take in one build and another.

usage: instruction_cost.py OLD NEW [--most PERCENT]
OLD and NEW are the folders `bin` of two builds with benchmarks. Instructions are counted by
valgrind, without those of a process that does nothing: they do not depend on what else the machine
does. With --most the script fails where a row has grown by more.
"""

import argparse
import re
import subprocess
import sys

VALGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]


def engine(name):
    return ["engine_benchmark", f"--benchmark_filter=^{name}$", "--benchmark_min_time=1e-9"]


def proof(count, *size):
    return ["prove_benchmark", *map(str, (count, *size))]


def time(scenario, **sizes):
    sets = [word for name, value in sizes.items() for word in ("--set", f"{name}={value}")]
    return ["warptwin", "time", scenario, *sets]


NO_ENGINE = engine("nothing")
NO_TIME = ["warptwin", "list"]
ROWS = [
    ("functional engine, detectors off", engine("run_gemm/detectors_off_round_robin/4"), NO_ENGINE),
    ("functional engine, all detectors", engine("run_gemm/detectors_on_round_robin/4"), NO_ENGINE),
    ("proof of 855 operations", proof(10, 128, 128, 2048, 1), proof(0, 128, 128, 2048, 1)),
    ("proof of 90,752 operations", proof(1, 1024, 1024, 4096, 16), proof(0, 1024, 1024, 4096, 16)),
    ("model of time, gemm", time("gemm", m=1024, n=1024, k=4096), NO_TIME),
    ("model of time, gemm_wgmma", time("gemm_wgmma", m=1024, n=1024, k=4096) + ["--chip", "h200"],
     NO_TIME),
]


def instructions(folder, command):
    ended = subprocess.run(
        [*VALGRIND, f"{folder}/{command[0]}", *command[1:]],
        capture_output=True, text=True, check=False)
    found = re.search(r"I\s+refs:\s+([\d,]+)", ended.stderr)
    if ended.returncode != 0 or not found:
        sys.exit(f"{folder}/{' '.join(command)} ends with {ended.returncode}\n{ended.stderr}")
    return int(found.group(1).replace(",", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--most", type=float, help="percent by which a row may grow")
    given = parser.parse_args()
    print("| what | millions of instructions before | now | change |")
    print("|---|---|---|---|")
    grown = []
    for name, command, nothing in ROWS:
        old, new = (instructions(folder, command) - instructions(folder, nothing)
                    for folder in (given.old, given.new))
        change = 100 * (new / old - 1)
        print(f"| {name} | {old / 1e6:.1f} | {new / 1e6:.1f} | {change:+.1f} % |", flush=True)
        if given.most is not None and change > given.most:
            grown.append(name)
    if grown:
        sys.exit("more than allowed: " + ", ".join(grown))


if __name__ == "__main__":
    main()
