#!/usr/bin/env python3
"""No public name of the stable headers is undocumented: no class or concept, no member, no value of
an enumeration, no macro. Doxygen, which makes the manual's reference from them, has nothing to
complain of.

  reference_test.py ROOT

exit codes: 0 so it is, 1 not, 77 skipped: there is no Doxygen
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SKIPPED = 77
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


def is_silent(element):
    """Whether a name's documentation has no words."""
    return not any(
        "".join(part.itertext()).strip()
        for part in element.findall("briefdescription") + element.findall("detaileddescription")
    )


def name_of(element):
    return element.findtext("name")


def own_macros(root, path):
    """The macros that a header takes back: they are no names of its reader's."""
    return set(re.findall(r"#undef (\w+)", (root / path).read_text(encoding="utf-8")))


def undocumented(root, file):
    """The names of one of Doxygen's files that have no documentation: it warns of most of them, and
    of no concept, value of an enumeration, macro, or member that the compiler could have written.
    """
    for compound in xml.etree.ElementTree.parse(file).getroot().iter("compounddef"):
        name = compound.findtext("compoundname")
        if compound.get("kind") in {"class", "struct", "union", "concept"} and is_silent(compound):
            yield f"{name} is not documented"
        for member in compound.iter("memberdef"):
            location = member.find("location")
            path = pathlib.Path(root, location.get("file")).relative_to(root)
            where = f"{path}:{location.get('line')}: {name_of(member)}"
            is_own = member.get("kind") == "define" and name_of(member) in own_macros(root, path)
            if is_own or member.get("prot") == "private":
                continue
            if is_silent(member):
                yield f"{where} of {name} is not documented"
            for value in member.findall("enumvalue"):
                if is_silent(value):
                    yield f"{where}::{name_of(value)} is not documented"


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
        files = sorted(pathlib.Path(output, "xml").glob("*.xml"))
        classes = [file for file in files if "warptwin" in file.name]
        wrong = [line for line in result.stderr.splitlines() if line]
        wrong += sorted({line for file in files for line in undocumented(root, file)})
    print("\n".join(wrong))
    print(f"{len(classes)} classes and namespaces")
    # Doxygen that read nothing would complain of nothing.
    return 1 if wrong or result.returncode != 0 or len(classes) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
