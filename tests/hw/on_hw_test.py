#!/usr/bin/env python3
"""`warptwin run --on functional,hw` with a stand-in for warptwin-hw that hands out a trace which a
GPU recorded, one whose times are changed, or none.

  on_hw_test.py WARPTWIN RECORDED.trace.gz
"""

import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

STAND_IN = """#!{python}
import json, pathlib, sys
said = json.loads(pathlib.Path({said!r}).read_text())
if said["trace"]:
    pathlib.Path(sys.argv[sys.argv.index("--trace") + 1]).write_text(said["trace"])
pathlib.Path({asked!r}).write_text(" ".join(sys.argv[1:]))
print(json.dumps(said["out"]) if said["out"] else "")
print(said["err"], file=sys.stderr)
sys.exit(said["code"])
"""


def expect(found, what, where):
    if not found:
        sys.exit(f"not {what}:\n{where}")


def main(warptwin, recorded):
    trace = gzip.decompress(pathlib.Path(recorded).read_bytes()).decode()
    head = json.loads(trace.split("\n", 1)[0])
    with tempfile.TemporaryDirectory() as place:
        command = shutil.copy(warptwin, f"{place}/twin")
        said, asked = f"{place}/said.json", pathlib.Path(f"{place}/asked")
        stand_in = pathlib.Path(f"{command}-hw")
        stand_in.write_text(
            STAND_IN.format(python=sys.executable, said=said, asked=str(asked)), encoding="utf-8"
        )
        stand_in.chmod(0o755)
        settings = [part for pair in head["parameters"].split() for part in ("--set", pair)]

        def run(code, out, text="", err="", engines="functional,hw"):
            answer = {"code": code, "out": out, "trace": text, "err": err}
            pathlib.Path(said).write_text(json.dumps(answer), encoding="utf-8")
            line = [command, "run", head["scenario"], *settings, "--seed", "7"]
            line += ["--on", engines]
            result = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
            return result.returncode, result.stdout + result.stderr

        right = {"outcome": "right", "detail": ""}
        code, text = run(0, right, trace)
        expect(code == 0 and "the traces agree" in text, "agreed", text)
        expect("hw: right on NVIDIA" in text, "said on what", text)
        words = asked.read_text(encoding="utf-8")
        expect("--seed 7 --values" in words and settings[1] in words, "handed on", words)
        # What waits see takes time, which is compared where the timed engine takes part.
        code, text = run(0, right, trace, engines="timed,hw")
        words = asked.read_text(encoding="utf-8")
        expect("--outputs" in words and "--values" not in words, "left alone", words + text)
        lines = trace.splitlines(keepends=True)
        last = json.loads(lines[-2])
        last["time"] -= 100_000
        code, text = run(0, right, "".join([*lines[:-2], json.dumps(last) + "\n", lines[-1]]))
        expect(code == 1 and "out of order" in text, "refused", text)
        code, text = run(1, {"outcome": "hang", "detail": "hang: 2 warps wait\n  more"})
        expect(code == 1 and "hw: hang: hang: 2 warps wait; nothing" in text, "a finding", text)
        code, text = run(4, None, err="device: no GPU")
        expect(code == 0 and "left out: hw: device: no GPU" in text, "left out", text)
        code, text = run(2, None, err="config: no")
        expect(code == 2 and "ended with 2: config: no" in text, "an error", text)
        code, text = run(0, right, "nonsense\n")
        expect(code == 2 and "no warptwin trace" in text, "an error", text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
