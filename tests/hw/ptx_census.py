#!/usr/bin/env python3
"""The instructions a kernel entry must be made of, and those it must not need.

  ptx_census.py FILE.ptx LIST       every pattern of LIST is found in the kernel entries, as often
                                    as it says; no local memory, no calls
  ptx_census.py --same A.ptx B.ptx  the kernel entries are made of the same statements
  ptx_census.py --self-test

A line of LIST is a regular expression for one statement, matched at its start after any predicate:
  PATTERN           at least once
  =N PATTERN        exactly N times
  ! PATTERN         never
Empty lines and lines that begin with # are skipped.
"""

import re
import sys

ENTRY = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)*\.entry\s+(\w+)")
LOCAL_MEMORY = re.compile(r"__local_depot|\b(?:ld|st)\.local\b")
CALL = re.compile(r"(?:@!?%\w+\s+)?call(?:\.uni)?\b")
PREFIX = re.compile(r"(?:\{|@!?%?\w+\s)\s*")


def entries(text):
    """The statements of each kernel entry: [(name, [statement])]."""
    found = []
    depth = 0
    name = None
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        if name is None:
            match = ENTRY.match(line)
            if match:
                name = match.group(1)
                found.append((name, []))
            continue
        opened, closed = line.count("{"), line.count("}")
        inside = depth > 0
        depth += opened - closed
        if inside and line:
            found[-1][1].append(line)
        if inside and depth == 0:
            name = None
    return found


def starts(statement, pattern):
    while True:
        if pattern.match(statement):
            return True
        prefix = PREFIX.match(statement)
        if not prefix:
            return False
        statement = statement[prefix.end() :]


def rules(text):
    """[(count or None for at least one, pattern)]; a count of 0 is never."""
    parsed = []
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        counted = re.match(r"=(\d+)\s+(.*)", line)
        if counted:
            parsed.append((int(counted.group(1)), counted.group(2)))
        elif line.startswith("!"):
            parsed.append((0, line[1:].strip()))
        else:
            parsed.append((None, line))
    return parsed


def check_ptx(text, list_text):
    """What is wrong, one line each."""
    faults = []
    kernels = entries(text)
    if not kernels:
        return ["no kernel entry"]
    statements = [statement for _, body in kernels for statement in body]
    for statement in statements:
        if LOCAL_MEMORY.search(statement):
            faults.append(f"local memory: {statement}")
        if CALL.match(statement):
            faults.append(f"a call: {statement}")
    for count, source in rules(list_text):
        pattern = re.compile(source)
        seen = sum(starts(statement, pattern) for statement in statements)
        if count is None and seen == 0:
            faults.append(f"missing: {source}")
        elif count is not None and seen != count:
            faults.append(f"{seen} times instead of {count}: {source}")
    return faults


def check_same(first, second):
    """The statements that only one has, the kernels' names and the order aside: the compiler may
    order what is independent."""
    bodies = []
    for text in (first, second):
        kernels = entries(text)
        if len(kernels) != 1:
            return [f"{len(kernels)} kernel entries instead of one"]
        name, body = kernels[0]
        bodies.append(sorted(statement.replace(name, "KERNEL") for statement in body))
    if len(bodies[0]) != len(bodies[1]):
        return [f"{len(bodies[0])} statements and {len(bodies[1])}"]
    return [f"{a} and {b}" for a, b in zip(*bodies) if a != b][:5]


SAMPLE = """
.visible .entry kernel(
\t.param .u64 p
)
.maxntid 64, 1, 1
{
\t.reg .pred %p<2>;
\t@%p1 bra $L1;
\t{
\t.reg .pred P;
\telect.sync _|P, 0xffffffff;
\t}
\t@%p1 bar.sync 0;
\tbar.sync 1, 64; // bar.arrive
}
"""


def self_test():
    def expect(actual, expected):
        if actual != expected:
            sys.exit(f"self-test: {actual!r} instead of {expected!r}")

    expect(check_ptx(SAMPLE, "=2 bar\\.sync\nelect\\.sync\n! bar\\.arrive\n# a comment"), [])
    expect(check_ptx(SAMPLE, "mbarrier\\.init"), ["missing: mbarrier\\.init"])
    expect(check_ptx(SAMPLE, "=1 bar\\.sync"), ["2 times instead of 1: bar\\.sync"])
    expect(check_ptx(SAMPLE, "! elect"), ["1 times instead of 0: elect"])
    called = SAMPLE.replace("bar.sync 1, 64;", "call.uni f, ();")
    expect(check_ptx(called, ""), ["a call: call.uni f, ();"])
    spilled = SAMPLE.replace(".reg .pred %p<2>;", ".local .b8 __local_depot0[16];")
    expect(check_ptx(spilled, ""), ["local memory: .local .b8 __local_depot0[16];"])
    expect(check_ptx("", ""), ["no kernel entry"])
    expect(check_same(SAMPLE, SAMPLE.replace("kernel", "observed")), [])
    expect(
        check_same(SAMPLE, SAMPLE.replace("bar.sync 0;", "bar.sync 2;")),
        ["@%p1 bar.sync 0; and @%p1 bar.sync 2;"],
    )
    expect(check_same(SAMPLE, SAMPLE.replace("\t}\n", "\tnop;\n\t}\n")), ["9 statements and 10"])
    expect(check_same("", ""), ["0 kernel entries instead of one"])


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        faults = []
    elif len(arguments) == 3 and arguments[0] == "--same":
        faults = check_same(read(arguments[1]), read(arguments[2]))
    elif len(arguments) == 2:
        found = check_ptx(read(arguments[0]), read(arguments[1]))
        faults = [f"{arguments[0]}: {fault}" for fault in found]
    else:
        sys.exit(__doc__)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
