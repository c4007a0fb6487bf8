#!/usr/bin/env python3
"""Kernels that others have published, under `warptwin cuda`.

  published_kernels.py CLONES WARPTWIN [--nvcc NVCC] [--gpu] [NAME...]

CLONES is a folder with clones of the repositories of SUITES, each by its own name: the commits that
docs/cuda-programs.md speaks of are taken from them. Their text is compiled as it stands, but for
sizes in ThunderKittens' `main`: PTXBench's, by language models, and that of DeepGEMM and
FlashAttention-3 between host code of our own in tests/sim/cuda/published, which computes what they
should. It stays out of this repository. Prints the verdict of each launch. A name may be a
beginning of several. --gpu runs each program on the GPU of this machine, for 20 seconds at most.
"""

import argparse
import pathlib
import subprocess
import tempfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOST = ROOT / "tests/sim/cuda/published"


class Suite(NamedTuple):
    """A repository: its commit, what is taken of it, and flags, in which @ is where it lies."""
    commit: str
    folders: str
    flags: str
    needs: tuple = ()


SUITES = {
    "PTXBench": Suite("ce95701ed75a98a0566a329b17f0c323e1711d32",
                      "packages/mini-ptx-agent/benchmark/correct_kernels "
                      "packages/mini-ptx-agent/fib_runtime/multiturn",
                      "-std=c++17"),
    "cutlass": Suite("7107b05535f8977f5ecb9d01ee203205b1fd9bc4", "include tools/util/include",
                     "-I @/include -I @/tools/util/include"),
    "DeepGEMM": Suite("54e22612409371d6364144b69086735beb54e98b", "deep_gemm/include",
                      "-std=c++20 --expt-relaxed-constexpr -I @/deep_gemm/include", ("cutlass",)),
    "flash-attention": Suite("0251105a2fb19d2957484b7f023cd8c115286ced", "hopper",
                             "-std=c++20 --expt-relaxed-constexpr -I @/hopper", ("cutlass",)),
    "ThunderKittens": Suite("0b55588d2769dde0c7a9a606ffc015b0ca7a9551",
                            "include prototype kernels/gemm",
                            "-std=c++20 --use_fast_math --expt-extended-lambda "
                            "--expt-relaxed-constexpr -DNDEBUG -I @/include -I @/prototype"),
}


class Program(NamedTuple):
    suite: str
    source: str  # of the suite, or of our host code
    architecture: str
    chip: str
    flags: str = ""
    arguments: str = ""
    options: str = ""  # of `warptwin cuda`
    host: tuple = ()  # of PTXBench: host code, and the function that it takes
    edits: tuple = ()  # of sizes: file, text, other text, ...


AGENT = "packages/mini-ptx-agent/"
DEBUG = AGENT + "fib_runtime/multiturn/improve_debug/"
CORRECT = AGENT + "benchmark/correct_kernels/"


def gemm_of(kind, tile, multicast=1, on_a="false"):
    return Program("DeepGEMM", "deep_gemm_sm90.cu", "90a", "h200",
                   f"-DKIND={kind} -DTILE_M={tile} -DMULTICAST={multicast} -DON_A={on_a}",
                   options="--policy prove")


def gemm_of_sm100(kind, pair):
    return Program("DeepGEMM", "deep_gemm_sm100.cu", "100a", "b200",
                   f"-DKIND={kind} -DPAIR={pair}", options="--policy prove")


def attention(head, causal, cluster, ctas, queries, keys):
    return Program("flash-attention", "flash_attention.cu", "90a", "h200",
                   f"-DHEAD={head} -DCAUSAL={causal} -DCLUSTER={cluster} -DCTAS={ctas} "
                   f"-DQUERIES={queries} -DKEYS={keys}", options="--policy prove")


def kittens(source, architecture, chip, *edits):
    generation = "HOPPER" if architecture == "90a" else "BLACKWELL"
    return Program("ThunderKittens", f"kernels/gemm/{source}", architecture, chip,
                   f"-DKITTENS_{generation}", edits=edits, options="--first 1 --policy record "
                   "--policy check:*matmul* --policy check:*prototype* --policy check:*6kernel*")


def level(number, architecture, chip, folder, text, other):
    return kittens(f"{folder}/level_0{number}.cu", architecture, chip,
                   f"kernels/gemm/{folder}/launch.cu", text, other)


