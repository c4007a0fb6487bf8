#!/usr/bin/env python3
"""The broken twins in nvcc's PTX: what warptwin finds of each, beside what it finds of the text.

usage: ptx_twins.py BUILD [NAME...] [--arch 90a|100a] [--nvcc NVCC] [--keep FOLDER] [-j JOBS]
BUILD is a build folder with bin/warptwin and common/libwarptwin_common.a. Launches are written by
one program for all; then each twin takes nvcc five to twenty seconds. What stands in FOLDER already
is not made again. Extents are the launch's, as the text's are: those that are constants in a
kernel's usual PTX are other ones than a twin's. Prints a table in Markdown.
exit codes: 0 each has the id of its text or is in OTHER_IDS or REASONS, 1 one has not, 2 usage
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-DNDEBUG", f"-I{ROOT}"]
ON_HOPPER = ("wgmma", "producer_consumer", "_ring")
# Whose tile widths have to be constants: wgmma has them in its name. Their extents, in order.
CONSTANT = {
    "gemm_wgmma": ("GemmWgmmaExtents",
                   ["tile_m", "tile_n", "tile_k", "stages", "cluster_m", "in_flight"]),
    "gemm_wgmma_serial": ("GemmWgmmaSerialExtents", ["tile_m", "tile_n", "tile_k", "stages"]),
    "gemm_wgmma_unaligned": ("GemmWgmmaUnalignedExtents",
                             ["tile_m", "tile_n", "tile_k", "stages", "in_flight", "copy_bytes"]),
}
for of in ("tf32", "pingpong", "sparse", "mn", "warp_stores"):
    CONSTANT["gemm_wgmma_" + of] = CONSTANT["gemm_wgmma"]
# Ids that need a declaration, and what is found of the PTX instead.
OTHER_IDS = {
    "PRODUCER_TAIL_MISSING": {"CTA_EXIT_WITH_PENDING_REMOTE", "ORDER_EXIT"},
    "MBAR_SURPLUS_ARRIVAL": {"DEADLOCK"},
    # The text counts phases; PTX has parities.
    "MBAR_WAIT_PHASE_ALIASED": {"DEADLOCK", "TMEM_WAR", "MBAR_PHASE_UNOBSERVED"},
    # What nobody uses nvcc leaves out: the coordinates are not read.
    "CLC_CTAID_ON_FAIL": {"DEADLOCK"},
    # Of a register that a tcgen05.ld writes who uses it has the value (PTX ISA, "Register
    # dependencies, same thread"); the others are still on their way.
    "TMEM_LD_NO_WAIT": {"TMEM_WAR"},
    # Stages and their order are the protocol layer's.
    "STAGE_USE_AFTER_RELEASE": {"SMEM_WAW_ASYNC"},
    "PIPELINE_STATE_DESYNC": {"SMEM_RACE", "WGMMA_SMEM_RELEASE_EARLY"},
    # By parity such a wait passes: the stage is read before its copy.
    "MBAR_WAIT_AHEAD": {"SMEM_RAW_NO_WAIT"},
}
# Twins of which something else is said, and why.
REASONS = {
    "gemm_grouped_drain_parity_zero":
        "proved: at this size the last phase of each stage has parity 0; the text says a number",
    "gemm_split_k_missing_warp_sync":
        "proved: CUDA's machine has the warp meet in front of each copy, which the text does not "
        "promise",
    "unsynced_lanes":
        "proved: CUDA's machine has the warp meet when it has waited for stores, which the text "
        "does not promise",
}

KERNEL = """#include "scenarios/broken/{name}.hpp"
#include "hw/cuda/kernel.cuh"
namespace warptwin::hw {{
using Extents = {extents};
using Twin = {scenario}::Kernel<CudaMachine, Extents>;
template __global__ void kernel_entry<Twin>(const __grid_constant__ typename Twin::Problem,
                                            std::uint32_t*);
}}
"""
INCLUDE = '#include "scenarios/broken/{name}.hpp"\n'
WRITE = """  try {{
    using namespace warptwin;
    hw::write_ptx_launch<{scenario}, {extents}>(argv[1], {{}});
  }} catch (const std::exception& error) {{
    std::fprintf(stderr, "{name}: %s\\n", error.what());
  }}
