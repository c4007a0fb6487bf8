#!/usr/bin/env python3
"""Holds tuning to a GPU: the model's choice beside configurations that were drawn and measured.

usage: tune_against.py list WARPTWIN LIST [--chip CHIP] [--seed N] [--count N] [--problems SEED]
       tune_against.py report WARPTWIN LIST ROWS.json [--chip CHIP]

`list` draws configurations of gemm_wgmma for six problems (--problems: six that SEED draws, instead
of those below), adds what `warptwin tune` chooses for each, and writes a list for
warptwin-measure-configurations; LIST.json beside it keeps the choices. `report` reads the measured
rows, and prints for each problem, in Markdown: the best measured, the choice, how much longer it
takes, the correlation of the ranks, and the errors of the predictions.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys

PROBLEMS = [
    (2048, 2048, 2048),
    (4096, 2048, 1024),
    (1024, 3072, 4096),
    (3072, 1536, 2048),
    (2048, 4096, 512),
    (1536, 2560, 3072),
]
TILES = [(64, 128), (128, 64), (128, 128), (128, 256)]
WHERE = "tile_m == 128 || tile_n == 128"
NAMES = ["m", "n", "k", "tile_m", "tile_n", "stages", "cluster_m", "in_flight", "ctas", "swizzle"]
SPACE = [
    "tile_m=64,128", "tile_n=64,128,256", "tile_k=64", "stages=2..8", "cluster_m=1,2",
    "in_flight=1", "ctas=0,132", "swizzle=0,4,16",
]  # fmt: skip


def ask(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def predicted(arguments, configuration, clock=None):
    command = [arguments.warptwin, "time", "gemm_wgmma", "--chip", arguments.chip]
    command += ["--no-check", "--json"]
    for name, value in zip(NAMES, configuration, strict=True):
        command += ["--set", f"{name}={value}"]
    if clock:
        command += ["--clock", f"{clock:.3f}"]
    answer = ask(command)
    return answer and answer["microseconds"]


def choice(arguments, problem):
    command = [arguments.warptwin, "tune", "gemm_wgmma", "--chip", arguments.chip, "--json"]
    for setting in [f"{n}={v}" for n, v in zip("mnk", problem, strict=True)] + SPACE:
        command += ["--set", setting]
    found = ask([*command, "--where", WHERE])["problems"][0]
    return [int(found["best"]["configuration"][name]) for name in NAMES]


def draw(generator, problem):
    drawn = [*problem, *generator.choice(TILES), generator.randint(2, 8)]
    return drawn + [generator.choice(values) for values in ((1, 2), (1,), (0, 132), (0, 4, 16))]


def drawn_problems(seed):
    """Six of at most 17 billion multiplications, which a GPU does in some 50 us."""
    generator = random.Random(seed)
    problems = []
    while len(problems) < len(PROBLEMS):
        problem = tuple(256 * generator.randint(2, 16) for _ in "mnk")
        if problem[0] * problem[1] * problem[2] <= 2**34 and problem not in problems:
            problems.append(problem)
    return problems


def make_list(arguments):
    generator = random.Random(arguments.seed)
    lines, choices = [], []
    problems = PROBLEMS if arguments.problems is None else drawn_problems(arguments.problems)
    for problem in problems:
        chosen = choice(arguments, problem)
        choices.append(chosen)
        own = []
        while len(own) < arguments.count:
            drawn = draw(generator, problem)
            if drawn not in own and drawn != chosen and predicted(arguments, drawn):
                own.append(drawn)
        lines += [chosen, *own]
        print(problem, "chosen", chosen[3:], flush=True)
    text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    pathlib.Path(arguments.list).write_text(text, encoding="utf-8")
    pathlib.Path(arguments.list + ".json").write_text(json.dumps(choices), encoding="utf-8")
    return 0


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    places = [0] * len(values)
    for place, index in enumerate(order):
        places[index] = place
    return places


def configuration_of(row):
    tile_m, tile_n = map(int, row["config"]["tile"].split("x"))
    own = row["set"]
    return [
        row["M"], row["N"], row["K"], tile_m, tile_n, row["config"]["stages"], own["cluster_m"],
        own["in_flight"], row["config"]["ctas"], own["swizzle"],
    ]  # fmt: skip


def report(arguments):
    rows = json.loads(pathlib.Path(arguments.rows).read_text(encoding="utf-8"))
    choices = json.loads(pathlib.Path(arguments.list + ".json").read_text(encoding="utf-8"))
    print(
        "| problem | measured | best, us | choice, us | longer | rank correlation "
        "| mean error | within 10 % | worst |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    far, all_errors = 0, []
    for chosen in choices:
        own = [row for row in rows if [row["M"], row["N"], row["K"]] == chosen[:3]]
        measured = [row["us"] for row in own]
        model = [
            predicted(arguments, configuration_of(row), row["config"]["clock_ghz"])
            for row in own
        ]
        at = [configuration_of(row) for row in own].index(chosen)
        best = min(measured)
        errors = [abs(p / m - 1) for p, m in zip(model, measured, strict=True)]
        all_errors += errors
        correlation = statistics.correlation(ranks(measured), ranks(model))
        far += measured[at] > 1.02 * best
        print(
            f"| {' x '.join(map(str, chosen[:3]))} | {len(own)} | {best:.1f} | {measured[at]:.1f} "
            f"| {100 * (measured[at] / best - 1):.1f} % | {correlation:.3f} "
            f"| {100 * statistics.mean(errors):.1f} % "
            f"| {100 * sum(e <= 0.1 for e in errors) / len(errors):.0f} % "
            f"| {100 * max(errors):.0f} % |",
            flush=True,
        )
    print(
        f"\nAll {len(all_errors)}: mean error {100 * statistics.mean(all_errors):.1f} %, "
        f"{100 * sum(e <= 0.1 for e in all_errors) / len(all_errors):.0f} % within 10 %. "
        f"Choices more than 2 % behind the best: {far} of {len(choices)}."
    )
    return 1 if far else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("list")
    make.set_defaults(run=make_list)
    judge = commands.add_parser("report")
    judge.set_defaults(run=report)
    for command in (make, judge):
        command.add_argument("warptwin")
        command.add_argument("list")
        command.add_argument("--chip", default="h200")
    judge.add_argument("rows")
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--count", type=int, default=40)
    make.add_argument("--problems", type=int, help="draw the problems too, by this seed")
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
