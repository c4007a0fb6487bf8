#!/usr/bin/env python3
"""Kernels that others have published, under `warptwin cuda`.

  published_kernels.py CLONES WARPTWIN [--nvcc NVCC] [--built FOLDER] [--gpu] [NAME...]

CLONES is a folder with clones of the repositories of SUITES, each by its own name: the commits that
docs/cuda-programs.md speaks of are taken from them. Their text is compiled as it stands, but for
sizes in ThunderKittens' `main`: PTXBench's, by language models, and that of DeepGEMM, FlashMLA,
FlashAttention-3, fast.cu, Marlin, CUB and ThunderKittens' attention between host code of our own in
tests/sim/cuda/published, which computes what they should. It stays out of this repository. Prints
the verdict of each launch, and the seconds of CPU. A name may be a beginning of several. Without
names those are left out that take more than a minute (SLOW). --built keeps the programs in a
folder, and takes those that are there. --gpu runs each program on the GPU of this machine, for 20
seconds at most.
"""

import argparse
import json
import os
import pathlib
import re
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


EXAMPLES = {"48_hopper_warp_specialized_gemm": "48_hopper_warp_specialized_gemm",
            "49_hopper_gemm_with_collective_builder": "49_collective_builder",
            "54_hopper_fp8_warp_specialized_gemm": "54_hopper_fp8_warp_specialized_gemm",
            "70_blackwell_gemm": "70_blackwell_fp16_gemm"}

