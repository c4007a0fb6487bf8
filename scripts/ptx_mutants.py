#!/usr/bin/env python3
"""Edits one line of a PTX kernel in every way that weakens what it synchronises by, and says what
'warptwin ptx check' finds of each.

usage: ptx_mutants.py WARPTWIN FOLDER [KERNEL ...] [options]

FOLDER has NAME.ptx and NAME.json, the launch, of each kernel, as tests/sim/ptx/foreign/keep.py
FOLDER leaves them. Without a KERNEL all are taken in which check finds no error as they are.

Of a mutant it is said that it is
  found        check ends with exit code 1; the ids follow
  warned       check has a warning that it has not of the kernel as it is, or says that another
               value of a rule refutes it
  undecided    check says so, exit code 5
  refused      exit code 2: no such instruction, or an argument that it may not have
  crashed      another exit code
  not found    none of these
What is warned of, undecided or not found is run by many schedules, and each has to end as the
kernel does as it is, with the same outputs. These runs know nothing of the proof. It is then
  MISSED       a run does not
  not executed nobody comes to the line: a trap in its place changes nothing, either
  no effect    a row of the table says why it changes nothing
  unexplained  no row does
Exit code 1: something was missed, is unexplained, or crashed.
"""

import argparse
import collections
import concurrent.futures
import csv
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
REASONS = ROOT / "tests" / "sim" / "ptx" / "foreign" / "mutants_without_effect.tsv"

Mutant = collections.namedtuple("Mutant", "kernel line edit old new")
Verdict = collections.namedtuple("Verdict", "word ids note")

INSTRUCTION = re.compile(
    r"(?P<guard>@!?[%\w$]+\s+)?(?P<op>[a-z][\w.:]*)(?P<args>[^;{}]*);")

# What is left out as a whole, by the instruction's beginning.
LEFT_OUT = [
    "fence", "membar", "mbarrier.arrive", "mbarrier.expect_tx", "mbarrier.inval", "bar.sync",
    "bar.arrive", "bar.warp.sync", "barrier.sync", "barrier.arrive", "barrier.cta", "bar.red",
    "barrier.cluster", "cp.async.commit_group", "cp.async.wait", "cp.async.mbarrier.arrive",
    "cp.async.bulk.commit_group", "cp.async.bulk.wait_group", "wgmma.fence", "wgmma.commit_group",
    "wgmma.wait_group", "tcgen05.wait", "tcgen05.fence", "tcgen05.commit", "tcgen05.dealloc",
    "tcgen05.relinquish_alloc_permit", "griddepcontrol", "setmaxnreg",
]  # fmt: skip


def changed(guard, op, args, which, how, by):
    """The instruction with its operand `which` added to, or (how: xor) flipped."""
    operands = [operand.strip() for operand in split(args)]
    value = operands[which]
    if re.fullmatch(r"-?\d+", value):
        number = int(value) ^ by if how == "xor" else int(value) + by
        if number < 0:
            return None
        operands[which] = str(number)
        return f"{guard}{op} {', '.join(operands)};"
    operands[which] = "%mutated"
    kind = "b32" if how == "xor" else "s32"
    first = f"{{ .reg .b32 %mutated; {how}.{kind} %mutated, {value}, {by};"
    return f"{first} {guard}{op} {', '.join(operands)}; }}"


def split(args):
    """The operands; a comma within brackets parts none."""
    return re.findall(r"(?:[^,\[{]|\[[^\]]*\]|\{[^}]*\})+", args)


def of_mbarriers(guard, op, args):
    """(what is edited, the text) of operations on mbarriers."""
    operands = len(split(args))
    if op.startswith("mbarrier.init"):
        for by in (1, -1):
            yield f"count {by:+}", changed(guard, op, args, 1, "add", by)
    if "expect_tx" in op:
        for by in (16, -16):
            yield f"bytes {by:+}", changed(guard, op, args, operands - 1, "add", by)
    elif op.startswith("mbarrier.arrive"):
        yield "twice", f"{guard}{op}{args}; {guard}{op}{args};"
        if operands == 3:
            for by in (1, -1):
                yield f"count {by:+}", changed(guard, op, args, 2, "add", by)
    if re.match(r"mbarrier\.(test|try)_wait", op):
        done = split(args)[0]
        yield "no wait", f"{guard}setp.eq.b32 {done}, 0, 0;"
        if ".parity" in op:
            yield "parity", changed(guard, op, args, 2, "xor", 1)
    if re.match(r"mbarrier\.(arrive|test_wait|try_wait)", op) and "relaxed" not in op:
        if not re.search(r"\.(release|acquire)\.", op):
            begin = re.match(r"mbarrier\.\w+(\.noComplete|\.expect_tx|\.parity)*", op)[0]
            yield "relaxed", f"{guard}{begin}.relaxed.cta{op[len(begin):]}{args};"


