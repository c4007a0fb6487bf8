#!/usr/bin/env python3
"""`ptx run --on functional,hw`: the calls to the CUDA driver, made to the driver's stand-in.

  on_gpu_test.py WARPTWIN ROOT

On a machine with a GPU the same commands without `cuda --` compare with that.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WARPTWIN, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
KERNELS = ROOT / "tests/sim/ptx/on_gpu"
RING = ROOT / "tests/sim/ptx/machine/ring.ptx"


def run(ptx, launch, *options, chip="h200"):
    """Exit code of the whole, and what was said."""
    command = [WARPTWIN, "cuda", "--policy", "run", "--chip", chip, "--", WARPTWIN, "ptx", "run",
               str(ptx), "--launch", str(launch), "--on", "functional,hw", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr


class OnGpu(unittest.TestCase):
    def same(self, ptx, launch, *said):
        code, text = run(ptx, launch)
        self.assertEqual(code, 0, text)
        self.assertIn("hw: done on ", text)
        for each in said:
            self.assertIn(each, text)

    def test_gives_addresses_and_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            launch = json.loads(RING.with_suffix(".json").read_text(encoding="utf-8"))
            launch["buffers"]["in"] = {
                "type": "u32", "shape": [5, 32], "use": "control",
                "contents": {"random": {"seed": 3, "least": 0, "most": 1000000}}}
            launch["buffers"]["out"] = {"type": "u32", "shape": [5, 32], "use": "output"}
            path = pathlib.Path(folder) / "ring.json"
            path.write_text(json.dumps(launch), encoding="utf-8")
            self.same(RING, path, "functional and hw, in: the same bits, 160 elements",
                      "functional and hw, out: the same bits, 160 elements")

    def test_encodes_tensor_maps(self):
        self.same(KERNELS / "tma.ptx", KERNELS / "tma.json",
                  "functional and hw, out: the same bits, 512 elements")

    def test_encodes_tensor_maps_in_clusters(self):
        with tempfile.TemporaryDirectory() as folder:
            launch = json.loads((KERNELS / "tma.json").read_text(encoding="utf-8"))
            path = pathlib.Path(folder) / "tma.json"
            path.write_text(json.dumps(launch | {"cluster": 2}), encoding="utf-8")
            self.same(KERNELS / "tma.ptx", path,
                      "functional and hw, out: the same bits, 512 elements")

    def test_has_doubles(self):
        self.same(KERNELS / "doubles.ptx", KERNELS / "doubles.json",
                  "functional and hw, out: the same bits, 256 elements")

    def test_has_sums_of_tensor_cores(self):
        self.same(KERNELS / "mma.ptx", KERNELS / "mma.json",
                  "functional and hw, out: the same bits, 128 elements")

    def test_makes_the_table_of_kernels(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for kernel in ("tma", "mma"):
                for ending in ("ptx", "json"):
                    shutil.copy(KERNELS / f"{kernel}.{ending}", folder / f"own.{kernel}.{ending}")
            simulated = folder / "warptwin"
            simulated.write_text(f'#!/bin/sh\nexec {WARPTWIN} cuda --policy run --chip h200 -- '
                                 f'{WARPTWIN} "$@"\n', encoding="utf-8")
            simulated.chmod(0o755)
            done = subprocess.run(
                [sys.executable, "-B", str(ROOT / "scripts/ptx_on_gpu.py"), "run", name,
                 str(simulated)], capture_output=True, text=True, check=False, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("| own | `tma` | `out` the same bits, 512 elements |", done.stdout)
            self.assertIn("| own | `mma` | `out` the same bits, 128 elements |", done.stdout)

    def test_leaves_out_a_gpu_of_another_kind(self):
        code, text = run(KERNELS / "mma.ptx", KERNELS / "mma.json", chip="b200")
        self.assertIn("hw: left out: ", text)
        self.assertIn("does not run sm_90a", text)
        self.assertEqual(text.count("left out"), 1)
        self.assertNotEqual(code, 1, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
