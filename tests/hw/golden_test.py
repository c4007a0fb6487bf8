#!/usr/bin/env python3
"""Holds the simulator against traces that were recorded on a GPU.

  golden_test.py WARPTWIN FOLDER

Every FOLDER/*.trace.gz says which scenario it is of, with which parameters. The simulator runs the
same under several schedules, and every trace must agree with the recorded one; the first with what
each stage was filled with. One whose times are changed so that a warp takes what has not been
loaded must not agree, nor one of which a wait saw other bytes.
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


def out_of_order(predicted, seen):
    """The recorded trace with one load after the wait that takes it; where every warp takes its own
    loads, with another warp's operation after the wait for it."""
    lines = [json.loads(line) for line in seen.splitlines()]
    by_warp = {}
    for line in lines[1:-1]:
        by_warp.setdefault(line["warp"], []).append(line)
    known, pairs = {}, []
    for row in map(json.loads, predicted.splitlines()[1:-1]):
        if "warp" not in row:
            continue  # values of an output
        at = known[row["warp"]] = known.get(row["warp"], -1) + 1
        for warp, count in row.get("after", []):
            before = by_warp[warp][count - 1]
            if before.get("cta", 0) == row.get("cta", 0):
                pairs.append((before, by_warp[row["warp"]][at]))
    if not pairs:
        sys.exit("no wait comes after another warp's operation")
    before, wait = next((pair for pair in pairs if "(load)" in pair[0]["op"]), pairs[0])
    before["time"] = wait["time"] + 1
    return "".join(json.dumps(line) + "\n" for line in lines)


def with_parameters(trace, parameters):
    """The trace with the parameters its scenario has got since it was recorded: at their defaults,
    at which a scenario does what it did before."""
    head, rest = trace.split("\n", 1)
    head = json.loads(head)
    head["parameters"] = parameters
    return json.dumps(head) + "\n" + rest


def with_other_bytes(trace):
    """The recorded trace with another checksum of what the first wait that read a stage saw."""
    lines = [json.loads(line) for line in trace.splitlines()]
    wait = next(line for line in lines if line.get("saw"))
    wait["saw"][0][-1] ^= 1
    return "".join(json.dumps(line) + "\n" for line in lines)


def refuse(command, reason):
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if result.returncode != 1 or reason not in result.stdout:
        sys.exit(f"not refused: {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")


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
            for schedule in SCHEDULES:
                launch = [head["scenario"], *settings, "--strategy", schedule]
                values = ["--values"] if schedule == SCHEDULES[0] else []
                run([warptwin, "trace", *launch, *values, "--to", predicted])
                predicted_text = pathlib.Path(predicted).read_text(encoding="utf-8")
                parameters = json.loads(predicted_text.split("\n", 1)[0])["parameters"]
                if not set(head["parameters"].split()) <= set(parameters.split()):
                    sys.exit(f"{path.name}: recorded {head['parameters']}, now {parameters}")
                text = with_parameters(text, parameters)
                pathlib.Path(seen).write_text(text, encoding="utf-8")
                said = run([warptwin, "compare", predicted, seen])
                wrong = out_of_order(predicted_text, text)
                pathlib.Path(f"{place}/wrong.trace").write_text(wrong, encoding="utf-8")
                refuse([warptwin, "compare", predicted, f"{place}/wrong.trace"], "out of order")
                if values:
                    if "the data of" not in said:
                        sys.exit(f"{path.name}: no data was compared\n{said}")
                    wrong = with_other_bytes(text)
                    pathlib.Path(f"{place}/wrong.trace").write_text(wrong, encoding="utf-8")
                    refuse([warptwin, "compare", predicted, f"{place}/wrong.trace"], "checksum")
                print(f"{path.name} ({head['machine']}), {schedule}: {said.splitlines()[-1]}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
