#!/usr/bin/env python3
"""No public name of the stable headers is undocumented: no class, and no function, type or constant
of a namespace. Doxygen, which makes the manual's reference from them, has nothing else to complain
of either.

  reference_test.py ROOT

exit codes: 0 so it is, 1 not, 77 skipped: there is no Doxygen
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# The members of a class: its documentation speaks of them where their names do not.
OF_CLASS = re.compile(r"warning: Member .* of (class|struct|union) .* is not documented\.$")
# Folders of common that are installed for the simulator's libraries, and are not stable.
NOT_STABLE = {"trace", "report"}


def doxyfile(root, output):
    """The manual's, that writes XML into another folder: XML costs least."""
    text = (root / "docs/manual/Doxyfile").read_text(encoding="utf-8")
    changes = {"OUTPUT_DIRECTORY": output, "GENERATE_HTML": "NO", "GENERATE_XML": "YES"}
    return text + "".join(f"{key} = {value}\n" for key, value in changes.items())


def inputs(root):
    text = (root / "docs/manual/Doxyfile").read_text(encoding="utf-8")
    return set(re.search(r"^INPUT = (.*)$", text, re.MULTILINE).group(1).split())


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if shutil.which("doxygen") is None:
        print("skipped: there is no Doxygen; apt-get install doxygen")
        return SKIPPED
    folders = {f"common/{path.name}" for path in (root / "common").iterdir() if path.is_dir()}
    expected = folders - {f"common/{name}" for name in NOT_STABLE}
    if inputs(root) != expected:
        print(f"docs/manual/Doxyfile: INPUT is not {' '.join(sorted(expected))}")
        return 1
    with tempfile.TemporaryDirectory() as output:
        result = subprocess.run(
            ["doxygen", "-"],
            input=doxyfile(root, output),
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        documented = len(list(pathlib.Path(output, "xml").glob("*warptwin*.xml")))
    wrong = [line for line in result.stderr.splitlines() if line and not OF_CLASS.search(line)]
    print("\n".join(wrong))
    print(f"{documented} classes and namespaces")
    # Doxygen that read nothing would complain of nothing.
    return 1 if wrong or result.returncode != 0 or documented < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
