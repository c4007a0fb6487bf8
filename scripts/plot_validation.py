#!/usr/bin/env python3
"""Draws what was measured against what is predicted.

  warptwin validate --data ROWS.json --json > validated.json
  plot_validation.py validated.json PLOT.svg [--title TEXT]

Main loops (names that end in ROWSxCOLUMNSxK/Sn): a panel for each tile, the ring's stages along it.
Drawn kernels (names of CHIP/PROBLEM/KERNEL, ten or more of a problem): a panel for each problem,
predicted over measured, with the 90 % interval where there is one. Other rows: a pair of bars each.
Needs matplotlib (Debian: python3-matplotlib).
"""

import argparse
import collections
import json
import re
import sys

try:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("matplotlib is missing: install Debian's python3-matplotlib")

MAIN_LOOP = re.compile(r"(?P<tile>\d+x\d+x\d+)/S(?P<stages>\d+)$")
COLUMNS = 6
DRAWN = re.compile(r"[^/]+/(?P<problem>\d+x\d+x\d+)/[^/]+$")
DRAWN_LEAST = 10  # of a problem
DRAWN_COLUMNS = 3


def panels(rows):
    """Main loops by tile, in the order in which tiles first come."""
    tiles = collections.OrderedDict()
    for row in rows:
        at = MAIN_LOOP.search(row["name"])
        tiles.setdefault(at["tile"], []).append((int(at["stages"]), row))
    return tiles


def draw_main_loops(rows):
    tiles = panels(rows)
    lines = -(-len(tiles) // COLUMNS)
    figure, axes = plt.subplots(lines, COLUMNS, figsize=(2.1 * COLUMNS, 1.8 * lines), squeeze=False)
    for axis in axes.flat[len(tiles) :]:
        axis.set_visible(False)
    for axis, (tile, steps) in zip(axes.flat, tiles.items()):
        steps.sort(key=lambda step: step[0])
        stages = [stage for stage, _ in steps]
        axis.plot(stages, [row["predicted"] for _, row in steps], "-", label="predicted")
        axis.plot(stages, [row["measured"] for _, row in steps], "k.", label="measured")
        axis.set_title(tile, fontsize=8)
        axis.set_ylim(bottom=0)
        axis.tick_params(labelsize=7)
    figure.supxlabel("stages", fontsize=9)
    figure.supylabel(rows[0]["unit"], fontsize=9)
    axes[0][0].legend(fontsize=6)
    return figure


def problems(rows):
    """Drawn kernels by problem, in the order in which they first come; {} if a row is none."""
    found = collections.OrderedDict()
    for row in rows:
        at = DRAWN.match(row["name"])
        if not at:
            return {}
        found.setdefault(at["problem"], []).append(row)
    return found if all(len(kernels) >= DRAWN_LEAST for kernels in found.values()) else {}


def draw_problems(found):
    lines = -(-len(found) // DRAWN_COLUMNS)
    size = (2.6 * DRAWN_COLUMNS, 2.4 * lines)
    figure, axes = plt.subplots(lines, DRAWN_COLUMNS, figsize=size, squeeze=False)
    for axis in axes.flat[len(found) :]:
        axis.set_visible(False)
    for axis, (problem, rows) in zip(axes.flat, found.items()):
        most = 1.1 * max(max(row["measured"], row["predicted"]) for row in rows)
        axis.fill_between([0, most], [0, 0.9 * most], [0, 1.1 * most], color="0.9", lw=0)
        axis.plot([0, most], [0, most], "-", color="0.6", lw=0.8)
        for row in rows:
            if "low" in row:
                axis.plot([row["measured"]] * 2, [row["low"], row["high"]], "-", color="C0", lw=0.5)
        measured = [row["measured"] for row in rows]
        axis.plot(measured, [row["predicted"] for row in rows], ".", color="C0", ms=4)
        axis.set_title(problem, fontsize=8)
        axis.set_xlim(0, most)
        axis.set_ylim(0, most)
        axis.tick_params(labelsize=7)
    figure.supxlabel(f"measured, {rows[0]['unit']}", fontsize=9)
    figure.supylabel("predicted", fontsize=9)
    return figure


def draw_bars(rows):
    figure, axis = plt.subplots(figsize=(8, 3.2))
    for shift, what, color in ((-0.2, "measured", "0.3"), (0.2, "predicted", "C0")):
        places = [i + shift for i in range(len(rows))]
        axis.bar(places, [row[what] for row in rows], 0.4, label=what, color=color)
    axis.set_xticks(range(len(rows)), [row["name"].rsplit("/", 1)[-1] for row in rows], fontsize=8)
    axis.set_ylabel(rows[0]["unit"])
    axis.legend(fontsize=8)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("validated", help="what 'warptwin validate --json' wrote")
    parser.add_argument("plot", help="the SVG file to write")
    parser.add_argument("--title", default="")
    arguments = parser.parse_args()
    try:
        with open(arguments.validated, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{arguments.validated}: not what 'warptwin validate --json' writes: {error}")
    if not rows:
        sys.exit(f"{arguments.validated}: no row was predicted")
    plt.rcParams["svg.hashsalt"] = "warptwin"  # the same bytes each time
    plt.rcParams["svg.fonttype"] = "none"  # text, not outlines
    loops = all(MAIN_LOOP.search(row["name"]) for row in rows)
    drawn = problems(rows)
    draw = draw_main_loops if loops else draw_bars
    figure = draw_problems(drawn) if drawn else draw(rows)
    figure.suptitle(arguments.title, fontsize=10)
    figure.tight_layout()
    figure.savefig(arguments.plot, metadata={"Date": None})


if __name__ == "__main__":
    main()
