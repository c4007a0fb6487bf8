#!/usr/bin/env python3
"""Does in a new repository what docs/first-kernel.md says, and holds its reports to what is said.

  first_kernel.py REPOSITORY docs/first-kernel.md

REPOSITORY is what `warptwin new` wrote, built in its folder `build`.
"""

import pathlib
import re
import subprocess
import sys

REPOSITORY, PAGE = (pathlib.Path(argument) for argument in sys.argv[1:])
FENCED = re.split(r"^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1::2]
BLOCKS = [text.partition("\n")[2] for text in FENCED]
KERNEL = REPOSITORY / "kernels/reverse_tiles.hpp"
COMMAND = next(path for path in (REPOSITORY / "build").glob("my_kernels*") if path.is_file())


def block(start):
    return next(text for text in BLOCKS if text.startswith(start))


def change(old, new):
    text = KERNEL.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{KERNEL}: '{old}' stands there {text.count(old)} times, not once")
    KERNEL.write_text(text.replace(old, new), encoding="utf-8")


def says(start, *arguments):
    """Builds, and expects each line of the block in what the command says, up to its '...'."""
    subprocess.run(["cmake", "--build", "build"], cwd=REPOSITORY, check=True, capture_output=True)
    said = subprocess.run(
        [COMMAND, *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
    ).stdout
    for line in block(start).splitlines():
        if not any(one.startswith(line.removesuffix("...").rstrip()) for one in said.splitlines()):
            raise SystemExit(f"{PAGE}: '{' '.join(arguments)}' does not say\n  {line}\nbut\n{said}")


def main():
    subprocess.run(["bash", "-euc", block("sed 's/FirstRing/")], cwd=REPOSITORY, check=True)
    lists = REPOSITORY / "CMakeLists.txt"
    text = lists.read_text(encoding="utf-8")
    lists.write_text(text.replace(" kernels/first", " kernels/reverse_tiles.hpp kernels/first", 1))
    store = next(line for line in KERNEL.read_text().splitlines() if "tensor_store(" in line)
    change(store, block("const auto mirrored"))
    says("defect: RESULT_WRONG", "check", "reverse_tiles")
    change("};\n\n}  // namespace", f"{block('static void reference')}}};\n\n}}  // namespace")
    says("output target: agrees", "check", "reverse_tiles")
    says("for every tiles", "prove", "reverse_tiles", "--for-all", "tiles")
    wait = next(line for line in KERNEL.read_text().splitlines() if "wait_group_read<0>" in line)
    change(wait + "\n", "")
    says("defect: BULK_SRC_REUSE", "check", "reverse_tiles")
    print("the first kernel's page says what the commands say")


if __name__ == "__main__":
    main()