SUITES = {
    "PTXBench": Suite("ce95701ed75a98a0566a329b17f0c323e1711d32",
                      "packages/mini-ptx-agent/benchmark/correct_kernels "
                      "packages/mini-ptx-agent/fib_runtime/multiturn",
                      "-std=c++17"),
    "cutlass": Suite("7107b05535f8977f5ecb9d01ee203205b1fd9bc4",
                     "include tools/util/include test/unit/common test/unit/test_unit.cpp "
                     "test/unit/pipeline test/unit/cluster_launch test/unit/cute/hopper "
                     "test/unit/cute/cooperative_gemm_common.hpp "
                     "examples/common " + " ".join(f"examples/{each}" for each in EXAMPLES),
                     "-I @/include -I @/tools/util/include"),
    "DeepGEMM": Suite("54e22612409371d6364144b69086735beb54e98b", "deep_gemm/include",
                      "-std=c++20 --expt-relaxed-constexpr -I @/deep_gemm/include", ("cutlass",)),
    "flash-attention": Suite("0251105a2fb19d2957484b7f023cd8c115286ced", "hopper",
                             "-std=c++20 --expt-relaxed-constexpr -I @/hopper", ("cutlass",)),
    "ThunderKittens": Suite("0b55588d2769dde0c7a9a606ffc015b0ca7a9551",
                            "include prototype kernels/gemm kernels/attention",
                            "-std=c++20 --use_fast_math --expt-extended-lambda "
                            "--expt-relaxed-constexpr -DNDEBUG -I @/include -I @/prototype"),
    "fast.cu": Suite("38eb642e0c081231d6f695978be63604bd7c689b", "examples",
                     "-std=c++17 --expt-relaxed-constexpr -DNDEBUG -I @"),
    "FlashMLA": Suite("9241ae3ef9bac614dd25e45e507e089f888280e0", "csrc",
                      "-std=c++20 --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math "
                      "-I @/csrc -I @/csrc/kerutils/include", ("cutlass",)),
    "marlin": Suite("2f6d7c10e124b3c5fa29ff8d77d568bd7af3274c", "marlin",
                    "-std=c++17 --expt-relaxed-constexpr -I @"),
    "CUDA": Suite("", "", "-std=c++17"),  # what comes with nvcc
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
    more: str = ""  # sources beside it, of the suite
    sms: int = 0  # of the chip, where it is to be a small one


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


def kittens_gemm(name, architecture, chip, *edits):
    """With one group of arguments."""
    source = f"{name}/{name}_gemm.cu"
    return kittens(source, architecture, chip, *(
        word for text, other in (("int(ideal_arg_size / arg_size) + 1", "1"), *edits)
        for word in (f"kernels/gemm/{source}", text, other)))


def kittens_attention(flags, arguments):
    return Program("ThunderKittens", "kittens_attention.cu", "90a", "h200",
                   f"-DKITTENS_HOPPER -I @ {flags}", arguments, "--policy prove")


def fast_matmul(number, arguments="256 2048 128"):
    """Of fast.cu; from the eighth on in clusters of two."""
    return Program("fast.cu", "fast_matmul.cu", "90a", "h200",
                   f"-DNUMBER={number} -DCTAS=4 -DCLUSTER_ROWS=2 -DCLUSTER_COLUMNS=1", arguments,
                   "--policy prove")


DECODING = ("csrc/sm90/decode/dense/instantiations/bf16.cu csrc/smxx/decode/combine/combine.cu "
            "csrc/smxx/decode/get_decoding_sched_meta/get_decoding_sched_meta.cu")


def flash_mla_dense(arguments, kept="true"):
    return Program("FlashMLA", "flash_mla_dense.cu", "90a", "h200",
                   f"-DHEADS=128 -DKEPT={kept}", arguments, "--policy prove", more=DECODING)


def flash_mla_sparse(generation, architecture, chip, folder):
    return Program("FlashMLA", "flash_mla_sparse.cu", architecture, chip,
                   f"-DGENERATION={generation}", "2 300 384", "--policy prove",
                   more=f"csrc/{folder}/instantiations/phase1_k512.cu")


def unit_test(source, options="", architecture="90a", chip="h200", flags=""):
    return Program("cutlass", f"test/unit/{source}.cu", architecture, chip,
                   "-std=c++17 --expt-relaxed-constexpr -DCUTLASS_ENABLE_TENSOR_CORE_MMA=1 "
                   f"-I @/test/unit/common {flags} -lgtest", options=options,
                   more="test/unit/test_unit.cpp test/unit/common/filter_architecture.cpp")


def example(number, arguments, options="", architecture="90a", chip="h200"):
    folder = next(each for each in EXAMPLES if each.startswith(number))
    return Program("cutlass", f"examples/{folder}/{EXAMPLES[folder]}.cu", architecture, chip,
                   "-std=c++17 --expt-relaxed-constexpr -I @/examples/common", arguments,
                   f"--first 1 --measure never {options}", sms=8)


FILLED = "--policy check --policy run:*BlockForEach*"
ONCE = "--first 1"

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
    "fp8_h100": kittens("fp8_h100/fp8_h100_gemm.cu", "90a", "h200",
                        "kernels/gemm/fp8_h100/fp8_h100_gemm.cu",
                        "<matmul_template<8>>(N, N, N)", "<matmul_template<8>>(512, 512, 256)"),
    "bf16_h100": kittens_gemm("bf16_h100", "90a", "h200",
                              ("<2,4,8>>(N, N, N)", "<2,4,8>>(512, 512, 256, true)")),
    "bf16_b200": kittens_gemm(
        "bf16_b200", "100a", "b200", ("5, 2>>(N, N, N, ncu)", "5, 2>>(512, 256, 256, true)"),
        ("N = 2048;", "/*"), ("(N, N, N, ncu);\n\n    return", "(N, N, N, ncu); */\n    return")),
    "kittens_attention": kittens_attention("-DCAUSAL=false", "768"),
    "kittens_attention_causal": kittens_attention("-DCAUSAL=true", "768"),
    "kittens_attention_lcf": kittens_attention("-DCAUSAL=false -DLCF -DCTAS=2", "768"),
    "kittens_attention_backward": kittens_attention("-DCAUSAL=false -DBACKWARD", "256 1"),
    "kittens_attention_backward_causal": kittens_attention("-DCAUSAL=true -DBACKWARD", "256 1"),
    **{f"kittens_attention_b300{kind}": Program(
        "ThunderKittens", "kittens_attention_b300.cu", "103a", "b300",
        f"-DKITTENS_BLACKWELL -I @ -DCAUSAL={int(kind != '')} -DPERSISTENT=true", "512 2",
        "--policy prove", edits=(f"kernels/attention/{file}/{file}.cu", "NUM_SM = 148",
                                 "NUM_SM = 2"))
       for kind, file in (("", "bf16_b300_mha_noncausal"), ("_causal", "bf16_b300_mha_causal"))},
    **{f"fast_matmul_{number}": fast_matmul(
        number, "256 512 512" if number <= 5 else "256 2048 128") for number in range(2, 13)},
    "flash_mla_dense": flash_mla_dense("3 64 640"),
    "flash_mla_dense_odd": flash_mla_dense("3 200 320"),
    "flash_mla_dense_first": flash_mla_dense("3 64 640", "false"),
    "flash_mla_sparse": flash_mla_sparse(90, "90a", "h200", "sm90/prefill/sparse"),
    "flash_mla_sparse_sm100": flash_mla_sparse(100, "100a", "b200",
                                               "sm100/prefill/sparse/fwd/head64"),
    **{f"marlin_{rows}": Program("marlin", "marlin.cu", "90a", "h200", "", arguments,
                                 "--policy prove")
       for rows, arguments in ((16, "16 256 2048 3 128"), (64, "64 512 1024 3 -1"))},
    **{f"cub_{name}": Program("CUDA", "cub.cu", "90a", "h200", "", f"{name} {count}",
                              "--policy prove", sms=8)
       for name, count in (("reduce", 5000), ("scan", 20000), ("radix_sort", 20000),
                           ("merge_sort", 5000), ("select", 20000), ("histogram", 5000),
                           ("transform", 20000))},
    "cluster_launch": unit_test("cluster_launch/cluster_launch"),
    "sequence_barrier": unit_test("pipeline/sequence_barrier"),
    "bulk_load": unit_test("cute/hopper/bulk_load"),
    "bulk_store": unit_test("cute/hopper/bulk_store"),
    "stsm": unit_test("cute/hopper/stsm"),
    "tma_mcast_load": unit_test("cute/hopper/tma_mcast_load", ONCE),
    "cooperative_gemm": unit_test("cute/hopper/cooperative_gemm", ONCE),
    "cluster_launch_control": unit_test(
        "pipeline/pipeline_cluster_launch_control_async_warp_specialized_blackwell", "", "100a",
        "b200", "-DNDEBUG"),
    "pipeline_async": unit_test("pipeline/pipeline_async", flags="-DNDEBUG"),
    "warp_specialized": unit_test("pipeline/pipeline_tma_async_warp_specialized", ONCE),
    "persistent": unit_test("pipeline/pipeline_tma_async_warp_specialized_persistent", ONCE),
    "pipeline_tma_async": unit_test("pipeline/pipeline_tma_async", ONCE),
    "example_54": example("54", "--m=256 --n=256 --k=1024 --iterations=0"),
    "example_48": example("48", "--m=512 --n=256 --k=128 --iterations=0"),
    "example_70": example("70", "--m=512 --n=256 --k=128 --iterations=0", FILLED, "100a", "b200"),
    "example_49": example("49", "--m=256 --n=256 --k=128 --l=1", FILLED),
}

