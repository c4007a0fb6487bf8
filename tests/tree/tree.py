"""The rules of the source tree: who may include whom, what a file may look like, and how long.

`check(root)` returns every breach as 'path:line: what'. What may include what is the table below.
"""

import dataclasses
import functools
import pathlib
import re

import lengths

CPP_SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu"}
TEXT_SUFFIXES = CPP_SUFFIXES | {".cmake", ".in", ".json", ".md", ".py", ".sh", ".txt", ".yml", ""}
TOP_FOLDERS = [".ci", ".github", "common", "docs", "hw", "scenarios", "scripts", "sim", "tests"]
# Files held to the columns; scripts without a suffix and CMakeLists.txt too.
NARROW_SUFFIXES = CPP_SUFFIXES | {".cmake", ".in", ".py", ".sh", ""}
COLUMNS_MAX = 100

# Folders of common, lowest first. A folder includes itself and those that stand in an earlier row.
COMMON_ORDER = [
    ["machine"],
    ["sync", "trace", "report"],
    ["pipeline"],
    ["tile"],
    ["warp"],
    ["kernel"],
]

# What a folder may include, itself always. The longest prefix of a file's folder is its row.
MAY_INCLUDE = {
    "common": ["common"],
    "scenarios": ["common"],
    "hw/ptx": ["common"],
    "hw/record": ["common", "hw/ptx"],
    "hw/cuda": ["common", "hw/ptx", "hw/record"],
    "hw/launch": ["common", "hw/ptx", "hw/record", "hw/cuda"],
    "hw/bench": ["common", "hw", "scenarios"],
    "sim/model": ["common"],
    "sim/program": ["common", "sim/model"],
    "sim/oracle": ["common", "sim/model", "sim/program", "sim/functional"],
    "sim/check": ["common", "sim/model"],
    "sim/prove": ["common", "sim/model"],
    "sim/fibers": [],
    "sim/json": [],
    "sim/functional": ["common", "sim/model", "sim/fibers"],
    "sim/timed": ["common", "sim/model", "sim/fibers", "sim/json"],
    "sim/trace": ["common", "sim/model", "sim/json"],
    "sim/compare": ["common", "sim/model", "sim/trace", "sim/prove"],
    "sim/ptx/text": ["common"],
    "sim/ptx/code": ["common", "sim/ptx/text"],
    "sim/ptx/lanes": ["common", "sim/ptx/text", "sim/ptx/code"],
    "sim/ptx/machine": ["common", "sim/ptx/text", "sim/ptx/code", "sim/ptx/lanes", "sim/model"],
    "sim/run": [
        "common",
        "sim/model",
        "sim/program",
        "sim/ptx",
        "sim/check",
        "sim/prove",
        "sim/functional",
        "sim/oracle",
        "sim/timed",
        "sim/json",
    ],
    "sim/micro": ["common", "sim/model", "sim/check", "sim/prove", "sim/run"],
    "sim/verdict": ["common", "sim/run"],
    "sim/cuda": ["common", "sim/ptx", "sim/run", "sim/json"],
    "sim/report": [
        "common",
        "sim/model",
        "sim/ptx",
        "sim/micro",
        "sim/run",
        "sim/verdict",
        "sim/json",
    ],
    "sim/sweep": ["common", "sim/timed", "sim/run", "sim/verdict", "sim/report", "sim/json"],
    "sim/pictures": [
        "common",
        "sim/model",
        "sim/check",
        "sim/trace",
        "sim/compare",
        "sim/report",
        "sim/json",
    ],
    "sim/cli": ["common", "sim", "hw", "scenarios"],
    "tests": ["common", "sim", "hw", "scenarios"],
}
# Folders whose files are parts of what the folder above is: the two include each other, and are
# one folder where folders may not include each other in a circle.
PARTS = [
    "sim/check/detectors",  # each is a Detector, and the folder above makes the list of them
    "sim/cli/commands",  # each is a command, and the folder above has the table of their options
    "sim/functional/schedulers",  # each is a Scheduler; the folder above makes one by its name
    "sim/timed/modules",  # units of an SM, which the folder above puts together
]
# Two folders that know nothing of each other, though others know both.
APART = [
    ("sim/run/proof", "sim/run/time"),  # what a run can prove has no time, and time proves nothing
]
# No one includes these but the folder itself, and the tests.
NOT_INCLUDED = ["sim/cli"]

# One folder for each of these libraries. The first prefix that fits a system include decides.
THIRD_PARTY = [
    ("boost/context", "sim/fibers"),
    ("boost/program_options", "sim/cli"),
    ("systemc", "sim/timed"),
    ("tlm", "sim/timed"),
    ("sysc/", "sim/timed"),
    ("muParser", "sim/sweep"),
    ("protozero/", "sim/pictures"),
    ("mpi.h", "sim/cli"),
    ("cuda", "hw"),
    ("cooperative_groups", "hw"),
    ("nv/target", "hw"),
]
# Folders that name no library but the standard's.
STANDARD_ONLY = ["common", "scenarios"]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
# Put together, so that this file does not hold them.
REMINDERS = ["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"]
CONFLICT = re.compile(r"(?:<{7}|>{7})(?: |$)")
FORBIDDEN_WORDS = re.compile(r"\b(?:" + "|".join(REMINDERS) + r")\b")


