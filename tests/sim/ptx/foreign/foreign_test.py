#!/usr/bin/env python3
"""Kernels of our own in Triton, as Triton compiles them: what warptwin says of them.

usage: foreign_test.py WARPTWIN
Each kernel is proved or has the findings that are known of it, and computes what NumPy does where
that is there. Each edit of one line is found by its id.
WARPTWIN_TRITON_PYTHON names another interpreter than this one to import triton.
exit codes: 0 right, 1 wrong, 77 skipped: that interpreter has no triton
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    numpy = None

SKIPPED = 77
HERE = pathlib.Path(__file__).parent
M, N, K = 128, 128, 320
S, D = 256, 64
ROWS, COLUMNS, USED = 3, 1024, 1000
# TMA writes over the word that tcgen05.alloc wrote, and no proxy fence comes between.
KNOWN = {"described_sm100": {"PROXY_FENCE_MISSING"}}

# Of a kernel: the line that is edited, which of those that match, what becomes of it, the id.
MUTANTS = [
    ("softmax_sm90", r"bar\.sync.*", 0, "", "SMEM_RACE"),
    ("matmul_sm90", r"cp\.async\.wait_group\s+\d", 0, "cp.async.wait_group 3",
     "SMEM_RAW_NO_WAIT"),
    ("matmul_sm90", r"cp\.async\.wait_group.*", 0, "", "SMEM_RAW_NO_WAIT"),
    ("matmul_sm90", r"fence\.proxy\.async.*", 0, "", "PROXY_FENCE_MISSING"),
    ("matmul_sm90", r"wgmma\.fence.*", 0, "", "WGMMA_FENCE_MISSING"),
    ("matmul_sm90", r"wgmma\.wait_group\S* 0", 0, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_ACC_READ_EARLY"),
    ("attention_sm90", r"wgmma\.wait_group\S* 0", 0, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_ACC_READ_EARLY"),
    ("attention_sm90", r"wgmma\.commit_group.*", 0, "", "WGMMA_ACC_READ_EARLY"),
    ("attention_sm90", r"cp\.async\.wait_group\s+2", 0, "cp.async.wait_group 3",
     "SMEM_RAW_NO_WAIT"),
    ("described_sm90", r"expect_tx(.*), 32768", 1, r"expect_tx\1, 32752", "DEADLOCK"),
    ("described_sm90", r"mbarrier\.init(.*), 1;", 0, r"mbarrier.init\1, 2;", "DEADLOCK"),
    ("described_sm90", r"wgmma\.wait_group\S* 1", 0, "wgmma.wait_group.sync.aligned 2",
     "WGMMA_SMEM_RELEASE_EARLY"),
    ("matmul_sm100", r"tcgen05\.wait::ld.*", 0, "", "TMEM_DEALLOC_IN_USE"),
    ("matmul_sm100", r"tcgen05\.commit.*", 0, "", "DEADLOCK"),
    ("matmul_sm100", r"fence\.proxy\.async.*", 0, "", "PROXY_FENCE_MISSING"),
    ("attention_sm100", r"tcgen05\.wait::ld.*", 0, "", "TMEM_WAR"),
]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def value(number):
    return {"value": number}


def described(rows, columns, name):
    return [{"map": name}, value(rows), value(columns), value(columns), value(1)]


def launches():
    """By kernel: buffers (type, shape, use), maps, parameters, grid."""
    half = {"a": ("f16", [M, K], "input"), "c": ("f16", [M, N], "output")}
    heads = {name: ("f16", [S, D], "input") for name in "qkv"}
    box = {"box": [128, 64], "swizzle": 128}
    return {
        "matmul": (
            half | {"b": ("f16", [K, N], "input"), "c": ("f32", [M, N], "output")},
            {},
            [{"buffer": name} for name in "abc"] + [value(x) for x in (M, N, K, K, N, N)],
            1,
        ),
        "described": (
            half | {"b": ("f16", [N, K], "input")},
            {f"{name}m": {"buffer": name} | box for name in "abc"},
            described(M, K, "am") + described(N, K, "bm") + described(M, N, "cm") + [value(K)],
            1,
        ),
        "attention": (
            heads | {"o": ("f16", [S, D], "output")},
            {},
            [{"buffer": name} for name in "qkvo"] + [value(0.18), value(S)],
            S // 128,
        ),
        "softmax": (
            {"x": ("f32", [ROWS, COLUMNS], "input"), "y": ("f32", [ROWS, COLUMNS], "output")},
            {},
            [{"buffer": "x"}, {"buffer": "y"}, value(COLUMNS), value(USED)],
            ROWS,
        ),
    }


def reference(name, given):
    """The output's name, and what NumPy makes of the inputs."""
    if name == "matmul":
        return "c", given["a"] @ given["b"]
    if name == "described":
        return "c", given["a"] @ given["b"].T
    if name == "attention":
        s = given["q"] @ given["k"].T * 0.18
        p = numpy.exp2(s - s.max(1, keepdims=True))
        return "o", p @ given["v"] / p.sum(1, keepdims=True)
    e = numpy.exp(given["x"][:, :USED] - given["x"][:, :USED].max(1, keepdims=True))
    return "y", numpy.pad(e / e.sum(1, keepdims=True), ((0, 0), (0, COLUMNS - USED)))


