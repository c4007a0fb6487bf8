#!/usr/bin/env python3
"""The broken twins in nvcc's PTX: what warptwin finds of each, beside what it finds of the text.

usage: ptx_twins.py BUILD [NAME...] [--arch 90a|100a] [--nvcc NVCC] [--keep FOLDER]
BUILD is a build folder with bin/warptwin and common/libwarptwin_common.a. Each twin takes nvcc half
a minute: without names all are compiled, two at a time. Prints a table in Markdown.
exit codes: 0 each has the id of its text or is in OTHER_IDS, 1 one has not, 2 usage
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
# Ids that need a declaration, and what is found of the PTX instead.
OTHER_IDS = {
    "PRODUCER_TAIL_MISSING": {"CTA_EXIT_WITH_PENDING_REMOTE", "ORDER_EXIT"},
}

KERNEL = """#include "scenarios/broken/{name}.hpp"
#include "hw/cuda/kernel.cuh"
namespace warptwin::hw {{
using Twin = scenarios::{type}::Kernel<CudaMachine, scenarios::{type}::StaticExtents>;
template __global__ void kernel_entry<Twin>(const __grid_constant__ typename Twin::Problem,
                                            std::uint32_t*);
}}
"""
LAUNCH = """#include "scenarios/broken/{name}.hpp"
#include "tests/hw/ptx_launches/ptx_launch.hpp"
int main(int, char** argv) {{
  warptwin::hw::write_ptx_launch<warptwin::scenarios::{type}>(argv[1], {{}});
}}
"""


def compiled(given, folder, twin):
    """Writes NAME.ptx and NAME.json; what nvcc says where it does not."""
    name = twin["name"]
    words = {"name": name, "type": "".join(part.capitalize() for part in name.split("_"))}
    arch = given.arch or ("90a" if any(part in twin["twin"] for part in ON_HOPPER) else "100a")
    (folder / f"{name}.cu").write_text(KERNEL.format(**words))
    (folder / f"{name}_launch.cu").write_text(LAUNCH.format(**words))
    virtual = f"-gencode=arch=compute_{arch},code=compute_{arch}"
    commands = [
        [given.nvcc, *FLAGS, "-lineinfo", f"-arch=sm_{arch}", "-ptx", folder / f"{name}.cu", "-o",
         folder / f"{name}.ptx"],
        [given.nvcc, *FLAGS, "-O0", virtual, folder / f"{name}_launch.cu",
         given.build / "common/libwarptwin_common.a", "-o", folder / f"{name}_launch"],
        [folder / f"{name}_launch", folder],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}"
    return ""


def row_of(given, folder, twin):
    """A line of the table, and whether it is as expected."""
    name, expected = twin["name"], twin["expected"]
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
        print(f"{name}: exit code {done.returncode}: {done.stdout}{done.stderr}", file=sys.stderr)
        return f"| `{name}` | `{expected}` | exit code {done.returncode} |", False
    found = sorted({finding["id"] for finding in findings_in(report)
                    if finding["severity"] in ("fatal", "error")})
    right = expected in found or bool(OTHER_IDS.get(expected, set()) & set(found))
    ids = ", ".join(f"`{each}`" for each in found) or f"none; exit code {done.returncode}"
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
    given = parser.parse_args()
    listed = subprocess.run([given.build / "bin/warptwin", "list", "--json"], capture_output=True,
                            text=True, check=True)
    twins = [each for each in json.loads(listed.stdout)
             if each["kind"] == "broken" and (not given.names or each["name"] in given.names)]
    print("| twin | its text | its PTX |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = given.keep or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            wrong = 0
            for line, right in pool.map(lambda twin: row_of(given, folder, twin), twins):
                wrong += not right
                print(line + ("" if right else " **other**"), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