def of_groups(guard, op, args):
    """(what is edited, the text) of waits for groups: one more may be on its way."""
    if re.match(r"(cp\.async\.wait_group|cp\.async\.bulk\.wait_group|wgmma\.wait_group)", op):
        yield "one more pending", changed(guard, op, args, 0, "add", 1)
        if op == "cp.async.bulk.wait_group":
            yield "read alone", f"{guard}{op}.read{args};"


def of_barriers(guard, op, args):
    """(what is edited, the text) of named barriers with a count."""
    if re.match(r"(bar|barrier)(\.cta)?\.(sync|arrive)", op) and len(split(args)) == 2:
        for by in (32, -32):
            yield f"count {by:+}", changed(guard, op, args, 1, "add", by)


def of_strength(guard, op, args):
    """(what is edited, the text) of semantics and scopes."""
    for old in (".release", ".acquire", ".acq_rel"):
        if re.search(rf"\{old}(\.|$)", op) and not op.startswith("fence"):
            weak = f"{old}.cluster" if op.startswith("barrier.cluster") else old
            yield "relaxed", f"{guard}{op.replace(weak, '.relaxed', 1)}{args};"
    if op in ("barrier.cluster.arrive", "barrier.cluster.arrive.aligned"):
        relaxed = op.replace(".arrive", ".arrive.relaxed", 1)
        yield "relaxed", f"{guard}{relaxed}{args};"
    for wide, narrow in ((".cluster", ".cta"), (".gpu", ".cta"), (".sys", ".cta")):
        scoped = re.search(rf"\.(release|acquire|relaxed|acq_rel|sc)\{wide}(\.|$)", op)
        if scoped and not op.startswith(("barrier.cluster", "fence.mbarrier_init")):
            narrower = op.replace(f".{scoped[1]}{wide}", f".{scoped[1]}{narrow}", 1)
            yield f"{narrow} scope", f"{guard}{narrower}{args};"
    if op == "fence.proxy.async.shared::cluster":
        yield "::cta", f"{guard}fence.proxy.async.shared::cta{args};"
    if op.startswith("mbarrier.arrive") and ".shared::cluster" in op:
        yield "::cta", f"{guard}{op.replace('.shared::cluster', '.shared::cta')}{args};"


def edits(guard, op, args):
    if any(op == begin or op.startswith(begin + ".") for begin in LEFT_OUT):
        yield "left out", ""
    if op.startswith("tcgen05.commit"):
        yield "twice", f"{guard}{op}{args}; {guard}{op}{args};"
    for room in (of_mbarriers, of_groups, of_barriers, of_strength):
        yield from room(guard, op, args)


def mutants_of(kernel, text):
    """Every mutant of a kernel, in the order of its lines."""
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0]
        for at in INSTRUCTION.finditer(code):
            for edit, new in edits(at["guard"] or "", at["op"], at["args"]):
                if new is not None:
                    yield Mutant(kernel, number, edit, at[0], new)


def mutated(text, mutant):
    lines = text.splitlines()
    lines[mutant.line - 1] = lines[mutant.line - 1].replace(mutant.old, mutant.new, 1)
    return "\n".join(lines) + "\n"


def explained(mutant, verdict, rows):
    reason = reason_of(mutant, rows) if verdict.word == "unexplained" else None
    return verdict if reason is None else verdict._replace(word="no effect", note=reason)