def write_launch(folder, full, facts):
    name = full.rsplit("_", 1)[0]
    buffers, maps, parameters, grid = launches()[name]
    launch = {
        "grid": grid,
        "block": facts["warps"] * 32,
        "dynamic_shared_bytes": facts["shared"],
        "buffers": {
            key: {"type": type, "shape": shape, "use": use}
            for key, (type, shape, use) in buffers.items()
        },
        # Triton's own: memory for scratch and for a profile, which these kernels do not use.
        "parameters": [*parameters, value(0), value(0)],
    }
    if maps:
        launch["maps"] = maps
    (folder / f"{full}.json").write_text(json.dumps(launch))


def ids_in(text):
    return set(re.findall(r"^(?:defect|fatal|error): ([A-Z0-9_]+)", text, re.M))


def verdict(warptwin, folder, full, ptx):
    """The exit code and the ids of the errors."""
    proof = run(warptwin, "ptx", "prove", ptx, "--launch", folder / f"{full}.json")
    return proof.returncode, ids_in(proof.stdout + proof.stderr), proof.stdout + proof.stderr


def check_clean(warptwin, folder, full):
    code, ids, text = verdict(warptwin, folder, full, folder / f"{full}.ptx")
    known = KNOWN.get(full, set())
    if ids != known or code != (1 if known else 0):
        yield f"exit code {code}, {sorted(ids)} instead of {sorted(known)}\n{text}"


def check_values(warptwin, folder, full):
    name = full.rsplit("_", 1)[0]
    buffers = launches()[name][0]
    generator = numpy.random.default_rng(1)
    given = {}
    command = [warptwin, "ptx", "run", folder / f"{full}.ptx", "--launch", folder / f"{full}.json"]
    for key, (type, shape, use) in buffers.items():
        if use == "input":
            drawn = generator.standard_normal(shape)
            drawn = drawn.astype(numpy.float16 if type == "f16" else numpy.float32)
            given[key] = drawn.astype(numpy.float32)
            numpy.save(folder / f"{key}.npy", given[key])
            command += ["--in", f"{key}={folder / key}.npy"]
    output, expected = reference(name, given)
    run(*command, "--out", f"{output}={folder / 'out.npy'}")
    computed = numpy.load(folder / "out.npy").reshape(expected.shape)
    error = numpy.abs(computed - expected).max() / numpy.abs(expected).max()
    if not error < 2e-3:  # half precision of the output, and of the probabilities
        yield f"off by {error:.2g} of the largest value"


def check_mutant(warptwin, folder, mutant):
    full, pattern, which, edited, expected = mutant
    text = (folder / f"{full}.ptx").read_text()
    lines = list(re.finditer(pattern, text))
    if which >= len(lines):
        return [f"{full}: only {len(lines)} lines have '{pattern}'"]
    at = lines[which]
    changed = text[: at.start()] + at.expand(edited) + text[at.end() :]
    if not edited:  # a guard of what is left out goes, too
        begin = text.rindex("\n", 0, at.start()) + 1
        changed = text[:begin] + text[at.end() :]
    (folder / "mutant.ptx").write_text(changed)
    code, ids, output = verdict(warptwin, folder, full, folder / "mutant.ptx")
    if code == 1 and expected in ids:
        return []
    line = text.count("\n", 0, at.start()) + 1
    return [f"{full} line {line}, '{at[0]}' as '{edited}': exit code {code}, {sorted(ids)} instead "
            f"of {expected}\n{output[:600]}"]


def main():
    warptwin = sys.argv[1]
    python = os.environ.get("WARPTWIN_TRITON_PYTHON", sys.executable)
    if run(python, "-c", "import triton").returncode != 0:
        print(f"skipped: {python} has no triton")
        return SKIPPED
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
        compiled = run(python, "-B", HERE / "kernels.py", folder)
        if compiled.returncode != 0:
            print(compiled.stderr[-2000:])
            return 1
        for full, facts in json.loads((folder / "compiled.json").read_text()).items():
            write_launch(folder, full, facts)
            wrong += [f"{full}: {what}" for what in check_clean(warptwin, folder, full)]
            if numpy is not None:
                wrong += [f"{full}: {what}" for what in check_values(warptwin, folder, full)]
        for mutant in MUTANTS:
            wrong += check_mutant(warptwin, folder, mutant)
    values = "values as NumPy's" if numpy is not None else "values not compared: no NumPy"
    print("\n".join([*wrong, f"{len(MUTANTS)} mutants, {values}; {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
