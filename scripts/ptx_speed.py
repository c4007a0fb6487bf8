#!/usr/bin/env python3
"""How fast PTX is executed: the figures of docs/figures.md, by CPU time.

usage: ptx_speed.py BUILD [--runs N] [--large]
BUILD is a build folder with bin/warptwin, bin/hw.ptx_launches and nvcc's PTX of the scenarios.
Prints the least of N runs of each: an arithmetic loop and one that goes to shared memory, both with
all detectors; and gemm_2sm, as the text and as PTX. `--large` adds the proofs of 8192^3.
exit codes: 0, 1 a command failed
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Of a warp. %r9 is the lane's word of a tile.
ARITHMETIC = ["add.s32 %r1, %r1, 1;", "mad.lo.s32 %r2, %r2, 5, %r1;", "xor.b32 %r3, %r2, %r1;",
              "shl.b32 %r4, %r3, 3;", "fma.rn.f32 %f1, %f1, 0f3F7FFFFF, 0f3F800000;",
              "selp.b32 %r5, %r3, %r4, p;", "setp.lt.s32 p, %r1, %r7;", "@p bra L;"]
SHARED = [*ARITHMETIC[:2], "ld.shared.u32 %r10, [%r9];", "add.u32 %r2, %r2, %r10;", ARITHMETIC[2],
          "st.shared.u32 [%r9], %r3;", *ARITHMETIC[3:]]
LARGE = [f"{extent}=8192" for extent in "mnk"]


def kernel(loop):
    return "\n".join([
        ".version 9.0", ".target sm_90a", ".address_size 64",
        ".visible .entry k(.param .u64 out, .param .u32 rounds)", ".reqntid 32", "{",
        "  .shared .align 4 .b32 tile[32];", "  .reg .b32 %r<12>; .reg .f32 %f<2>; .reg .pred p;",
        "  .reg .b64 %rd<3>;", "  ld.param.u64 %rd1, [out];", "  ld.param.u32 %r7, [rounds];",
        "  mov.u32 %r6, %tid.x; mov.b32 %r1, 0; mov.b32 %r2, 7; mov.f32 %f1, 0f3F800000;",
        "  shl.b32 %r8, %r6, 2; mov.u32 %r9, tile; add.u32 %r9, %r9, %r8;",
        "  st.shared.u32 [%r9], %r6;", "  setp.eq.s32 p, %r1, 0;", "L:", *loop,
        "  mul.wide.u32 %rd2, %r6, 4; add.u64 %rd1, %rd1, %rd2;", "  st.global.u32 [%rd1], %r5;",
        "  ret;", "}", ""])


def launch(rounds):
    return {"grid": 1, "block": 32, "parameters": [{"buffer": "out"}, {"value": rounds}],
            "buffers": {"out": {"type": "u32", "shape": [1, 32], "use": "output"}}}


def seconds(command, runs):
    """Of CPU, the least of the runs, and the most memory in MB."""
    least, most = float("inf"), 0
    for _ in range(runs):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(map(str, command))} ends with {os.waitstatus_to_exitcode(status)}")
        least = min(least, used.ru_utime + used.ru_stime)
        most = max(most, used.ru_maxrss / 1024)
    return least, most


def loops(warptwin, folder, runs):
    for name, loop, rounds in (("arithmetic", ARITHMETIC, 1_000_000),
                               ("with shared memory", SHARED, 40_000)):
        (folder / "k.ptx").write_text(kernel(loop))
        taken = []
        for count in (1, rounds):
            (folder / "k.json").write_text(json.dumps(launch(count)))
            taken.append(seconds([warptwin, "ptx", "run", folder / "k.ptx", "--launch",
                                  folder / "k.json"], runs)[0])
        rate = rounds * len(loop) / (taken[1] - taken[0]) / 1e6
        print(f"{name}, all detectors: {rate:.1f} million instructions of a warp a second")


def ptx_of(build, scenario, arch):
    """The PTX that the build made of a scenario."""
    made = f"scenarios/warptwin_scenarios/ptx/CMakeFiles/ptx_{scenario}_{arch}.dir"
    (path,) = build.glob(f"{made}/**/{scenario}.ptx")
    return path


def gemm(warptwin, build, folder, runs):
    subprocess.run([build / "bin/hw.ptx_launches", folder], check=True)
    ptx = ptx_of(build, "gemm_2sm", "100a")
    of_ptx, _ = seconds([warptwin, "ptx", "run", ptx, "--launch", folder / "gemm_2sm.json"], runs)
    of_text, _ = seconds([warptwin, "run", "gemm_2sm"], runs)
    print(f"gemm_2sm: text {of_text:.2f} s, PTX {of_ptx:.2f} s, {of_ptx / of_text:.2f} times")


def large(warptwin, build, folder):
    subprocess.run([build / "bin/hw.ptx_launches", folder, *LARGE], check=True)
    for scenario, arch in (("gemm_persistent", "100a"), ("gemm_wgmma", "90a")):
        ptx = ptx_of(build, scenario, arch)
        taken, memory = seconds([warptwin, "ptx", "prove", ptx, "--launch",
                                 folder / f"{scenario}.json", "--control-only"], 1)
        print(f"{scenario} at 8192^3, sm_{arch}: proved in {taken:.1f} s, {memory:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    warptwin = given.build / "bin/warptwin"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        loops(warptwin, folder, given.runs)
        gemm(warptwin, given.build, folder, given.runs)
        if given.large:
            large(warptwin, given.build, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
