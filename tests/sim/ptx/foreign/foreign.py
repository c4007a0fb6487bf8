"""What the tests of kernels by other compilers share: launches, verdicts, values, edits.

A test compiles its kernels into a folder, FULL.ptx each, and hands `judge` what is known of them.
"""

import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import typing

try:
    import numpy
except ImportError:
    numpy = None

SKIPPED = 77
HERE = pathlib.Path(__file__).parent
OFF_BY_LESS_THAN = 2e-3  # of the largest value: the output's half precision


@dataclasses.dataclass
class Case:
    """A kernel's launch file, its output with what NumPy makes of the inputs, its findings, and a
    part of the report."""

    launch: dict
    reference: typing.Callable  # of the inputs by name: the output's name and its values
    known: frozenset = frozenset()  # ids; none: it is proved
    says: str = ""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def value(number):
    return {"value": number}


def buffer(type, shape, use):
    return {"type": type, "shape": shape, "use": use}


def whole(shape, least, most):
    """An input of bytes, drawn from these."""
    random = {"seed": 1, "least": least, "most": most}
    return buffer("u8", shape, "input") | {"contents": {"random": random}}


def described(rows, columns, name):
    """A tensor descriptor as Triton passes it: the map, the extents, the strides."""
    return [{"map": name}, value(rows), value(columns), value(columns), value(1)]


def ids_in(text):
    return set(re.findall(r"^(?:defect|fatal|error): ([A-Z0-9_]+)", text, re.M))


def verdict(warptwin, folder, full, ptx):
    """The exit code, the ids of the errors, the report."""
    proof = run(warptwin, "ptx", "prove", ptx, "--launch", folder / f"{full}.json")
    return proof.returncode, ids_in(proof.stdout + proof.stderr), proof.stdout + proof.stderr


def draw_contents(folder, full, case):
    """Files instead of what the launch would draw, so that NumPy has the same."""
    generator = numpy.random.default_rng(2)
    for key, made in case.launch["buffers"].items():
        if "contents" in made:
            within = made["contents"]["random"]
            drawn = generator.integers(within["least"], within["most"] + 1, made["shape"])
            made["contents"] = f"{full}.{key}.npy"
            numpy.save(folder / made["contents"], drawn.astype(numpy.uint8))


def check_clean(warptwin, folder, full, case):
    code, ids, text = verdict(warptwin, folder, full, folder / f"{full}.ptx")
    if ids != case.known or code != (1 if case.known else 0) or case.says not in text:
        return [f"{full}: exit code {code}, {sorted(ids)} instead of {sorted(case.known)}\n{text}"]
    return []


def check_values(warptwin, folder, full, case):
    generator = numpy.random.default_rng(1)
    given = {}
    command = [warptwin, "ptx", "run", folder / f"{full}.ptx", "--launch", folder / f"{full}.json"]
    for key, made in case.launch["buffers"].items():
        if "contents" in made:
            given[key] = numpy.load(folder / made["contents"]).astype(numpy.float32)
        elif made["use"] == "input":
            drawn = generator.standard_normal(made["shape"])
            drawn = drawn.astype(numpy.float16 if made["type"] == "f16" else numpy.float32)
            given[key] = drawn.astype(numpy.float32)
            numpy.save(folder / f"{key}.npy", given[key])
            command += ["--in", f"{key}={folder / key}.npy"]
    output, expected = case.reference(given)
    ran = run(*command, "--out", f"{output}={folder / 'out.npy'}")
    if not (folder / "out.npy").exists():
        return [f"{full}: {ran.stdout[-2000:]}{ran.stderr}"]
    computed = numpy.load(folder / "out.npy").reshape(expected.shape)
    (folder / "out.npy").unlink()
    error = numpy.abs(computed - expected).max() / numpy.abs(expected).max()
    if not error < OFF_BY_LESS_THAN:
        return [f"{full}: off by {error:.2g} of the largest value"]
    return []


def check_mutant(warptwin, folder, mutant):
    """A mutant: the kernel, the line that is edited, which of those that match, what becomes of
    it, the id. Of a line that is left out a guard goes, too."""
    full, pattern, which, edited, expected = mutant
    text = (folder / f"{full}.ptx").read_text()
    lines = list(re.finditer(pattern, text))
    if which >= len(lines):
        return [f"{full}: only {len(lines)} lines have '{pattern}'"]
    at = lines[which]
    changed = text[: at.start()] + at.expand(edited) + text[at.end() :]
    if not edited:
        begin = text.rindex("\n", 0, at.start()) + 1
        changed = text[:begin] + text[at.end() :]
    (folder / "mutant.ptx").write_text(changed)
    code, ids, output = verdict(warptwin, folder, full, folder / "mutant.ptx")
    if code == 1 and expected in ids:
        return []
    line = text.count("\n", 0, at.start()) + 1
    return [f"{full} line {line}, '{at[0]}' as '{edited}': exit code {code}, {sorted(ids)} instead "
            f"of {expected}\n{output[:600]}"]


def compile_into(folder, python, script):
    """Runs a compiler of kernels; what it says of them."""
    compiled = run(python, "-B", HERE / script, folder)
    if compiled.returncode != 0:
        sys.exit(compiled.stderr[-2000:])
    return json.loads((folder / "compiled.json").read_text())


def judge(warptwin, compiled_cases, mutants):
    """Ends the program: 0 right, 1 wrong. `compiled_cases` writes FULL.ptx into a folder that it
    is given, and returns by FULL the case."""
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = compiled_cases(folder)
        for full, case in cases.items():
            if numpy is not None:
                draw_contents(folder, full, case)
            (folder / f"{full}.json").write_text(json.dumps(case.launch))
            wrong += check_clean(warptwin, folder, full, case)
            if numpy is not None:
                wrong += check_values(warptwin, folder, full, case)
        for mutant in mutants:
            wrong += check_mutant(warptwin, folder, mutant)
    values = "values as NumPy's" if numpy is not None else "values not compared: no NumPy"
    found = f"{len(cases)} kernels, {len(mutants)} mutants, {values}; {len(wrong)} wrong"
    print("\n".join([*wrong, found]))
    sys.exit(1 if wrong else 0)