"""


def words_of(twin):
    name = twin["name"]
    scenario = "scenarios::" + "".join(part.capitalize() for part in name.split("_"))
    extents = "std::remove_const_t<decltype(" + scenario + \
        "::extents(std::declval<const ParameterSet&>()))>"
    if twin["twin"] in CONSTANT:
        of_kernel, names = CONSTANT[twin["twin"]]
        values = {parameter["name"]: parameter["default"] for parameter in twin["parameters"]}
        extents = f"scenarios::{of_kernel}<{', '.join(str(values[each]) for each in names)}>"
    return {"name": name, "scenario": scenario, "extents": extents}


def run(command):
    """What a command says that fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else \
        f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}"


def write_launches(given, folder, twins):
    """NAME.json of each, by one program: its headers are read once."""
    twins = [each for each in twins if not (folder / f"{each['name']}.json").exists()]
    if not twins:
        return ""
    source, program = folder / "launches.cu", folder / "launches"
    source.write_text(
        "".join(INCLUDE.format(**words_of(each)) for each in twins)
        + '#include "tests/hw/ptx_launches/ptx_launch.hpp"\n'
        + "#include <cstdio>\n#include <exception>\nint main(int, char** argv) {\n"
        + "".join(WRITE.format(**words_of(each)) for each in twins) + "}\n")
    virtual = "-gencode=arch=compute_90a,code=compute_90a"
    failed = run([given.nvcc, *FLAGS, "-O0", virtual, source,
                  given.build / "common/libwarptwin_common.a", "-o", program])
    if not failed:
        subprocess.run([program, folder], check=True)  # says of which there is none
    return failed


def compiled(given, folder, twin):
    """Writes NAME.ptx; what nvcc says where it does not."""
    name = twin["name"]
    ptx = folder / f"{name}.ptx"
    if ptx.exists():
        return ""
    arch = given.arch or ("90a" if any(part in twin["twin"] for part in ON_HOPPER) else "100a")
    (folder / f"{name}.cu").write_text(KERNEL.format(**words_of(twin)))
    return run([given.nvcc, *FLAGS, "-lineinfo", f"-arch=sm_{arch}", "-ptx", folder / f"{name}.cu",
                "-o", ptx])


def row_of(given, folder, twin):
    """A line of the table, and whether it is as expected."""
    name, expected = twin["name"], twin["expected"]
    if not (folder / f"{name}.json").exists():
        return f"| `{name}` | `{expected}` | no launch: see what was said of it |", False
    failed = compiled(given, folder, twin)
    if failed:
        print(f"{name}: {failed}", file=sys.stderr)
        return f"| `{name}` | `{expected}` | does not compile |", False
    done = subprocess.run(
        [given.build / "bin/warptwin", "check", "--ptx", folder / f"{name}.ptx", "--launch",
         folder / f"{name}.json", "--json"], capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        report = {}
        if name not in REASONS:
            print(f"{name}: exit code {done.returncode}: {done.stdout}{done.stderr}",
                  file=sys.stderr)
    found = sorted({finding["id"] for finding in findings_in(report)
                    if finding["severity"] in ("fatal", "error", "warning")})
    right = expected in found or bool(OTHER_IDS.get(expected, set()) & set(found))
    ids = ", ".join(f"`{each}`" for each in found) or f"none; exit code {done.returncode}"
    if not found and name in REASONS:
        code = 0 if REASONS[name].startswith("proved") else 2
        right, ids = done.returncode == code, REASONS[name]
    return f"| `{name}` | `{expected}` | {ids} |", right


def findings_in(report):
    """Every finding of a report, wherever it stands."""
    if isinstance(report, dict):
        if "id" in report and "severity" in report:
            yield report
        for value in report.values():
            yield from findings_in(value)
    elif isinstance(report, list):
        for value in report:
            yield from findings_in(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--arch", choices=["90a", "100a"])
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    given = parser.parse_args()
    listed = subprocess.run([given.build / "bin/warptwin", "list", "--json"], capture_output=True,
                            text=True, check=True)
    twins = [each for each in json.loads(listed.stdout)
             if each["kind"] == "broken" and (not given.names or each["name"] in given.names)]
    with tempfile.TemporaryDirectory() as name:
        folder = given.keep or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        failed = write_launches(given, folder, twins)
        if failed:
            sys.exit(failed)
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            print("| twin | its text | its PTX |\n|---|---|---|", flush=True)
            wrong = 0
            for line, right in pool.map(lambda twin: row_of(given, folder, twin), twins):
                wrong += not right
                print(line + ("" if right else " **other**"), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
