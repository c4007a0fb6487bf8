#!/usr/bin/env python3
"""The tests' kernels for sm_90a, in the simulator and on a Hopper GPU: what both leave in memory.

  ptx_on_gpu.py collect FOLDER [LAUNCHES SCENARIO=FILE.ptx...]
  ptx_on_gpu.py run FOLDER WARPTWIN [--attempts N]

`collect` compiles the kernels of the tests into FOLDER, a .ptx and a launch file each: those in
Triton, Gluon, CuTe DSL and TileLang whose compilers are there (the variables that name their
interpreters are the tests'), those in PTX, and nvcc's PTX of scenarios, with the program
hw.ptx_launches that writes their launch files. It needs no GPU. `run` executes each with
`ptx run --on functional,hw` and prints a table in Markdown. It needs a GPU of compute capability
9.0 and no compiler.
exit codes: 0 each agrees, 1 one does not, 2 usage, 4 no GPU that runs them
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOREIGN = ROOT / "tests/sim/ptx/foreign"
# Kernels in PTX, each with its launch file beside it.
OWN = ["tests/sim/ptx/on_gpu/tma.ptx", "tests/sim/ptx/on_gpu/mma.ptx",
       "tests/sim/ptx/on_gpu/doubles.ptx", "tests/sim/ptx/machine/ring.ptx",
       "tests/sim/ptx/machine/meeting.ptx"]
# Of PTX that a driver of CUDA 13.0 reads. Triton writes a later one, and uses nothing of it here.
LATEST = (9, 0)
PLACES = re.compile(r", (the first )?at \([^;]*?(?=;|$)")  # of a report: left out of the table
AGREES, DIFFERS, NO_GPU = 0, 1, 4
TIMEOUT_S = 300


def keep(folder, name, ptx, launch):
    version = re.search(r"^\.version (\d+)\.(\d+)", ptx, re.M)
    if (int(version[1]), int(version[2])) > LATEST:
        ptx = ptx.replace(version[0], f".version {LATEST[0]}.{LATEST[1]}", 1)
    (folder / f"{name}.ptx").write_text(ptx, encoding="utf-8")
    (folder / f"{name}.json").write_text(json.dumps(launch, indent=1), encoding="utf-8")


def collect_foreign(folder):
    """Of each compiler that is there its kernels for sm_90a."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.executable, "-B", FOREIGN / "keep.py", name], check=True)
        for path in pathlib.Path(name).glob("*.ptx"):
            compiler, kernel = path.stem.split("_", 1)
            ptx = path.read_text()
            if re.search(r"^\.target sm_90a", ptx, re.M):
                launch = json.loads(path.with_suffix(".json").read_text())
                keep(folder, f"{compiler}.{kernel.removesuffix('_sm90')}", ptx, launch)


def collect_scenarios(folder, launches, rows):
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([launches, name], check=True, timeout=60)
        for row in rows:
            scenario, ptx = row.split("=", 1)
            launch = json.loads((pathlib.Path(name) / f"{scenario}.json").read_text())
            keep(folder, f"nvcc.{scenario}", pathlib.Path(ptx).read_text(), launch)


def in_clusters(launch, ctas):
    return json.loads(launch) | {"cluster": ctas}


def collect(given):
    given.folder.mkdir(parents=True, exist_ok=True)
    for path in OWN:
        ptx = ROOT / path
        launch = ptx.with_suffix(".json").read_text()
        keep(given.folder, f"ptx.{ptx.stem}", ptx.read_text(), json.loads(launch))
    # What names say in a cluster: the second CTA's copy is to come to itself.
    keep(given.folder, "ptx.tma_cluster", (ROOT / OWN[0]).read_text(),
         in_clusters((ROOT / OWN[0]).with_suffix(".json").read_text(), 2))
    if given.launches:
        collect_scenarios(given.folder, given.launches[0], given.launches[1:])
    collect_foreign(given.folder)
    print(f"{len(list(given.folder.glob('*.ptx')))} kernels")
    return AGREES


def said_of(warptwin, ptx):
    """The report of one kernel, as JSON; None: it says something else, which is printed."""
    command = [warptwin, "ptx", "run", ptx, "--launch", ptx.with_suffix(".json"), "--on",
               "functional,hw", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=TIMEOUT_S)
        return json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        print(f"{ptx.stem}: {error}", file=sys.stderr)
        return None


def row_of(name, reports):
    """A line of the table, and whether each attempt agrees."""
    compiler, kernel = name.split(".", 1)
    if None in reports:
        return f"| {compiler} | `{kernel}` | no report |", False
    right = all(report["hw"] == "done" and all(b["agrees"] for b in report["buffers"])
                for report in reports)
    kinds = sorted({f"{report['hw']}: {report['said']}" for report in reports
                    if report["hw"] != "done"})
    buffers = sorted({f"`{buffer['buffer']}` {PLACES.sub('', buffer['said'])}"
                      for report in reports for buffer in report["buffers"]})
    said = "; ".join(kinds + buffers) or "it runs; it has no output"
    return f"| {compiler} | `{kernel}` | {said} |", right


def run(given):
    print("| compiler | kernel | what the simulator and the GPU leave |\n|---|---|---|")
    wrong = 0
    for ptx in sorted(given.folder.glob("*.ptx")):
        reports = [said_of(given.warptwin, ptx) for _ in range(given.attempts)]
        if any(report is not None and report["hw"] == "left out" for report in reports):
            print(reports[0]["said"], file=sys.stderr)
            return NO_GPU
        line, right = row_of(ptx.stem, reports)
        wrong += not right
        print(line, flush=True)
    return DIFFERS if wrong else AGREES


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    collecting = commands.add_parser("collect")
    collecting.add_argument("folder", type=pathlib.Path)
    collecting.add_argument("launches", nargs="*", metavar="LAUNCHES SCENARIO=FILE.ptx")
    collecting.set_defaults(do=collect)
    running = commands.add_parser("run")
    running.add_argument("folder", type=pathlib.Path)
    running.add_argument("warptwin")
    running.add_argument("--attempts", type=int, default=1, help="how often each is executed")
    running.set_defaults(do=run)
    given = parser.parse_args()
    return given.do(given)


if __name__ == "__main__":
    sys.exit(main())