SLOW = ("persistent", "pipeline_tma_async", "example_49", "cub_radix_sort")


TOLD = ("config: ", "launch ", "launches ", "CUDA ", "d", "o: ", "unspecified", "no error",
        "operation", "[  PASSED", "[  FAILED", "Disposition", "Error count")


def taken(given, name, folder):
    """A suite's files, below `folder`, at its commit."""
    place = folder / name
    place.mkdir(exist_ok=True)
    suite = SUITES[name]
    if not suite.commit:
        return place
    archive = subprocess.run(["git", "-C", pathlib.Path(given.clones) / name, "archive",
                              suite.commit, *suite.folders.split()],
                             capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", place], input=archive, check=True)
    return place


def command_for(given, name, folder):
    """nvcc's command for a program; its text and what it includes are put below `folder`."""
    row = PROGRAMS[name]
    place = taken(given, row.suite, folder)
    flags = SUITES[row.suite].flags.split() + row.flags.split()
    flags = [each.replace("@", str(place)) for each in flags]
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
    code = f"sm_{row.architecture}" if given.gpu else f"compute_{row.architecture}"
    return [given.nvcc, "-I", HOST, "-I", ROOT, *flags, "-w", "-lineinfo", "-gencode",
            f"arch=compute_{row.architecture},code={code}", "-cudart", "shared", source,
            *(place / each for each in row.more.split()), "-lcuda"]


def program_of(given, name, folder):
    program = folder / name
    if given.built:
        program = pathlib.Path(given.built) / name
        program.parent.mkdir(parents=True, exist_ok=True)
        if program.exists():
            return program
    subprocess.run([*command_for(given, name, folder), "-o", program], check=True)
    return program


def chip_of(row, folder):
    """The options that say its chip: a name, or a file for a small one."""
    if not row.sms:
        return ["--chip", row.chip]
    file = folder / "chip.json"
    few = {"value": row.sms, "unit": "SM", "source": "assumed"}
    file.write_text(json.dumps({"name": "few_sms", "summary": "a chip of a few SMs",
                                "base": row.chip, "constants": {"sms": few}}))
    return ["--chip", file, "--target-ptx", f"sm_{row.architecture}"]


def ran(command, limit):
    """What a command says, its exit code, and its seconds of CPU without those of its program."""
    with (tempfile.TemporaryFile("w+") as told,
          subprocess.Popen(command, stdout=told, stderr=subprocess.STDOUT) as process):
        try:
            process.wait(limit) if limit else os.waitid(os.P_PID, process.pid,
                                                        os.WEXITED | os.WNOWAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            return None, 0, 0
        spent = 0
        if not limit:
            times = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            spent = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        process.wait()
        told.seek(0)
        return told.read().splitlines(), process.returncode, spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones")
    parser.add_argument("warptwin")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--built")
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_intermixed_args()
    for name in given.names:
        if not any(each.startswith(name) for each in PROGRAMS):
            parser.error(f"{name}: there are {', '.join(PROGRAMS)}")
    for name, row in PROGRAMS.items():
        if not name.startswith(tuple(given.names)) if given.names else name in SLOW:
            continue
        with tempfile.TemporaryDirectory() as place:
            place = pathlib.Path(place)
            command = [program_of(given, name, place)]
            if not given.gpu:
                command = [given.warptwin, "cuda", *chip_of(row, place), *row.options.split(),
                           "--", *command]
            print(f"== {name} {row.arguments}".rstrip(), flush=True)
            told, code, spent = ran([*command, *row.arguments.split()], 20 if given.gpu else None)
            if told is None:
                print("has not ended after 20 s")
                continue
            print("\n".join(line for line in told if line.lstrip().startswith(TOLD)
                            and not line.endswith(":") and not line.startswith("defect")
                            or re.match(r"\d+ launch", line)))
            print(f"exit code {code}, {spent:.1f} s of CPU", flush=True)


if __name__ == "__main__":
    main()