PROGRAMS = {
    "hopper_gemm": Program("PTXBench", CORRECT + "hopper_gemm_n7168_k5120/kernel.cu", "90a", "h200",
                           arguments="128 256 512", host=("gemm", "gemm_cuda::exported_run")),
    "b200_gemm": Program("PTXBench", CORRECT + "b200_gemm_n7168_k5120/kernel.cu", "100a", "b200",
                         arguments="128 128 320", host=("gemm", "tvm_ffi_gemm::exported_run")),
    "exp019_gemm": Program("PTXBench", DEBUG + "trial_turn3_exp019_gemm/kernel.cu", "90a", "h200",
                           arguments="64 64 5120", host=("gemm", "tvm_ffi_gemm::exported_run")),
    "mha_bwd_0427": Program("PTXBench", DEBUG + "trial_2026_0427_mha_bwd_d128/kernel.cu", "90a",
                            "h200", arguments="64 1",
                            host=("attention_backward", "tvm_ffi_cuda_mha::exported_run")),
    "exp001": Program("PTXBench", DEBUG + "replay_memcheck_timeout_exp001/kernel.cu", "90a",
                      "h200", arguments="64 1",
                      host=("attention_backward", "mha_bwd_impl::exported_run")),
    "exp001_error": Program("PTXBench",
                            DEBUG + "replay_memcheck_timeout_exp001_original_error/kernel.cu",
                            "90a", "h200", arguments="64 1",
                            host=("attention_backward", "mha_bwd_impl::exported_run")),
    "sm90_bf16_gemm_64": gemm_of("bf16", 64),
    "sm90_bf16_gemm_128": gemm_of("bf16", 128),
    "sm90_bf16_gemm_multicast_a": gemm_of("bf16", 128, 2, "true"),
    "sm90_bf16_gemm_multicast_b": gemm_of("bf16", 128, 2),
    "sm90_fp8_gemm_1d1d": gemm_of("scaled_by_rows", 128),
    "sm90_fp8_gemm_1d1d_multicast_b": gemm_of("scaled_by_rows", 128, 2),
    "sm90_fp8_gemm_1d2d": gemm_of("scaled_by_blocks", 128),
    "sm90_fp8_gemm_1d2d_multicast_a": gemm_of("scaled_by_blocks", 128, 2, "true"),
    **{f"sm90_{kind}": Program("DeepGEMM", "deep_gemm_others.cu", "90a", "h200", f"-DKIND={kind}",
                               options="--policy prove")
       for kind in ("masked", "contiguous", "prenorm", "summed")},
    "sm100_bf16_gemm": gemm_of_sm100("bf16", 1),
    "sm100_bf16_gemm_pair": gemm_of_sm100("bf16", 2),
    "sm100_fp8_gemm": gemm_of_sm100("fp8", 1),
    "sm100_fp8_gemm_pair": gemm_of_sm100("fp8", 2),
    "attention_causal_128": attention(128, "true", 1, 1, 512, 512),
    "attention_causal_128_ctas_2": attention(128, "true", 1, 2, 512, 512),
    "attention_causal_64": attention(64, "true", 1, 1, 384, 512),
    "attention_128": attention(128, "false", 1, 1, 256, 704),
    "attention_128_cluster": attention(128, "false", 2, 2, 512, 704),
    "attention_64": attention(64, "false", 1, 1, 384, 768),
    "attention_backward": Program("flash-attention", "flash_attention_backward.cu", "90a", "h200",
                                  arguments="256 1", options="--policy prove"),
    **{f"educational_h100_{number}": level(number, "90a", "h200", "educational_h100", "N = 4096;",
                                           "N = 256;") for number in range(4, 9)},
    **{f"educational_b200_{number}": level(number, "100a", "b200", "educational_b200", "(4096)",
                                           "(512)") for number in range(5, 10)},
}


def taken(given, name, folder):
    """A suite's files, below `folder`, at its commit."""
    place = folder / name
    place.mkdir(exist_ok=True)
    suite = SUITES[name]
    archive = subprocess.run(["git", "-C", pathlib.Path(given.clones) / name, "archive",
                              suite.commit, *suite.folders.split()],
                             capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", place], input=archive, check=True)
    return place


def program_of(given, name, folder):
    row = PROGRAMS[name]
    place = taken(given, row.suite, folder)
    flags = SUITES[row.suite].flags.replace("@", str(place)).split()
    for other in SUITES[row.suite].needs:
        flags += SUITES[other].flags.replace("@", str(taken(given, other, folder))).split()
    source = HOST / row.source if (HOST / row.source).exists() else place / row.source
    if row.host:
        host, exported = row.host
        text = source.read_text()
        source = folder / f"{name}.cu"
        source.write_text(f'{text}\n#include "tests/sim/cuda/published/{host}.cuh"\n\n'
                          f"int main(int, char** words) {{\n"
                          f"  return published::{host}({exported}, words);\n}}\n")
    for file, text, other in zip(*[iter(row.edits)] * 3):
        whole = (place / file).read_text()
        assert text in whole, (file, text)
        (place / file).write_text(whole.replace(text, other))
    program = folder / name
    code = f"sm_{row.architecture}" if given.gpu else f"compute_{row.architecture}"
    subprocess.run([given.nvcc, *flags, *row.flags.split(), "-w", "-lineinfo", "-I", HOST, "-I",
                    ROOT, "-gencode", f"arch=compute_{row.architecture},code={code}", "-cudart",
                    "shared", source, "-lcuda", "-o", program], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones")
    parser.add_argument("warptwin")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_intermixed_args()
    for name in given.names:
        if not any(each.startswith(name) for each in PROGRAMS):
            parser.error(f"{name}: there are {', '.join(PROGRAMS)}")
    for name, row in PROGRAMS.items():
        if given.names and not name.startswith(tuple(given.names)):
            continue
        with tempfile.TemporaryDirectory() as place:
            command = [program_of(given, name, pathlib.Path(place))]
            if not given.gpu:
                command = [given.warptwin, "cuda", "--chip", row.chip, *row.options.split(), "--",
                           *command]
            print(f"== {name} {row.arguments}".rstrip(), flush=True)
            try:
                done = subprocess.run(command + row.arguments.split(), check=False,
                                      capture_output=True, text=True,
                                      timeout=20 if given.gpu else None)
            except subprocess.TimeoutExpired:
                print("has not ended after 20 s")
                continue
            told = done.stdout.splitlines() + done.stderr.splitlines()
            print("\n".join(line for line in told if line.startswith(
                ("launch ", "CUDA ", "d", "o: ", "unspecified", "no error", "operation"))
                and not line.endswith(":") and not line.startswith("defect")))
            print(f"exit code {done.returncode}")


if __name__ == "__main__":
    main()