class Judge:
    """One kernel: what it computes as it is, and what becomes of a mutant."""

    def __init__(self, arguments, kernel):
        self.warptwin = arguments.warptwin
        self.limit = arguments.time_limit
        self.kernel = kernel
        self.launch = arguments.folder / f"{kernel}.json"
        self.ptx = arguments.folder / f"{kernel}.ptx"
        self.text = self.ptx.read_text(encoding="utf-8")
        launch = json.loads(self.launch.read_text(encoding="utf-8"))
        self.outputs = [n for n, made in launch["buffers"].items() if made["use"] == "output"]
        self.schedules = schedules(arguments.schedules, launch)
        self.without = [word for name in arguments.without for word in ("--without", name)]
        self.warnings = frozenset()  # of the kernel as it is

    def command(self, name, ptx, *options):
        command = [self.warptwin, "ptx", name, ptx, "--launch", self.launch, *options]
        limit = ["--time-limit", str(self.limit)]
        return subprocess.run([*command, *limit], capture_output=True, text=True, check=False)

    def check(self, ptx):
        done = self.command("check", ptx, "--json", *self.without)
        try:
            report = json.loads(done.stdout)
        except json.JSONDecodeError:
            report = {}
        if done.returncode == 1:
            return Verdict("found", severities(report, "error", "fatal"), "")
        if done.returncode == 5:
            return Verdict("undecided", [], ended(report, done.stderr))
        if done.returncode == 2:
            return Verdict("refused", [], done.stderr.strip().splitlines()[-1][:160])
        if done.returncode != 0:
            return Verdict("crashed", [], f"exit code {done.returncode}: {done.stderr[-160:]}")
        warned = severities(report, "warning")
        # Proved, but for what the manual leaves open.
        warned += re.findall(r"--rule (\w+=\w+) the launch is refuted", report["strength"])
        new = [name for name in warned if name not in self.warnings]
        return Verdict("warned", new, "") if new else Verdict("not found", warned, "")

    def outcome(self, ptx, schedule):
        """How a run by one schedule ends, and the bytes of its outputs."""
        with tempfile.TemporaryDirectory() as name:
            files = [pathlib.Path(name, f"{output}.npy") for output in self.outputs]
            options = ["--strategy", schedule, "--seed", "1", *self.without]
            for output, file in zip(self.outputs, files):
                options += ["--out", f"{output}={file}"]
            done = self.command("run", ptx, *options)
            values = [file.read_bytes() if file.exists() else b"" for file in files]
            return done.returncode, values

    @functools.cached_property
    def right(self):
        return self.outcome(self.ptx, "round-robin")

    def otherwise(self, ptx, names):
        """The first schedule with another outcome than the kernel's as it is, or None."""
        for schedule in names:
            if self.outcome(ptx, schedule) != self.right:
                return schedule
        return None


def severities(report, *wanted):
    return sorted({f["id"] for f in report.get("findings", []) if f["severity"] in wanted})


def ended(report, errors):
    said = report.get("undecided") or report.get("conditions") or errors.strip().splitlines()[-1:]
    return str(said[0])[:160] if said else str(report.get("verdict"))


def count(shape):
    shape = shape if isinstance(shape, list) else [shape]
    product = 1
    for extent in shape:
        product *= extent
    return product


