#!/usr/bin/env python3
"""Kernels of our own in CuTe DSL, as it compiles them: what warptwin says of them.

usage: cute_test.py WARPTWIN
Each kernel is proved, and computes what NumPy does where that is there. Each edit of one line is
found by its id.
WARPTWIN_CUTE_PYTHON names another interpreter than this one to import cutlass.
exit codes: 0 right, 1 wrong, 77 skipped: that interpreter has no CuTe DSL with its pipelines
"""

import os
import sys

from foreign import HERE, SKIPPED, Case, buffer, judge, run

STAGES = 3
# By kernel: rows of c, columns of c, k, CTAs, threads, the tiles' rows of a and of b in a CTA, and
# the bytes of its first parameter.
KERNELS = {
    "single_sm100": (128, 64, 320, 1, 192, 128, 64, 32),
    "pair_sm100": (256, 64, 320, 2, 192, 128, 32, 64),
    "shared_sm90": (128, 64, 320, 2, 160, 64, 64, 1),
    "turns_sm90": (256, 64, 128, 1, 288, 64, 64, 1),
}

# Of a kernel: the line that is edited, which of those that match, what becomes of it, the id.
MUTANTS = [
    ("single_sm100", r"mbarrier\.arrive\.expect_tx.*", 0, "", "DEADLOCK"),
    ("single_sm100", r"mov\.b32(.*), 24576;", 0, r"mov.b32\1, 24560;", "DEADLOCK"),
    ("single_sm100", r"bar\.sync\s+1, 160;", 0, "", "TMEM_ADDR_READ_EARLY"),
    ("single_sm100", r"tcgen05\.commit.*", 0, "", "DEADLOCK"),
    ("single_sm100", r"tcgen05\.commit.*", 1, "", "DEADLOCK"),
    ("single_sm100", r"tcgen05\.wait::ld.*", 0, "", "TMEM_DEALLOC_IN_USE"),
    ("single_sm100", r"bar\.sync\s+2, 128;", 0, "", "TMEM_DEALLOC_IN_USE"),
    ("single_sm100", r"tcgen05\.dealloc.*", 0, "", "TMEM_LEAK"),
    ("pair_sm100", r"barrier\.cluster\.wait;", 1, "", "MBAR_INIT_NOT_CLUSTER_VISIBLE"),
    ("pair_sm100", r"barrier\.cluster\.wait;", 2, "", "TCGEN05_PEER_NOT_READY"),
    ("pair_sm100", r"mov\.b32(.*), 256;", 0, r"mov.b32\1, 128;", "ORDER_CONTRIBUTOR"),
    ("pair_sm100", r"mbarrier\.arrive\.shared::cluster", 0, "mbarrier.arrive.shared::cta",
     "MBAR_SPACE"),
    ("pair_sm100", r"mbarrier\.arrive\.shared::cluster.*", 1, "", "DEADLOCK"),
    ("shared_sm90", r"fence\.mbarrier_init.*", 0, "", "MBAR_INIT_NOT_CLUSTER_VISIBLE"),
    ("shared_sm90", r"barrier\.cluster\.wait;", 0, "", "DSMEM_BEFORE_START"),
    ("shared_sm90", r"wgmma\.fence.*", 0, "", "WGMMA_FENCE_MISSING"),
    ("shared_sm90", r"wgmma\.wait_group\S*\s+1", 0, "wgmma.wait_group.sync.aligned 2",
     "WGMMA_SMEM_RELEASE_EARLY"),
    ("shared_sm90", r"wgmma\.wait_group\S*\s+0", 0, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_ACC_READ_EARLY"),
    ("shared_sm90", r"mbarrier\.arrive\.shared::cluster", 1, "mbarrier.arrive.shared::cta",
     "MBAR_SPACE"),
    ("shared_sm90", r"mbarrier\.arrive\.expect_tx.*", 0, "", "DEADLOCK"),
    ("turns_sm90", r"bar\.arrive 2, 256;", 0, "", "DEADLOCK"),
    ("turns_sm90", r"bar\.arrive 2, 256;", 0, "bar.arrive 3, 256;", "DEADLOCK"),
    ("turns_sm90", r"bar\.sync\s+\S+, 256;", 0, "", "ORDER_LOOK"),
    ("turns_sm90", r"bar\.sync\s+0;", 0, "", "MBAR_UNINIT"),
    ("turns_sm90", r"wgmma\.wait_group\S*\s+0", 0, "", "WGMMA_SMEM_RELEASE_EARLY"),
]


def case(name):
    m, n, k, ctas, threads, a_rows, b_rows, flag_bytes = KERNELS[name]
    b_box = 32 if name == "shared_sm90" else b_rows  # each CTA loads half, for both
    launch = {
        "grid": ctas,
        "block": threads,
        "cluster": ctas,
        # The mbarriers come before the tiles.
        "dynamic_shared_bytes": 1024 + STAGES * (a_rows + b_rows) * 64 * 2,
        "buffers": {"a": buffer("f16", [m, k], "input"), "b": buffer("f16", [n, k], "input"),
                    "c": buffer("f32", [m, n], "output")},
        "maps": {"am": {"buffer": "a", "box": [a_rows, 64], "swizzle": 128},
                 "bm": {"buffer": "b", "box": [b_box, 64], "swizzle": 128}},
        # The instruction's flags and the lanes whose results are not written: none.
        "parameters": [{"bytes": "00" * flag_bytes}, {"map": "am"}, {"map": "bm"}, {"buffer": "c"}],
    }
    return Case(launch, lambda given: ("c", given["a"] @ given["b"].T))


def compiled_cases(python):
    def compiled(folder):
        for name in KERNELS:
            made = run(python, "-B", HERE / "cute_kernels.py", folder, name)
            if made.returncode != 0:
                sys.exit(made.stdout[-2000:] + made.stderr[-2000:])
        return {name: case(name) for name in KERNELS}

    return compiled


def main():
    python = os.environ.get("WARPTWIN_CUTE_PYTHON", sys.executable)
    if run(python, "-c", "from cutlass.memory import TmemAllocator").returncode != 0:
        print(f"skipped: {python} has no CuTe DSL")
        return SKIPPED
    return judge(sys.argv[1], compiled_cases(python), MUTANTS)


if __name__ == "__main__":
    sys.exit(main())
