#!/usr/bin/env python3
"""nvcc's PTX of every clean scenario, in the simulator: proved, the results agree with the
reference, its outputs are those of the text, bit for bit, and its protocol trace is the text's.

  ptx_launches_test.py WARPTWIN LAUNCHES SCENARIO=FILE.ptx...

LAUNCHES is a program that writes the launch files to a folder.
"""

import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile


# nvcc makes one rounding of a * b + c, and takes ex2.approx: these are held to the reference alone.
CONTRACTED = {"gemm_blockwise_fp8", "gemm_blockwise_fp8_persistent", "gemm_grouped_1d2d",
              "gemm_grouped_1d2d_persistent", "gemm_swiglu", "gemm_swiglu_2sm", "gemm_swiglu_clc",
              "gemm_swiglu_multicast", "gemm_swiglu_persistent", "gemm_swiglu_quantised",
              "gemm_swiglu_quantised_2sm", "gemm_swiglu_quantised_clc",
              "gemm_swiglu_quantised_multicast", "gemm_swiglu_quantised_persistent"}
# What the warps do depends on the data: without any, a trace is of one of the two ways.
DECIDED_BY_DATA = {"attention", "attention_2sm", "attention_clc", "attention_persistent"}
# And these claim tiles, so that a proof with data is not there: they are run, and compared.
NOT_PROVED = {"attention_clc", "attention_persistent"}
# Each order of the tiles that a cluster may claim is executed, with data: where the launch's own
# size takes seconds, a smaller one is checked. Their text is proved at its own sizes.
SMALLER = [
    (["m=256", "n=256", "k=512"],
     {"gemm_blockwise_fp8_persistent", "gemm_clc_transposed", "gemm_epilogue_load_clc",
      "gemm_epilogue_load_persistent", "gemm_fused_clc", "gemm_fused_persistent",
      "gemm_sparse_persistent", "gemm_swiglu_clc", "gemm_swiglu_persistent",
      "gemm_swiglu_quantised_clc", "gemm_swiglu_quantised_persistent"}),
    (["m=512", "n=256", "k=512"],
     {"gemm_persistent", "gemm_persistent_mn", "gemm_persistent_mn_b", "gemm_persistent_prefetch",
      "gemm_persistent_stmatrix", "gemm_persistent_transposed", "gemm_persistent_warp_stores"}),
    (["groups=3", "m=200", "k=128"],
     {"gemm_grouped_gather_persistent", "gemm_grouped_maps_persistent", "gemm_mixed_input_clc"}),
    (["m2=70", "m3=0"], {"gemm_grouped_1d1d_persistent", "gemm_grouped_persistent"}),
    (["images=2", "height=8"], {"conv2d_fprop_clc", "conv2d_im2col_clc"}),
]
# Main loops for measuring leave nothing behind.
WITHOUT_OUTPUT = {"mainloop", "mainloop_fp8", "mainloop_wgmma"}


def said_by(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return result.returncode, result.stdout + result.stderr


def problem_of(warptwin, launches, work, scenario, ptx):
    """What is wrong with the PTX of a scenario; empty where nothing is."""
    launch = ["--ptx", ptx, "--launch", str(launches / f"{scenario}.json")]
    code, said = said_by([warptwin, "check", *launch])
    if scenario in NOT_PROVED:
        if code != 2 or "what is executed next depends on" not in said:
            return f"check ends with {code}:\n{said}"
        code, said = said_by([warptwin, "run", *launch])
        if code != 0:
            return f"run ends with {code}:\n{said}"
    elif code != 0 or f"{scenario}: proved:" not in said:
        return f"check ends with {code}:\n{said}"
    if scenario in DECIDED_BY_DATA:
        code, refusal = said_by([warptwin, "prove", *launch, "--control-only"])
        if code != 2 or "what is executed next depends on" not in refusal:
            return f"prove --control-only ends with {code}:\n{refusal}"
    outputs = re.findall(r"^output (\w+): agrees", said, re.MULTILINE)
    if not outputs and scenario not in WITHOUT_OUTPUT:
        return f"no output was compared:\n{said}"
    # The text is executed at the sizes that the PTX is compiled for.
    sizes = json.loads((launches / f"{scenario}.json").read_text(encoding="utf-8"))["set"]
    text = [scenario] + [f"--set={name}={value}" for name, value in sizes.items()]
    files = {}
    for kind, of in (("text", text), ("ptx", launch)):
        out = [f"{name}={work / f'{scenario}.{kind}.{name}.npy'}" for name in outputs]
        command = [warptwin, "run", *of]
        for each in out:
            command += ["--out", each]
        code, said = said_by(command)
        if code != 0:
            return f"run of the {kind} ends with {code}:\n{said}"
        files[kind] = [pathlib.Path(each.split("=", 1)[1]).read_bytes() for each in out]
    if files["text"] != files["ptx"] and scenario not in CONTRACTED:
        return "the outputs are not those of the text"
    traces = [str(work / f"{scenario}.{kind}.trace") for kind in ("text", "ptx")]
    for trace, of in zip(traces, (text, launch)):
        values = ["--values"] if scenario in DECIDED_BY_DATA else []
        code, said = said_by([warptwin, "trace", *of, *values, "--to", trace])
        if code != 0:
            return f"trace ends with {code}:\n{said}"
    code, said = said_by([warptwin, "compare", *traces])
    return "" if code == 0 else f"the traces differ:\n{said}"


def main(warptwin, program, rows):
    with tempfile.TemporaryDirectory() as place:
        work = pathlib.Path(place)
        places = {}
        for number, (settings, names) in enumerate([([], set()), *SMALLER]):
            folder = work / str(number)
            folder.mkdir()
            subprocess.run([program, folder, *settings], check=True, timeout=60)
            places.update(dict.fromkeys(names, folder))
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            pending = {
                scenario: pool.submit(
                    problem_of, warptwin, places.get(scenario, work / "0"), work, scenario, ptx
                )
                for scenario, ptx in (row.split("=", 1) for row in rows)
            }
        problems = {scenario: each.result() for scenario, each in pending.items()}
    for scenario, problem in problems.items():
        if problem:
            print(f"{scenario}: {problem}")
    print(f"{list(problems.values()).count('')} of {len(problems)} scenarios' PTX as their text")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