def schedules(most, launch):
    """Names of schedules: everybody in turn, each warp last, all that is asynchronous last, warps
    with priorities that change, and drawn ones."""
    ctas, threads = count(launch["grid"]), count(launch["block"])
    warps = ctas * ((threads + 31) // 32)
    names = ["round-robin", "in-turn", f"lazy:{warps}"]
    names += [f"starve:{warp}" for warp in range(min(warps, most // 4))]
    for seed in range(most):
        names += [f"random:{seed}", f"pct:{seed}:3:2000"]
    return names[:most]


def reasons_in(file):
    """(kernel's pattern, edit, instruction's pattern, reason), in the order of the file."""
    with open(file, encoding="utf-8") as rows:
        return list(csv.DictReader(rows, delimiter="\t"))


def reason_of(mutant, rows):
    for row in rows:
        lines = row["lines"].split(",") if row["lines"] != "*" else [str(mutant.line)]
        if (re.fullmatch(row["kernel"], mutant.kernel) and re.fullmatch(row["edit"], mutant.edit)
                and re.fullmatch(row["instruction"], mutant.old) and str(mutant.line) in lines):
            return row["reason"]
    return None


def judged(judge, mutant, folder):
    """What is said of a mutant, before the table is asked."""
    file = folder / f"{mutant.kernel}.{mutant.line}.{threading.get_ident()}.ptx"
    file.write_text(mutated(judge.text, mutant), encoding="utf-8")
    verdict = judge.check(file)
    if verdict.word in ("found", "refused", "crashed"):
        return verdict
    schedule = judge.otherwise(file, judge.schedules)
    if schedule is not None:
        return verdict._replace(word="MISSED", note=f"{verdict.note} otherwise by {schedule}")
    if verdict.word in ("warned", "undecided"):
        return verdict
    guard = INSTRUCTION.fullmatch(mutant.old)["guard"] or ""
    trap = mutant._replace(new=f"{guard}trap;")
    file.write_text(mutated(judge.text, trap), encoding="utf-8")
    if judge.otherwise(file, judge.schedules[:1]) is None:
        return verdict._replace(word="not executed")
    return verdict._replace(word="unexplained")


class Journal:
    """Verdicts that an earlier run has kept, by what was judged."""

    def __init__(self, file, arguments):
        self.file = file
        self.asked = [str(arguments.schedules), *arguments.without]
        self.kept = {}
        self.lock = threading.Lock()
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                key, *verdict = json.loads(line)
                self.kept[key] = Verdict(*verdict)

    def judged(self, judge, mutant, folder):
        text = [mutated(judge.text, mutant), judge.launch.read_text(encoding="utf-8"), *self.asked]
        key = hashlib.sha256("\0".join(text).encode()).hexdigest()
        if key not in self.kept:
            verdict = judged(judge, mutant, folder)
            with self.lock:
                self.kept[key] = verdict
                if self.file is not None:
                    with open(self.file, "a", encoding="utf-8") as lines:
                        lines.write(json.dumps([key, *verdict]) + "\n")
        return self.kept[key]


def taken(arguments):
    """The kernels that check says nothing of as they are."""
    names = arguments.kernels or sorted(file.stem for file in arguments.folder.glob("*.ptx"))
    judges = []
    for name in names:
        judge = Judge(arguments, name)
        verdict = judge.check(judge.ptx)
        if verdict.word in ("warned", "not found"):
            judge.warnings = frozenset(verdict.ids)
            judges.append(judge)
        else:
            print(f"{name}: left out: {verdict.word} {' '.join(verdict.ids)} {verdict.note}")
    return judges


def share(part, of):
    return f"{100 * part / of:.2f} %" if of else "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("warptwin", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--schedules", type=int, default=64, help="of what is not found")
    parser.add_argument("--time-limit", type=int, default=60, help="seconds of CPU of a command")
    parser.add_argument("--every", type=int, default=1, help="only each so manieth mutant")
    parser.add_argument("--journal", type=pathlib.Path, help="keeps verdicts, and goes on from it")
    parser.add_argument("--without", action="append", default=[], help="a detector")
    parser.add_argument("--reasons", type=pathlib.Path, default=REASONS)
    parser.add_argument("--all", action="store_true", help="list what is found, too")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    rows = reasons_in(arguments.reasons)
    journal = Journal(arguments.journal, arguments)
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as name, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for judge in taken(arguments):
            mutants = list(mutants_of(judge.kernel, judge.text))[:: arguments.every]
            jobs = [pool.submit(journal.judged, judge, m, pathlib.Path(name)) for m in mutants]
            counted = collections.Counter()
            for mutant, job in zip(mutants, jobs):
                verdict = explained(mutant, job.result(), rows)
                counted[verdict.word] += 1
                if arguments.all or verdict.word != "found":
                    print(f"  {mutant.kernel}:{mutant.line} {mutant.old} | {mutant.edit} | "
                          f"{verdict.word} {' '.join(verdict.ids)} {verdict.note}")
            print(f"{judge.kernel}: {len(mutants)} mutants, {dict(sorted(counted.items()))}",
                  flush=True)
            total += counted
    changing = total["found"] + total["warned"] + total["MISSED"] + total["unexplained"]
    print(f"all: {sum(total.values())} mutants, {dict(sorted(total.items()))}; of {changing} that "
          f"change an outcome, or may, {share(total['found'], changing)} are found, and "
          f"{share(total['warned'], changing)} only warned of")
    sys.exit(1 if total["MISSED"] + total["unexplained"] + total["crashed"] else 0)


if __name__ == "__main__":
    main()
