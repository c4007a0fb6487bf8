#!/usr/bin/env python3
"""What scripts/ptx_mutants.py says of two small kernels.

usage: mutants_test.py WARPTWIN
Of the ring of this folder every mutant is found, or named with its reason. Of a kernel that hands
words over by a barrier the mutant without it is found; with the detector of races left out it is
missed, and the script says so.
exit codes: 0 right, 1 wrong
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parents[2] / "scripts" / "ptx_mutants.py"
HANDED_OVER = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry handed(.param .u64 out)
.reqntid 64
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 words[256];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, words;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  xor.b32 %r5, %r2, 128;
  add.u32 %r5, %r3, %r5;
  ld.shared.u32 %r6, [%r5];
  ld.param.u64 %rd1, [out];
  cvt.u64.u32 %rd2, %r2;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
  ret;
}
"""
HANDED_OVER_LAUNCH = {
    "grid": 1,
    "block": 64,
    "buffers": {"out": {"type": "u32", "shape": [1, 64], "use": "output"}},
    "parameters": [{"buffer": "out"}],
}


def mutants(warptwin, folder, kernel, *options):
    command = [sys.executable, "-B", SCRIPT, warptwin, folder, kernel, "--all", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    warptwin = sys.argv[1]
    wrong = []

    def expect(what, said, code, *parts):
        returned, text = said
        missing = [part for part in parts if part not in text]
        if returned != code or missing:
            wrong.append(f"{what}: exit code {returned}, not there: {missing}\n{text}")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        launch = json.loads((HERE / "machine" / "ring.json").read_text(encoding="utf-8"))
        launch["buffers"]["out"]["use"] = "output"
        (folder / "ring.json").write_text(json.dumps(launch), encoding="utf-8")
        (folder / "ring.ptx").write_bytes((HERE / "machine" / "ring.ptx").read_bytes())
        (folder / "handed.ptx").write_text(HANDED_OVER, encoding="utf-8")
        (folder / "handed.json").write_text(json.dumps(HANDED_OVER_LAUNCH), encoding="utf-8")
        few = ["--schedules", "12"]
        expect("the ring", mutants(warptwin, folder, "ring", *few), 0,
               "ring: 24 mutants, {'found': 22, 'no effect': 2}", "parity | found",
               "fence.proxy.async.shared::cta; | left out | found PROXY_FENCE_MISSING_WAR")
        expect("the barrier", mutants(warptwin, folder, "handed", *few), 0,
               "bar.sync 0; | left out | found SMEM_RACE", "1 mutants, {'found': 1}")
        blind = mutants(warptwin, folder, "handed", *few, "--without", "shared_data")
        expect("the barrier, and nobody looks", blind, 1, "MISSED", "otherwise by", "0.00 % are")
    print("\n".join(wrong) if wrong else "two kernels, as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
