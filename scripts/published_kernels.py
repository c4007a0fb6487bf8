#!/usr/bin/env python3
"""Kernels that others have published with what a GPU did, under `warptwin cuda`.

  published_kernels.py CLONE WARPTWIN [--nvcc NVCC] [--gpu] [NAME...]

CLONE is a clone of https://github.com/zhang677/PTXBench (Apache-2.0): kernels that language models
wrote, of its commit ce95701. Their text is compiled as it stands between our host code in
tests/sim/cuda/published and stays out of this repository. Prints the verdict of each launch.
--gpu runs each program on the GPU of this machine instead, for 20 seconds at most.
"""

import argparse
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOST = ROOT / "tests/sim/cuda/published"
COMMIT = "ce95701ed75a98a0566a329b17f0c323e1711d32"
AGENT = "packages/mini-ptx-agent/"
DEBUG = AGENT + "fib_runtime/multiturn/improve_debug/"
# name: file, architecture, chip, host code, exported function, arguments
KERNELS = {
    "hopper_gemm": (AGENT + "benchmark/correct_kernels/hopper_gemm_n7168_k5120/kernel.cu", "90a",
                    "h200", "gemm", "gemm_cuda::exported_run", "128 256 512"),
    "b200_gemm": (AGENT + "benchmark/correct_kernels/b200_gemm_n7168_k5120/kernel.cu", "100a",
                  "b200", "gemm", "tvm_ffi_gemm::exported_run", "128 128 320"),
    "exp019_gemm": (DEBUG + "trial_turn3_exp019_gemm/kernel.cu", "90a", "h200", "gemm",
                    "tvm_ffi_gemm::exported_run", "64 64 5120"),
    "mha_bwd_0427": (DEBUG + "trial_2026_0427_mha_bwd_d128/kernel.cu", "90a", "h200",
                     "attention_backward", "tvm_ffi_cuda_mha::exported_run", "64 1"),
    "exp001": (DEBUG + "replay_memcheck_timeout_exp001/kernel.cu", "90a", "h200",
               "attention_backward", "mha_bwd_impl::exported_run", "64 1"),
    "exp001_error": (DEBUG + "replay_memcheck_timeout_exp001_original_error/kernel.cu", "90a",
                     "h200", "attention_backward", "mha_bwd_impl::exported_run", "64 1"),
}


def program_of(given, name, folder):
    file, arch, _, host, exported, _ = KERNELS[name]
    text = subprocess.run(["git", "-C", given.clone, "show", f"{COMMIT}:{file}"],
                          capture_output=True, text=True, check=True).stdout
    source = folder / f"{name}.cu"
    source.write_text(f'{text}\n#include "{(HOST / host).relative_to(ROOT)}.cuh"\n\n'
                      f"int main(int, char** words) {{\n"
                      f"  return published::{host}({exported}, words);\n}}\n")
    program = folder / name
    code = f"sm_{arch}" if given.gpu else f"compute_{arch}"
    subprocess.run([given.nvcc, "-std=c++17", "-lineinfo", "-I", HOST, "-I", ROOT, "-gencode",
                    f"arch=compute_{arch},code={code}", "-cudart", "shared", source, "-lcuda",
                    "-o", program], check=True, capture_output=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clone")
    parser.add_argument("warptwin")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(KERNELS))
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_intermixed_args()
    for name in given.names or KERNELS:
        if name not in KERNELS:
            parser.error(f"{name}: there are {', '.join(KERNELS)}")
        with tempfile.TemporaryDirectory() as place:
            command = [program_of(given, name, pathlib.Path(place))]
            if not given.gpu:
                command = [given.warptwin, "cuda", "--chip", KERNELS[name][2], "--", *command]
            print(f"== {name} {KERNELS[name][5]}", flush=True)
            try:
                done = subprocess.run(command + KERNELS[name][5].split(), check=False,
                                      capture_output=True, text=True,
                                      timeout=20 if given.gpu else None)
            except subprocess.TimeoutExpired:
                print("has not ended after 20 s")
                continue
            told = done.stdout.splitlines() + done.stderr.splitlines()
            print("\n".join(line for line in told if line.startswith(
                ("launch ", "CUDA ", "d", "unspecified", "no error"))
                and not line.endswith(":") and not line.startswith("defect")))
            print(f"exit code {done.returncode}")


if __name__ == "__main__":
    main()
