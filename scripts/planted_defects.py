#!/usr/bin/env python3
"""Plants defects in CUDA programs, one line each, and writes the table of what is found.

usage: planted_defects.py WARPTWIN NVCC [CUTLASS]

Programs are copied, a line of the copy is changed, and what nvcc makes of it is run by
'warptwin cuda'. They are those of tests/sim/cuda/programs; and where CUTLASS names a checkout of
github.com/NVIDIA/cutlass, its test of the sequence barrier, which GoogleTest is needed for. Each
program is run unchanged, too. Exit code 1: some defect was not found by its id, or something was
found in a program that is unchanged.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ROOT / "tests" / "sim" / "cuda" / "programs"
UNIT = pathlib.Path("test", "unit")
PIPELINES = pathlib.Path("include", "cutlass", "pipeline", "sm90_pipeline.hpp")
SEQUENCE = UNIT / "pipeline" / "sequence_barrier.cu"

# Of each program: what is planted, what a line has, what it has then, and an id that is found.
PLANTED = {
    "pipeline": [
        ("a count", "FAULT == COUNT ?", "true ?", "MBAR_UNDERARRIVE"),
        ("a parity", "FAULT == PARITY ?", "true ?", "DEADLOCK"),
        ("no fence", "ptx::fence_proxy_async(", "// (", "PROXY_FENCE_MISSING_WAR"),
        ("an early exit", "FAULT == EXIT && warp", "warp", "MBAR_UNDERARRIVE"),
        ("too few bytes", "sizeof tiles[0]);", "sizeof tiles[0] - 16);", "MBAR_TX_MISMATCH"),
        ("no wait", "    wait(&full[stage],", "    (void)(", "SMEM_RAW_NO_WAIT"),
    ],
    "reduction": [("no barrier", "#ifndef FAULT\n    __syncthreads();", "#if 1", "SMEM_RACE")],
    "dependent": [("no wait", "cudaGridDependencySynchronize();", "", "PDL_MISSING_WAIT")],
    "gemm": [
        ("no wait for the launch before", "#if FAULT != WAIT", "#if 0", "PDL_MISSING_WAIT"),
        ("a release to one CTA", "define FAULT 0", "define FAULT RELEASE", "SMEM_WAW_ASYNC"),
        ("too few bytes", "FAULT == BYTES ?", "true ?", "MBAR_TX_MISMATCH"),
        ("an early exit", "#if FAULT != EXIT", "#if 0", "REMOTE_TO_EXITED_CTA"),
    ],
    "orders": [("no event", 'fault != "EVENT"', "false", "STREAM_RACE")],
}
# Either of the two barriers behind the setup would do.
MEETING = (
    "  __syncthreads();\n  cute::cluster_arrive_relaxed();  \n  cute::cluster_wait();\n"
)
# The same of CUTLASS, with the file.
PLANTED_IN_CUTLASS = [
    ("a count", PIPELINES, "].init(params.group_size)", "].init(1000)", "MBAR_UNDERARRIVE"),
    ("a parity", PIPELINES, "({0, params.group_id == 0, 0})", "({0, false, 0})", "DEADLOCK"),
    ("an early exit", SEQUENCE, "< num_iterations", "+ group_idx < num_iterations", "DEADLOCK"),
    ("no barrier", SEQUENCE, MEETING, "", "MBAR_INIT_RACE"),
]


def compiled(nvcc, source, program, options):
    # PTX alone: machine code is not simulated, and takes as long again.
    command = [nvcc, "-std=c++20", "-gencode", "arch=compute_90a,code=compute_90a", "-lineinfo"]
    command += ["-cudart", "shared", "-w", *options, str(source), "-o", str(program)]
    subprocess.run(command, check=True)


def patched(original, copy, old, new):
    """Writes the copy, with the first line that has `old` changed."""
    text = original.read_text(encoding="utf-8")
    if old not in text:
        sys.exit(f"{original}: no line has '{old}' any more")
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text.replace(old, new, 1), encoding="utf-8")


def ids_of(warptwin, program, folder):
    """The ids that are found, and how long it took."""
    report_file = folder / "report.json"
    report_file.unlink(missing_ok=True)
    began = time.monotonic()
    command = [warptwin, "cuda", "--chip", "h200", "--first", "1", "--json", str(report_file)]
    subprocess.run([*command, "--", str(program)], capture_output=True, check=False)
    seconds = time.monotonic() - began
    report = json.loads(report_file.read_text(encoding="utf-8"))
    found = {finding["id"] for launch in report["launches"] for finding in launch["findings"]}
    return found | {race["id"] for race in report["streams"]}, seconds


def ours(nvcc, folder):
    """(program, what is planted, the id, what runs) of the programs of this repository."""
    for name, rows in PLANTED.items():
        original = OURS / f"{name}.cu"
        for what, old, new, wanted in [("nothing", "", "", None), *rows]:
            copy = folder / f"{name}.cu"
            patched(original, copy, old, new)
            compiled(nvcc, copy, folder / name, ["-I", str(ROOT)])
            yield name, what, wanted, folder / name


def cutlass(nvcc, folder, checkout):
    """The same of CUTLASS's test: what is changed is found in front of the checkout's own."""
    options = ["--expt-relaxed-constexpr", "-DCUTLASS_ENABLE_TENSOR_CORE_MMA=1"]
    folders = ["include", "tools/util/include", UNIT, UNIT / "common", SEQUENCE.parent]
    theirs = [option for each in folders for option in ("-I", str(checkout / each))]
    objects = []  # what all copies have in common
    for each in [UNIT / "test_unit.cpp", UNIT / "common" / "filter_architecture.cpp"]:
        objects.append(str(folder / f"{each.stem}.o"))
        compiled(nvcc, checkout / each, objects[-1], [*options, *theirs, "-c"])
    for what, file, old, new, wanted in [("nothing", SEQUENCE, "", "", None), *PLANTED_IN_CUTLASS]:
        with tempfile.TemporaryDirectory(dir=folder) as copies:
            copy = pathlib.Path(copies)
            patched(checkout / SEQUENCE, copy / "test" / SEQUENCE.name, "", "")
            # Whole, for headers beside it include it without its folder.
            shutil.copytree(checkout / PIPELINES.parent, copy / PIPELINES.parent)
            target = "test" / pathlib.Path(SEQUENCE.name) if file == SEQUENCE else file
            patched(checkout / file, copy / target, old, new)
            first = ["-I", str(copy / "include")]
            source = copy / "test" / SEQUENCE.name
            every = [*options, *first, *theirs, *objects, "-lgtest"]
            compiled(nvcc, source, folder / "cutlass", every)
        yield SEQUENCE.stem, what, wanted, folder / "cutlass"


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    warptwin, nvcc = arguments[:2]
    right = True
    print("| program | planted | found | s |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = [ours(nvcc, folder)]
        if len(arguments) == 3:
            rows.append(cutlass(nvcc, folder, pathlib.Path(arguments[2]).resolve()))
        for program, what, wanted, runs in (each for group in rows for each in group):
            found, seconds = ids_of(warptwin, runs, folder)
            right &= wanted in found if wanted else not found
            ids = ", ".join(sorted(found)) or "-"
            print(f"| {program} | {what} | {ids} | {seconds:.2f} |", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
