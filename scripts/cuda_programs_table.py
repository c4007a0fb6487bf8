#!/usr/bin/env python3
"""Writes the table of docs/cuda-programs.md: what is said of CUDA programs, and what it costs.

usage: cuda_programs_table.py WARPTWIN NVCC [PROGRAM...]

Compiles the programs of tests/sim/cuda/programs, as they are and with their planted defects, and
runs each under 'warptwin cuda'. Programs that are named are run instead, as they were compiled.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "sim" / "cuda" / "programs"
OURS = [
    ("vector_add", []),
    ("reduction", ["", "FAULT"]),
    ("streams", []),
    ("driver", []),
    ("threads", []),
    ("pointers", ["", "FAULT"]),
    ("cluster", ["", "FAULT"]),
    ("dependent", ["", "FAULT"]),
    ("maps", ["", "FAULT=ACQUIRE", "FAULT=SYNC", "FAULT=LANES"]),
    ("grid", ["", "FAULT=MEET", "FAULT=ASSERT"]),
    ("pipeline", ["", "FAULT=COUNT", "FAULT=PARITY", "FAULT=FENCE", "FAULT=EXIT"]),
]


def compiled(nvcc, folder):
    """(what the table calls it, the program) of each of ours."""
    for name, defects in OURS:
        source = PROGRAMS / f"{name}.cu"
        links = ["-cudart", "shared"]
        if not source.exists():
            source = PROGRAMS / f"{name}.cpp"
            links = ["-cudart", "none", "-lcuda"]
        for defect in defects or [""]:
            program = pathlib.Path(folder) / (name + defect.replace("=", "_"))
            options = ["-D" + defect] if defect else []
            command = [nvcc, "-std=c++20", "-arch=sm_90a", "-lineinfo", "-I", str(ROOT), *links]
            command += [*options, str(source), "-o", str(program)]
            subprocess.run(command, check=True)
            yield name + (f", {defect}" if defect else ""), str(program)


def row(warptwin, name, program, folder):
    report_file = pathlib.Path(folder) / "report.json"
    began = time.monotonic()
    command = [warptwin, "cuda", "--chip", "h200", "--json", str(report_file), "--", program]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - began
    report = json.loads(report_file.read_text())
    launches = report["launches"]
    verdicts = {}
    for launch in launches:
        verdicts[launch["verdict"]] = verdicts.get(launch["verdict"], 0) + 1
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    found = sorted({finding["id"] for launch in launches for finding in launch["findings"]})
    kernels = len({launch["kernel"] for launch in launches})
    cells = [name, kernels, len(launches), said or "none", ", ".join(found) or "-"]
    cells += [f"{seconds:.2f}", usage.ru_maxrss // 1024]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    warptwin, nvcc, *programs = arguments
    print("| program | kernels | launches | verdicts | findings | s | MiB |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        named = [(pathlib.Path(program).name, program) for program in programs]
        for name, program in named or compiled(nvcc, folder):
            print(row(warptwin, name, program, folder), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
