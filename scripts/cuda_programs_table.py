#!/usr/bin/env python3
"""Writes the table of docs/cuda-programs.md: what is said of CUDA programs, and what it costs.

usage: cuda_programs_table.py WARPTWIN NVCC [OPTION...] [PROGRAM...]

Compiles the programs of tests/sim/cuda/programs, as they are and with their planted defects, and
runs each under 'warptwin cuda'. Programs that are named are run instead, as they were compiled.
With --rates the table is of how many instructions of threads are executed a second, by launches
that are run and not judged.
"""

import argparse
import json
import os
import pathlib
import subprocess
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
    ("memory", []),
    ("orders", []),
    ("cluster", ["", "FAULT"]),
    ("dependent", ["", "FAULT"]),
    ("gemm", ["", "FAULT=WAIT", "FAULT=RELEASE", "FAULT=BYTES", "FAULT=EXIT"]),
    ("maps", ["", "FAULT=ACQUIRE", "FAULT=SYNC", "FAULT=LANES"]),
    ("grid", ["", "FAULT=MEET", "FAULT=ASSERT"]),
    ("im2col", []),
    ("bulk_reductions", []),
    ("pipeline", ["", "FAULT=COUNT", "FAULT=PARITY", "FAULT=FENCE", "FAULT=EXIT"]),
    ("block_pipeline", [""]),
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
            command = [nvcc, "-std=c++20", "-gencode", "arch=compute_90a,code=compute_90a"]
            command += ["-lineinfo", "-I", str(ROOT), *links]
            command += [*options, str(source), "-o", str(program)]
            subprocess.run(command, check=True)
            yield name + (f", {defect}" if defect else ""), str(program)


def ran(options, program, folder):
    """The report of a program, its seconds, those of CPU, and its MiB."""
    report_file = pathlib.Path(folder) / "report.json"
    began = time.monotonic()
    command = [options.warptwin, "cuda", "--chip", options.chip, "--json", str(report_file)]
    command += ["--first", str(options.first)]
    command += ["--policy", "record", "--measure", "never"] if options.rates else []
    command += options.options
    command += ["--", program, *options.arguments]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    report = json.loads(report_file.read_text())
    of_cpu = usage.ru_utime + usage.ru_stime
    return report, time.monotonic() - began, of_cpu, usage.ru_maxrss // 1024


def row(options, name, program, folder):
    report, seconds, of_cpu, memory = ran(options, program, folder)
    launches = report["launches"]
    verdicts = {}
    for launch in launches:
        verdicts[launch["verdict"]] = verdicts.get(launch["verdict"], 0) + 1
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    found = {finding["id"] for launch in launches for finding in launch["findings"]}
    found |= {race["id"] for race in report["streams"]}
    kernels = len({launch["kernel"] for launch in launches})
    cells = [name, kernels, len(launches), said or "none", ", ".join(sorted(found)) or "-"]
    return [*cells, f"{seconds:.2f}", f"{of_cpu:.2f}", memory]


def rate(options, name, program, folder):
    report, _, of_cpu, _ = ran(options, program, folder)
    launches = report["launches"]
    instructions = sum(launch["thread_instructions"] for launch in launches)
    millions = instructions / max(of_cpu, 1e-9) / 1e6
    return [name, len(launches), instructions, f"{of_cpu:.2f}", f"{millions:.1f}"]


def main():
    parser = argparse.ArgumentParser(description="The table of docs/cuda-programs.md.")
    parser.add_argument("warptwin")
    parser.add_argument("nvcc")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--chip", default="h200")
    parser.add_argument("--first", type=int, default=0, help="as of 'warptwin cuda'")
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("--options", default="", type=str.split, help="more of 'warptwin cuda'")
    parser.add_argument("--arguments", default="", type=str.split, help="of each program")
    options = parser.parse_intermixed_args()
    heads = ["program", "kernels", "launches", "verdicts", "findings", "s", "s of CPU", "MiB"]
    if options.rates:
        heads = ["program", "launches", "instructions of threads", "s of CPU", "million a second"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    with tempfile.TemporaryDirectory() as folder:
        named = [(pathlib.Path(program).name, program) for program in options.programs]
        for name, program in named or compiled(options.nvcc, folder):
            cells = (rate if options.rates else row)(options, name, program, folder)
            print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
