#!/usr/bin/env python3
"""The sm_100a part of warptwin-measure-chip, as PTX in the simulator: it is right, and it measures.

  tensor_memory_test.py WARPTWIN FILE.ptx

FILE.ptx is hw/bench/tensor_memory.cu for sm_100a. Every kernel runs and is proved, a copy of it
with a fence or a wait left out is not, and in time on the `b200` what the host program computes
from the kernels' times are the constants of that chip.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WARPTWIN, PTX = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
SHARED = 3 * 16384 + 1024
TIMES = (4, 20)  # a turn is what the second run takes longer, by their difference


def launch_of(kernel, values, block=160, shared=SHARED, grid=1, cluster=1):
    notes = {"type": "u64", "shape": [grid, 3], "use": "output"}
    parameters = [*({"value": value} for value in values), {"buffer": "notes"}]
    return {
        "kernel": kernel,
        "grid": [grid, 1, 1],
        "block": block,
        "cluster": cluster,
        "dynamic_shared_bytes": shared,
        "buffers": {"notes": notes},
        "parameters": parameters,
    }


def allocations(times):
    return launch_of("tmem_allocations", [times], block=32, shared=1024)


def loads(columns, warps, products, times):
    return launch_of("tmem_loads", [columns, warps, products, times])


def products(m, columns, a_in_tmem, batch, times, issue=0):
    return launch_of("tmem_products", [m, columns, a_in_tmem, batch, issue, 1, times])


def pair_products(m, columns, a_in_tmem, batch, times, issue=0):
    values = [m, columns, a_in_tmem, batch, issue, 1, times]
    return launch_of("tmem_pair_products", values, grid=2, cluster=2)


def copies(batch, times):
    return launch_of("tmem_copies", [batch, times])


def requests(grid):
    return launch_of("clc_requests", [100], block=32, shared=1024, grid=grid)


class TensorMemoryTest(unittest.TestCase):
    """Each kernel, with arguments as the host program has them."""

    def run_it(self, command, launch, text=None, options=()):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "launch.json")
            file.write_text(json.dumps(launch), encoding="utf-8")
            ptx = PTX
            if text is not None:
                ptx = pathlib.Path(folder, "wrong.ptx")
                ptx.write_text(text, encoding="utf-8")
            command = [WARPTWIN, "ptx", command, ptx, "--launch", file, *options]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def cycles(self, launch):
        done = self.run_it("time", launch, options=["--chip", "b200", "--no-check", "--json"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["cycles"]

    def turn(self, make, *values):
        """Cycles of one more turn of the kernel's loop."""
        few, many = (self.cycles(make(*values, times)) for times in TIMES)
        return (many - few) / (TIMES[1] - TIMES[0])

    def constant(self, key):
        command = [WARPTWIN, "chip", "show", "b200", "--json"]
        shown = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        return shown["constants"][key]["value"]

    def form(self, key):
        command = [WARPTWIN, "chip", "show", "b200", "--json"]
        shown = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        return shown["tensor_core"][key]["value"]

    def without(self, kernel, pattern, count=0):
        """The text of the PTX with what `pattern` finds in the kernel left out."""
        text = PTX.read_text(encoding="utf-8")
        begin = text.index(f".entry {kernel}(")
        end = text.find(".entry", begin + 10)
        body, left_out = re.subn(pattern, "", text[begin:end], count=count, flags=re.M)
        self.assertGreater(left_out, 0, f"{kernel} has no {pattern}")
        return text[:begin] + body + text[end:]

    def test_every_launch_is_proved(self):
        launches = [
            allocations(4),
            *(loads(columns, 4, 0, 4) for columns in (1, 8, 16, 32, 132)),
            loads(32, 4, 32, 4),
            *(products(m, 256, ts, 8, 4) for m in (64, 128) for ts in (0, 1)),
            *(pair_products(m, 256, ts, 8, 4) for m in (128, 256) for ts in (0, 1)),
            products(128, 32, 0, 4, 4, issue=1),
            copies(8, 4),
        ]
        for launch in launches:
            with self.subTest(kernel=launch["kernel"], parameters=launch["parameters"]):
                ran = self.run_it("run", launch)
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                proof = self.run_it("prove", launch)
                self.assertEqual(proof.returncode, 0, proof.stdout + proof.stderr)
                self.assertIn("proved: every interleaving", proof.stdout)

    def test_a_commit_of_nothing_is_proved_and_warned_of(self):
        proof = self.run_it("prove", products(128, 32, 0, 0, 4))
        self.assertEqual(proof.returncode, 0, proof.stdout + proof.stderr)
        self.assertIn("TCGEN05_COMMIT_EMPTY", proof.stdout)

    def test_who_gets_a_cluster_is_left_open(self):
        self.assertEqual(self.run_it("run", requests(4)).returncode, 0)
        check = self.run_it("check", requests(4))
        self.assertEqual(check.returncode, 5, check.stdout + check.stderr)
        self.assertIn("no defect in", check.stdout)

    def test_wrong_twins_are_refused(self):
        twins = [
            ("tmem_loads", r"^\s*tcgen05\.wait::ld.*;$", loads(32, 4, 0, 4), "TMEM_"),
            ("tmem_loads", r"^\s*tcgen05\.wait::st.*;$", loads(32, 4, 0, 4), "TMEM_ST_NO_WAIT"),
            ("tmem_products", r"^\s*fence\.proxy\.async.*$", products(128, 64, 0, 8, 4), "PROXY_"),
            ("tmem_products", r"^\s*tcgen05\.commit.*;$", products(128, 64, 0, 8, 4), "DEADLOCK"),
            ("tmem_copies", r"^\s*tcgen05\.dealloc.*;$", copies(8, 4), "TMEM_LEAK"),
        ]
        for kernel, pattern, launch, finding in twins:
            with self.subTest(kernel=kernel, without=pattern):
                check = self.run_it("check", launch, text=self.without(kernel, pattern))
                self.assertEqual(check.returncode, 1, check.stdout + check.stderr)
                self.assertIn(finding, check.stdout)

    def test_an_allocation_is_found_again(self):
        turn = self.turn(allocations)
        found = (turn - self.constant("smem_latency")) / 2
        self.assertAlmostEqual(found, self.constant("tmem_alloc"), delta=10)

    def test_loads_are_found_again(self):
        one, most = self.turn(loads, 1, 1, 0), self.turn(loads, 32, 1, 0)
        rate = 128 * 31 / (most - one)
        self.assertAlmostEqual(rate, self.constant("tmem_rate"), delta=2)
        self.assertAlmostEqual(one - 128 / rate, self.constant("tmem_latency"), delta=10)
        # Products for a while, and each load that begins meanwhile takes longer.
        busy = self.constant("tmem_busy_latency")
        begun = 24 * 128 / (self.turn(loads, 32, 4, 0) + busy)
        longer = self.cycles(loads(32, 4, 24, 40)) - self.cycles(loads(32, 4, 0, 40))
        self.assertAlmostEqual(longer / begun, busy, delta=0.15 * busy)

    def test_forms_are_found_again(self):
        for key, make, m, ts in (
            ("1sm m64 ss", products, 64, 0),
            ("1sm m128 ts", products, 128, 1),
            ("2sm m256 ss", pair_products, 256, 0),
            ("2sm m256 ts", pair_products, 256, 1),
        ):
            with self.subTest(form=key):
                per_column, _, _, latency, slope = self.form(key)
                interval = (self.turn(make, m, 256, ts, 24) - self.turn(make, m, 256, ts, 8)) / 16
                self.assertAlmostEqual(interval, 256 * per_column, delta=2.5)
                # The loop itself and the wait are in both.
                one, two, none = (self.turn(make, m, 256, ts, batch) for batch in (1, 2, 0))
                alone = one - none + self.constant("commit_latency")
                self.assertAlmostEqual(alone, latency + 256 * slope, delta=6)
                second = two - one - interval
                self.assertAlmostEqual(second, self.constant("mma_batch"), delta=3)

    def test_commits_and_copies_are_found_again(self):
        empty = self.turn(products, 128, 32, 0, 0)
        self.assertGreater(empty, self.constant("commit_latency"))
        copy = (self.turn(copies, 24) - self.turn(copies, 8)) / 16
        self.assertAlmostEqual(copy, self.constant("tcgen05_cp"), delta=2)

    def test_a_request_for_a_cluster_takes_its_latency(self):
        done = self.cycles(requests(1))
        self.assertGreater(done, self.constant("clc_latency"))


if __name__ == "__main__":
    unittest.main()
