#!/usr/bin/env python3
"""Proves every launch of a list, and says of each what `warptwin prove` found and how long it took.

  prove_shapes.py WARPTWIN [LIST] [--jobs N] [--slow] [--only SCENARIO]

LIST (tests/scenarios/shapes.txt) has a launch a line: a scenario and its parameters, NAME=VALUE.
Lines that begin with `slow` are left out, and counted, unless --slow is given. The table is
Markdown, on standard output: the operations of the one run that decides, and the seconds of a core.
Exit code 1 when a launch is not proved, 2 for a list that cannot be read.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

LIST = pathlib.Path(__file__).parent.parent / "tests" / "scenarios" / "shapes.txt"


def launches(path, slow):
    """(the launches to prove, how many are left out)."""
    lines = [line.split() for line in path.read_text().splitlines()]
    lines = [words for words in lines if words and not words[0].startswith("#")]
    taken = [words for words in lines if slow or words[0] != "slow"]
    return [words[words[0] == "slow" :] for words in taken], len(lines) - len(taken)


def prove(warptwin, words):
    """(whether it is proved, the row of the table)."""
    settings = [word for value in words[1:] for word in ("--set", value)]
    command = [warptwin, "prove", words[0], *settings, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        output, errors = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == 0:
        proof = json.loads(output)
        what, operations = proof["verdict"], str(proof["operations"])
    else:
        what, operations = (errors or output).decode().strip().splitlines()[0], ""
    seconds = usage.ru_utime + usage.ru_stime
    row = [words[0], " ".join(words[1:]), what, operations, f"{seconds:.1f}"]
    return process.returncode == 0, row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warptwin")
    parser.add_argument("list", nargs="?", type=pathlib.Path, default=LIST)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    try:
        todo, left_out = launches(options.list, options.slow)
    except OSError as error:
        print(f"{options.list}: {error.strerror}", file=sys.stderr)
        return 2
    todo = [words for words in todo if options.only in (None, words[0])]
    if not todo:
        print(f"{options.list} has no launch to prove", file=sys.stderr)
        return 2
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda words: prove(options.warptwin, words), todo))
    columns = ["scenario", "launch", "verdict", "operations", "s"]
    for row in [columns, ["---"] * len(columns), *(row for _, row in results)]:
        print("| " + " | ".join(row) + " |")
    proved = sum(good for good, _ in results)
    print(f"\n{proved} of {len(results)} are proved; {left_out} slow ones are left out")
    return 0 if proved == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
