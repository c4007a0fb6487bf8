#!/usr/bin/env python3
"""What a proof costs in one build beside another.

usage: proof_cost.py OLD NEW [--turns N]
OLD and NEW are each a `prove_benchmark`; where a tree is older than the way this script calls it,
its prove_benchmark is built with this tree's tests/benchmarks/prove_benchmark.cpp. Both prove by
turns, on one core. A row has the least CPU time of a proof, without what a process costs that
proves nothing: other processes only ever add to a time.
"""

import argparse
import os
import resource
import subprocess
import sys

# Operations of the persistent GEMM; proofs a process, and its size: m, n, k, CTAs.
ROWS = [("855", 600, (128, 128, 2048, 1)),
        ("6,600", 20, (256, 512, 2048, 4)),
        ("90,752", 3, (1024, 1024, 4096, 16)),
        ("978,608", 1, (4096, 4096, 2560, 148))]


def cpu_seconds(program, count, size):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run([program, str(count), *map(str, size)], check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode != 0:
        sys.exit(f"{program} ends with {ended.returncode}: is it a prove_benchmark of this tree?")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--turns", type=int, default=12, help="processes a row and build; 12")
    given = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("operations      old ms      new ms   ratio")
    for name, count, size in ROWS:
        proving = {given.old: [], given.new: []}
        empty = {given.old: [], given.new: []}
        for _ in range(given.turns):
            for program in (given.old, given.new):
                proving[program].append(cpu_seconds(program, count, size))
                empty[program].append(cpu_seconds(program, 0, size))
        old, new = ((min(proving[program]) - min(empty[program])) / count * 1e3
                    for program in (given.old, given.new))
        print(f"{name:>10} {old:11.3f} {new:11.3f} {new / old:7.3f}", flush=True)


if __name__ == "__main__":
    main()
