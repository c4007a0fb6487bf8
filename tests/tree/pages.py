"""The rules of the pages: what a page points to is there.

`check(root, warptwin)` returns every breach as 'path:line: what'. A page is README.md or docs/*.md.
Checked are:
- links: the target exists, and so does its anchor;
- paths, in backticks and in commands: a file or folder of the tree, by its path from the top. The
  suffix may be left out, and a test may be named without 'tests/'. A word in capitals (NAME, PATH,
  SCENARIO) stands for anything, and something must fit;
- programs below build/: a target of that name is in a CMakeLists.txt;
- commands of warptwin, in backticks and in fenced text: the subcommand, its options, and the
  scenario are known to the program; of warptwin-hw: the options are in its source;
- commands of scripts: their options are in the script;
- options alone, in backticks: some command or script knows them;
- README.md is short; details stand in a page of docs;
- a paragraph has no line that begins like an item of a list, which it would be rendered as;
- the manual's order of pages, docs/manual/index.md: it names every page once, and no other.
Without `warptwin`, the program, commands and options are not looked at.
"""

import dataclasses
import fnmatch
import functools
import json
import pathlib
import posixpath
import re
import shlex
import subprocess

TOP = ("common/", "docs/", "hw/", "scenarios/", "scripts/", "sim/", "tests/")
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)+/?")
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}(?![A-Za-z0-9])")
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *$")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
OPTION = re.compile(r"--[a-z][a-z0-9-]*")
BUILT = re.compile(r"build/(?:release|fuzz)/(?:bin|tests)/([\w.-]+)")
# Commands of warptwin whose first operand is a scenario.
OF_SCENARIO = {
    "check",
    "explore",
    "extract",
    "mutate",
    "prove",
    "replay",
    "run",
    "show",
    "time",
    "trace",
}
MANUAL = "docs/manual/index.md"
README_LINES_MAX = 150
HW_COMMAND = "sim/cli/hw_command.cpp"


@dataclasses.dataclass(frozen=True)
class Code:
    """Text in backticks or in a fence: its first line's number, and whether it was fenced."""

    line: int
    text: str
    fenced: bool


