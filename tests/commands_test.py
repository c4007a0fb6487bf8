#!/usr/bin/env python3
"""Every command of warptwin that README.md or a page of docs shows runs as it stands there.

  commands_test.py WARPTWIN ROOT [--slow]

A command is shown in fenced text, or in backticks with the name of a scenario. It runs in a folder
that has the files that it names, and ends with a code of a verdict: 0, 1 or 5; those of OTHER_CODES
with another. Commands with a placeholder (NAME, SCENARIO) are left out. --slow runs those that take
longer than a few seconds, and no others. docs/log.md tells of what was, and is left out.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "tree"))
import pages  # noqa: E402

VERDICTS = {0, 1, 5}
# By how a command begins: the code that it must end with here, and why.
OTHER_CODES = {
    "run gemm --on functional,timed,hw": ({0, 1, 4, 5}, "there may be no GPU"),
    "cuda --chip h200": ({0, 1, 2, 4, 5}, "the program of the example launches nothing"),
    "compare simulated.trace h200.trace": ({0, 1, 5}, "both are of the simulator here"),
}
SLOW = re.compile(r"--all\b|calibrate|m=8192|mutate|validate --data docs|tile_n=256 --set cl")
SECONDS_MAX = 600  # of one command
# What a command finds in its folder: the file, and what of the tree it is a copy of.
COPIES = {
    "kernel.ptx": "tests/sim/ptx/machine/ring.ptx",
    "launch.json": "tests/sim/ptx/machine/ring.json",
    "scale.ptx": "tests/sim/ptx/machine/ring.ptx",
    "kernels/scale.json": "tests/sim/ptx/machine/ring.json",
    "launches/3/kernel.ptx": "tests/sim/ptx/machine/ring.ptx",
    "launches/3/launch.json": "tests/sim/ptx/machine/ring.json",
    "a.ptx": "tests/sim/ptx/machine/ring.ptx",
    "b.ptx": "tests/sim/ptx/machine/meeting.ptx",
    "ring.txt": "tests/programs/row04_right.txt",
    "rows.json": "docs/data/h200_mainloop_behind.json",
}
HALF_L2 = """{"name": "half_l2", "summary": "less L2", "base": "b200", "constants":
{"l2_bytes": {"value": 66060288, "unit": "B", "source": "assumed"}}}"""
TEXTS = {
    "accepted.txt": "gemm * MBAR_NOT_INVALIDATED nothing follows in its memory\n",
    "known.json": '{"warptwin_baseline": 1, "findings": []}\n',
    "half_l2.json": HALF_L2,
    "app": "#!/bin/sh\nexit 0\n",
}


def shown(root, scenarios):
    """(page, line, words) of each command that stands in a page, each once."""
    seen = set()
    for page in pages.read_pages(root):
        if page.path == "docs/log.md":
            continue
        for code in page.codes():
            for line, words in pages.command_lines(code):
                if not re.fullmatch(r"(?:\S*/)?warptwin", words[0]) or len(words) < 2:
                    continue
                if not code.fenced and not scenarios.intersection(words[2:3]):
                    continue
                text = " ".join(words[1:])
                if pages.PLACEHOLDER.search(re.sub(r"\S*_\S*|0x\S*", "", text)) or text in seen:
                    continue
                seen.add(text)
                yield page.path, line, words[1:]


class Folder:
    """Where a command runs, with all that the pages' commands name."""

    def __init__(self, warptwin, root, folder):
        self.warptwin, self.path = warptwin, pathlib.Path(folder)
        for top in ("tests", "docs", "scenarios"):
            (self.path / top).symlink_to(root / top)
        for name, source in COPIES.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / source, self.path / name)
        for name, text in TEXTS.items():
            (self.path / name).write_text(text, encoding="utf-8")
        (self.path / "app").chmod(0o755)

    def run(self, words):
        """(exit code, what it said) of a command; '> FILE' is where its output goes."""
        target = None
        if ">" in words:
            target, words = words[words.index(">") + 1], words[: words.index(">")]
        result = subprocess.run(
            [self.warptwin, *words],
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        if target:
            (self.path / target).write_text(result.stdout, encoding="utf-8")
        return result.returncode, result.stdout[-500:] + result.stderr[-500:]

    def prepare(self, words):
        """Makes the files that other commands of warptwin write."""
        made = {
            "a.npy": ["make-input", "--shape", "512x1024", "a.npy"],
            "simulated.trace": ["trace", "gemm", "--to", "simulated.trace"],
            "h200.trace": ["trace", "gemm", "--to", "h200.trace"],
            "a.trace": ["trace", "gemm", "--to", "a.trace"],
            "b.trace": ["trace", "gemm", "--on", "timed", "--to", "b.trace"],
        }
        for name, command in made.items():
            if any(word.endswith(name) for word in words) and words != command:
                code, said = self.run(command)
                if code != 0:
                    raise SystemExit(f"warptwin {' '.join(command)}: ends with {code}\n{said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("warptwin", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--slow", action="store_true")
    options = parser.parse_args()
    warptwin, root = options.warptwin.resolve(), options.root.resolve()
    scenarios = pages.Command(str(warptwin)).scenarios
    ran = wrong = 0
    for page, line, words in shown(root, set(scenarios)):
        text = " ".join(words)
        if bool(SLOW.search(text)) != options.slow:
            continue
        codes = next((row[0] for key, row in OTHER_CODES.items() if text.startswith(key)), VERDICTS)
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            place = Folder(warptwin, root, folder)
            place.prepare(words)
            code, said = place.run(words)
        print(f"{time.monotonic() - begin:6.1f} s  warptwin {text}", flush=True)
        ran += 1
        if code not in codes:
            print(f"{page}:{line}: 'warptwin {text}' ends with {code}:\n{said}")
            wrong += 1
    print(f"{ran} commands, {wrong} wrong")
    return 1 if wrong or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
