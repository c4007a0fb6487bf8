#!/usr/bin/env python3
"""Holds the simulator against traces that were recorded on a GPU.

  golden_test.py WARPTWIN FOLDER

Every FOLDER/*.trace.gz says which scenario it is of, with which parameters. The simulator runs the
same under several schedules, and every trace must agree with the recorded one.
"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

SCHEDULES = ["round-robin", "random:1", "pct:2:3:4096"]


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def main(warptwin, folder):
    recorded = sorted(pathlib.Path(folder).glob("*.trace.gz"))
    if not recorded:
        sys.exit(f"no trace in {folder}")
    for path in recorded:
        text = gzip.decompress(path.read_bytes()).decode()
        head = json.loads(text.split("\n", 1)[0])
        settings = [part for pair in head["parameters"].split() for part in ("--set", pair)]
        with tempfile.TemporaryDirectory() as place:
            seen, predicted = f"{place}/seen.trace", f"{place}/predicted.trace"
            pathlib.Path(seen).write_text(text, encoding="utf-8")
            for schedule in SCHEDULES:
                launch = [head["scenario"], *settings, "--strategy", schedule]
                run([warptwin, "trace", *launch, "--to", predicted])
                said = run([warptwin, "compare", predicted, seen])
                print(f"{path.name} ({head['machine']}), {schedule}: {said.splitlines()[-1]}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