@dataclasses.dataclass(frozen=True)
class Source:
    """One file: its path from the root, with '/', and its lines."""

    path: str
    lines: tuple

    @property
    def folder(self):
        return self.path.rpartition("/")[0]

    @property
    def suffix(self):
        return pathlib.PurePosixPath(self.path).suffix

    @property
    def is_cpp(self):
        return self.suffix in CPP_SUFFIXES

    @property
    def is_narrow(self):
        return self.suffix in NARROW_SUFFIXES or self.path.endswith("CMakeLists.txt")

    @functools.cached_property
    def includes(self):
        """(line number, quoted path or None, system path or None) of each #include."""
        found = []
        for number, line in enumerate(self.lines, 1):
            match = INCLUDE.match(line)
            if match:
                found.append((number, match.group(1), match.group(2)))
        return found


def read_tree(root):
    """Every text file of the tree, sorted by path."""
    root = pathlib.Path(root)
    paths = [path for path in root.iterdir() if path.is_file()]
    for folder in TOP_FOLDERS:
        paths += [path for path in (root / folder).rglob("*") if path.is_file()]
    sources = []
    for path in sorted(paths):
        if (
            path.suffix not in TEXT_SUFFIXES
            or "__pycache__" in path.parts
            or path.name == "LICENSE"
        ):
            continue
        text = path.read_text(encoding="utf-8")
        sources.append(Source(path.relative_to(root).as_posix(), tuple(text.split("\n"))))
    return sources


def is_under(folder, prefix):
    return folder == prefix or folder.startswith(prefix + "/")


def row_of(folder):
    """The row of MAY_INCLUDE a folder belongs to; None for one that the table does not know."""
    rows = [row for row in MAY_INCLUDE if is_under(folder, row)]
    return max(rows, key=len) if rows else None


def common_level(path):
    """Where a folder of common stands in its order; None for one that it does not know."""
    parts = path.split("/")
    for level, names in enumerate(COMMON_ORDER):
        if len(parts) > 2 and parts[1] in names:
            return level
    return None


def common_refusal(source, included):
    """Why one file of common may not include another; None where it may."""
    level, below = common_level(source.path), common_level(included)
    if level is None or below is None:
        stranger = source.path if level is None else included
        return f"{stranger} is in no folder of the order in COMMON_ORDER"
    if source.path.split("/")[1] == included.split("/")[1] or below < level:
        return None
    order = ", ".join(" and ".join(names) for names in COMMON_ORDER)
    return f"'{included}' does not stand below this folder; the order is {order}"


def check_own_include(source, included, known):
    """Why `source` may not include `included`; None where it may."""
    if included not in known:
        return (
            f"'{included}' is not in the tree; own headers are included by their path from its top"
        )
    row = row_of(source.folder)
    if row is None:
        return f"the include table has no row for {source.folder}"
    folder = included.rpartition("/")[0]
    for pair in APART:
        for one, other in (pair, pair[::-1]):
            if is_under(source.folder, one) and is_under(folder, other):
                return f"{one} may not include '{included}': it knows nothing of {other}"
    if row == "tests" or is_under(folder, row):
        inside = None
    elif any(is_under(folder, hidden) for hidden in NOT_INCLUDED):
        inside = f"{row} may not include '{included}': nobody does, beside itself and the tests"
    elif any(is_under(folder, allowed) for allowed in MAY_INCLUDE[row]):
        inside = None
    else:
        inside = f"{row} may not include '{included}'; it may include {' '.join(MAY_INCLUDE[row])}"
    if inside is None and row == "common":
        return common_refusal(source, included)
    return inside


def check_system_include(source, name):
    """Why `source` may not include <name>; None where it may."""
    if is_under(source.folder, "tests"):
        return None
    for prefix, home in THIRD_PARTY:
        if name.startswith(prefix):
            if is_under(source.folder, home):
                return None
            return f"<{name}> is for {home} alone"
    if any(is_under(source.folder, plain) for plain in STANDARD_ONLY) and re.search(r"[/.]", name):
        return f"<{name}> is no header of the C++ standard library, and this folder takes no other"
    return None


def check_includes(sources):
    known = {source.path for source in sources}
    for source in sources:
        if not source.is_cpp:
            continue
        for number, own, system in source.includes:
            refusal = (
                check_own_include(source, own, known)
                if own
                else check_system_include(source, system)
            )
            if refusal:
                yield f"{source.path}:{number}: {refusal}"


def circles(graph):
    """(where, the nodes from first to first again) of each edge that closes a circle. `graph` has
    (where, node) for each edge of a node."""
    done, trail = set(), []

    def visit(node):
        trail.append(node)
        for where, other in graph[node]:
            if other in trail:
                yield where, [*trail[trail.index(other) :], other]
            elif other in graph and other not in done:
                yield from visit(other)
        trail.pop()
        done.add(node)

    for node in graph:
        if node not in done:
            yield from visit(node)