@dataclasses.dataclass(frozen=True)
class Page:
    path: str
    text: str

    @functools.cached_property
    def _split(self):
        """(fenced code, the text with fences blanked, line by line as it was)."""
        codes, prose, fence = [], [], None
        for number, line in enumerate(self.text.split("\n"), 1):
            if line.startswith("```"):
                if fence is not None:
                    codes.append(Code(fence[0], "\n".join(fence[1]), True))
                fence = (number + 1, []) if fence is None else None
                line = ""
            elif fence is not None:
                fence[1].append(line)
                line = ""
            elif line.startswith("    ") and (not prose or not prose[-1].strip()):
                codes.append(Code(number, line.strip(), True))
                line = ""
            prose.append(line)
        return codes, "\n".join(prose)

    @property
    def prose(self):
        return self._split[1]

    def line_of(self, offset):
        return self.prose.count("\n", 0, offset) + 1

    def codes(self):
        yield from self._split[0]
        for found in re.finditer(r"`([^`]+)`", self.prose):
            text = " ".join(found.group(1).split())
            yield Code(self.line_of(found.start()), text, False)

    @functools.cached_property
    def anchors(self):
        """What GitHub calls the headings."""
        names = []
        for line in self.prose.split("\n"):
            heading = HEADING.match(line)
            if heading:
                text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
                names.append(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
        return names


def read_pages(root):
    root = pathlib.Path(root)
    paths = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    return [
        Page(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
        if path.exists()
    ]


class Command:
    """What `warptwin` knows: its subcommands, their options, the scenarios."""

    def __init__(self, program):
        self.program = str(program)
        usage = self._say("--help")
        self.names = set(re.findall(r"^  ([a-z][a-z-]*) ", usage, re.MULTILINE))
        listed = json.loads(self._say("list", "--json"))
        self.scenarios = {scenario["name"] for scenario in listed}

    def _say(self, *arguments):
        return subprocess.run(
            [self.program, *arguments], capture_output=True, text=True, check=True
        ).stdout

    @functools.cache
    def options(self, name):
        return set(OPTION.findall(self._say(name, "--help"))) | {"--help"}

    @functools.cached_property
    def all_options(self):
        return set().union(*(self.options(name) for name in self.names))


class Tree:
    """What the repository at `root` holds."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.paths = set()
        for top in TOP:
            for path in (self.root / top).rglob("*"):
                self.paths.add(path.relative_to(self.root).as_posix())
            self.paths.add(top.rstrip("/"))

    def has(self, path):
        """Whether `path`, from the top, is there: itself, without its suffix, or as a test."""
        pattern = PLACEHOLDER.sub("*", path.rstrip("/"))
        wanted = [start + pattern + end for start in ("", "tests/") for end in ("", ".*")]
        if not any(letter in pattern for letter in "*?["):
            wanted = [one for one in wanted if one.endswith("*") or one in self.paths]
        return any(fnmatch.filter(self.paths, one) for one in wanted)

    @functools.cache
    def text(self, path):
        """The text of a file, or nothing where it is not there."""
        file = self.root / path
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    @functools.cached_property
    def _lists(self):
        """The text of all that CMake reads."""
        paths = [path for path in self.paths if path.endswith(("CMakeLists.txt", ".cmake"))]
        return " ".join(self.text(path) for path in ["CMakeLists.txt", *sorted(paths)])

    def builds(self, program):
        """Whether some CMakeLists.txt makes a program of this name."""
        base = program.removesuffix("-hw")
        short = base.removesuffix("_benchmark")
        words = {base, short} if short != base else {base}
        return any(
            re.search(rf"(?:add_\w+|warptwin_add_\w+)\(\s*{re.escape(word)}(?![\w.-])", self._lists)
            for word in words
        )

    @functools.cached_property
    def hw_options(self):
        """Options of warptwin-hw: the first texts of the pairs and triples of `all_options`."""
        _, _, rest = self.text(HW_COMMAND).partition("all_options() {")
        options = rest.partition("return all;")[0]
        return {"--" + word for word in re.findall(r'\(\s*"([a-z][a-z-]*)(?:,h)?",', options)}

    @functools.cached_property
    def script_options(self):
        """Options that stand in any script, test or benchmark."""
        files = [path for path in self.paths if path.startswith(("scripts/", "tests/"))]
        kept = [path for path in files if pathlib.PurePosixPath(path).suffix in {"", ".py", ".cpp"}]
        return {option for path in kept for option in OPTION.findall(self.text(path))}


def check_links(page, pages, root):
    by_path = {one.path: one for one in pages}
    folder = pathlib.PurePosixPath(page.path).parent
    for found in LINK.finditer(re.sub(r"`[^`\n]*`", lambda m: " " * len(m.group()), page.prose)):
        target = found.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        where = f"{page.path}:{page.line_of(found.start())}"
        path, _, anchor = target.partition("#")
        name = posixpath.normpath(str(folder / path)) if path else page.path
        if not (pathlib.Path(root) / name).exists():
            yield f"{where}: the link's target '{path}' is not there"
            continue
        if anchor and anchor not in (by_path[name].anchors if name in by_path else []):
            yield f"{where}: {name} has no heading '#{anchor}'"


def check_headings(page):
    """A heading is at most one level below the one before it: the manual's tool asks for that."""
    before = 6
    for number, line in enumerate(page.prose.split("\n"), start=1):
        if HEADING.match(line):
            level = len(line) - len(line.lstrip("#"))
            if level > before + 1:
                yield f"{page.path}:{number}: a heading of level {level} below one of {before}"
            before = level


def check_items(page):
    """A sentence that goes on with "1. " or "- " at the beginning of a line breaks off there."""
    before, in_list = "", False
    for number, line in enumerate(page.prose.split("\n"), start=1):
        item = ITEM.match(line)
        if item and before.strip() and not in_list and not HEADING.match(before):
            yield f"{page.path}:{number}: a line of a paragraph begins like an item of a list"
        in_list = bool(line.strip()) and (in_list or bool(item))
        before = line


def check_length(page):
    """The README says what warptwin is and where the rest stands, and no more."""
    count = page.text.count("\n")
    if page.path == "README.md" and count > README_LINES_MAX:
        yield (
            f"{page.path}:{count}: {count} lines; at most {README_LINES_MAX}: "
            "put details into a page of docs"
        )


def without_comment(line):
    """A line of a shell, without what stands behind ' #'."""
    return re.split(r"(?:^|\s)#", line, maxsplit=1)[0].rstrip()


def command_lines(code):
    """(line number, words) of each command in the text; continued lines are one."""
    text = code.text
    lines = text.split("\n") if code.fenced else [text]
    number, held = 0, ""
    for offset, line in enumerate(lines):
        number = number if held else code.line + offset
        line = held + without_comment(line.removeprefix("$ "))
        if line.endswith("\\"):
            held = line[:-1]
            continue
        held = ""
        try:
            words = shlex.split(line)
        except ValueError:
            continue  # no text of a shell
        if words:
            yield number, words


def check_paths(page, tree):
    for code in page.codes():
        for number, words in command_lines(code):
            for word in words:
                built = BUILT.match(word)
                if built and not PLACEHOLDER.search(built.group(1)):
                    if not tree.builds(built.group(1)):
                        yield f"{page.path}:{number}: no CMakeLists.txt builds '{built.group(1)}'"
                elif is_path(code, word) and not tree.has(word.rstrip(".,;:")):
                    yield f"{page.path}:{number}: '{word}' is not in the tree"


def is_path(code, word):
    """Whether a word of code names a file or folder of the tree. In a fence only what begins with
    a folder of the top: other text has strokes too."""
    if not PATH.fullmatch(word.rstrip(".,;:")):
        return False
    if word.startswith(TOP):
        return True
    suffix = pathlib.PurePosixPath(word).suffix
    return not code.fenced and suffix in {".cpp", ".hpp", ".cu", ".cuh", ".py", ".md", ".json"}


def check_command(command, words):
    """What is wrong with a command of warptwin."""
    name = words[0]
    if name.startswith("-"):
        if name not in {"--help", "-h"}:
            yield f"warptwin has no option '{name}'"
        return
    if PLACEHOLDER.fullmatch(name) or "|" in name:
        return
    if name not in command.names:
        yield f"warptwin has no command '{name}'"
        return
    for word in words[1:]:
        option = OPTION.match(word)
        if option and option.group() not in command.options(name):
            yield f"'warptwin {name}' has no option '{option.group()}'"
    operand = words[1] if len(words) > 1 else ""
    if name in OF_SCENARIO and re.fullmatch(r"[a-z]\w*", operand):
        if operand not in command.scenarios:
            yield f"'warptwin {name} {operand}': there is no such scenario"


def check_foreign(tree, words, scenarios):
    """What is wrong with a command of warptwin-hw, or of a script."""
    options = [found.group() for found in map(OPTION.match, words[1:]) if found]
    if words[0].startswith("scripts/"):
        known = set(OPTION.findall(tree.text(words[0])))
    else:
        known = tree.hw_options
        operand = words[1] if len(words) > 1 else ""
        if re.fullmatch(r"[a-z]\w*", operand) and operand not in {*scenarios, "list"}:
            yield f"'warptwin-hw {operand}': there is no such scenario"
    for option in options:
        if option not in known:
            yield f"'{words[0]}' has no option '{option}'"


def check_commands(page, command, tree):
    for code in page.codes():
        for number, words in command_lines(code):
            faults = []
            if re.fullmatch(r"(?:\S*/)?warptwin", words[0]) and len(words) > 1:
                faults = check_command(command, words[1:])
            elif re.fullmatch(r"(?:\S*/)?warptwin-hw|scripts/\S+", words[0]):
                faults = check_foreign(tree, words, command.scenarios)
            for fault in faults:
                yield f"{page.path}:{number}: {fault}"


def check_options(page, command, tree):
    """Options by themselves, in backticks."""
    known = command.all_options | tree.hw_options | tree.script_options
    for code in page.codes():
        if code.fenced or not code.text.startswith("--"):
            continue
        for option in OPTION.findall(code.text):
            if option not in known:
                yield f"{page.path}:{code.line}: nothing knows the option '{option}'"


def check_order(pages, root):
    """A tree without a manual has no order."""
    manual = pathlib.Path(root) / MANUAL
    if not manual.exists():
        return
    text = manual.read_text(encoding="utf-8")
    # "page", or "Title <page>".
    named = re.findall(r"^(?:\w.* <(?=.*>$))?([a-z0-9-]+)>?$", text, re.MULTILINE)
    # The README stands in the manual under its own name.
    there = {pathlib.PurePosixPath(page.path).stem.lower() for page in pages}
    for name in sorted({*named} | there):
        if name not in there:
            yield f"{MANUAL}: there is no page '{name}'"
        elif named.count(name) != 1:
            yield f"{MANUAL}: the page '{name}' is named {named.count(name)} times, not once"


def check(root, warptwin=None):
    """Every breach of every rule in the pages of the tree at `root`."""
    pages, tree = read_pages(root), Tree(root)
    command = Command(warptwin) if warptwin else None
    breaches = list(check_order(pages, root))
    for page in pages:
        breaches += check_links(page, pages, root)
        breaches += check_headings(page)
        breaches += check_items(page)
        breaches += check_length(page)
        breaches += check_paths(page, tree)
        if command:
            breaches += check_commands(page, command, tree)
            breaches += check_options(page, command, tree)
    return breaches