def check_cycles(sources):
    """Reports each include that closes a circle of files."""
    graph = {
        source.path: [(f"{source.path}:{number}", own) for number, own, _ in source.includes if own]
        for source in sources
        if source.is_cpp
    }
    for where, circle in circles(graph):
        yield f"{where}: includes in a circle: {' -> '.join(circle)}"


def whole_of(folder):
    """The folder that `folder` counts as: the one above, where it holds that one's parts."""
    return folder.rpartition("/")[0] if folder in PARTS else folder


def check_folder_cycles(sources):
    """Reports the first include from one folder into another that closes a circle of folders."""
    graph = {}
    for source in sources:
        if source.is_cpp:
            edges = graph.setdefault(whole_of(source.folder), {})
            for number, own, _ in source.includes:
                folder = whole_of(own.rpartition("/")[0]) if own else ""
                if folder and folder != whole_of(source.folder):
                    edges.setdefault(folder, f"{source.path}:{number}")
    edges_of = {
        folder: [(where, other) for other, where in edges.items()]
        for folder, edges in graph.items()
    }
    for where, circle in circles(edges_of):
        yield f"{where}: folders include each other in a circle: {' -> '.join(circle)}"


def check_guards(sources):
    for source in sources:
        if source.suffix in {".hpp", ".cuh"} and source.lines.count("#pragma once") != 1:
            yield f"{source.path}:1: a header has '#pragma once', once"


def check_text(sources):
    for source in sources:
        for number, line in enumerate(source.lines, 1):
            where = f"{source.path}:{number}"
            if source.is_narrow and len(line) > COLUMNS_MAX and not line.startswith("// expect:"):
                yield f"{where}: {len(line)} columns; at most {COLUMNS_MAX}"
            if line != line.rstrip():
                yield f"{where}: blanks at the end of the line"
            if "\t" in line:
                yield f"{where}: a tab"
            if CONFLICT.match(line):
                yield f"{where}: a merge left both sides: choose, or put them together"
            if FORBIDDEN_WORDS.search(line):
                yield f"{where}: a reminder is left: finish it, or say what is missing and why"
        if source.lines[-1] != "":
            yield f"{source.path}:{len(source.lines)}: no newline at the end of the file"


def words_of(source):
    """The words of a CMakeLists.txt, without its parentheses."""
    return " ".join(source.lines).replace("(", " ").replace(")", " ").split()


def camel_case(stem):
    return "".join(word[:1].upper() + word[1:] for word in stem.split("_"))


def check_scenarios(sources):
    """Every scenario is in the list, and a test names it or runs the whole list."""
    texts = {source.path: "\n".join(source.lines) for source in sources}
    entries = {
        word
        for source in sources
        if source.path == "scenarios/CMakeLists.txt"
        for word in words_of(source)
    }
    tests = [
        texts[path] for path in texts if path.startswith("tests/") and path.endswith("_test.cpp")
    ]
    for path, text in texts.items():
        if not re.fullmatch(r"scenarios/.*\.hpp", path) or "ScenarioInfo kInfo" not in text:
            continue
        if path not in entries:
            yield f"{path}:1: is not in the list of scenarios/CMakeLists.txt"
        stem = pathlib.PurePosixPath(path).stem
        names = re.compile(rf'\b(?:{camel_case(stem)}|{stem})\b|"{re.escape(path)}"')
        if not any(names.search(test) or "scenario_list()" in test for test in tests):
            name = camel_case(stem)
            yield f"{path}:1: no tests/**/*_test.cpp names {name} or runs scenario_list()"


def check_lists(sources):
    """Every source and header of a library is in the CMakeLists.txt of its folder or one above."""
    lists = {
        source.folder: words_of(source)
        for source in sources
        if source.path.endswith("CMakeLists.txt")
    }
    for source in sources:
        top = source.path.split("/")[0]
        if not source.is_cpp or top not in {"common", "sim", "hw"}:
            continue
        folder = pathlib.PurePosixPath(source.folder)
        above = [folder, *folder.parents]
        listed = any(
            str(pathlib.PurePosixPath(source.path).relative_to(place)) in lists.get(str(place), [])
            for place in above
        )
        if not listed:
            yield f"{source.path}:1: is in no CMakeLists.txt"


def check_tests(sources):
    """Every test file is built: its path without '_test.cpp' is in a warptwin_add_test line."""
    texts = "\n".join(
        "\n".join(source.lines)
        for source in sources
        if source.path.startswith("tests/") and source.path.endswith("CMakeLists.txt")
    )
    for source in sources:
        found = re.fullmatch(r"tests/(.*)_test\.cpp", source.path)
        if found and not re.search(rf"warptwin_add_test\(\s*{re.escape(found.group(1))}\b", texts):
            yield f"{source.path}:1: no warptwin_add_test({found.group(1)}) in tests/"


RULES = [
    check_includes,
    check_cycles,
    check_folder_cycles,
    check_guards,
    check_text,
    lengths.check_lengths,
    check_scenarios,
    check_lists,
    check_tests,
]


def check(root):
    """Every breach of every rule in the tree at `root`."""
    sources = read_tree(root)
    return [breach for rule in RULES for breach in rule(sources)]
