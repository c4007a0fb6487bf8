"""Tests what scripts/combinations_on_gpu.py makes of programs and launches, with stand-ins for nvcc
and for the programs that it makes.

  combinations_on_gpu_test.py SCRIPTS
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop()) / "combinations_on_gpu.py"

# A source with the scenario `bad` is refused.
NVCC = """#!{python}
import pathlib, sys
source = next(word for word in sys.argv if word.endswith(".cu"))
if "bad_device" in pathlib.Path(source).read_text():
    print("error: bad", file=sys.stderr)
    sys.exit(1)
program = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
program.write_text(pathlib.Path({program!r}).read_text())
program.chmod(0o755)
"""

# `lame` is right the second time alone.
PROGRAM = """#!{python}
import json, pathlib, sys
mark = pathlib.Path({mark!r})
right = sys.argv[1] != "lame" or mark.exists()
mark.touch() if sys.argv[1] == "lame" else None
print(json.dumps(dict(outcome="right" if right else "mismatch", object="", runs=3,
                      protocol="agrees" if right else "differs", milliseconds=1, detail="")))
sys.exit(0 if right else 1)
"""


class CombinationsOnGpu(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name)
        (self.folder / "source").mkdir()
        (self.folder / "device").mkdir()
        (self.folder / "links.json").write_text("[]")
        program = self.folder / "program.py"
        program.write_text(PROGRAM.format(python=sys.executable, mark=str(self.folder / "mark")))
        nvcc = self.folder / "nvcc"
        nvcc.write_text(NVCC.format(python=sys.executable, program=str(program)))
        nvcc.chmod(0o755)

    def run_script(self, *names, options=()):
        """(exit code, {(scenario, set): outcome})."""
        launches = [{"scenario": name, "sets": [[], ["k=8"]]} for name in names]
        (self.folder / "launches.json").write_text(json.dumps(launches))
        path = f"{self.folder}:{os.environ['PATH']}"
        command = [sys.executable, "-B", str(SCRIPT), "run", self.folder, *options]
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                timeout=60, check=False, env=os.environ | {"PATH": path})
        self.output = self.folder / "output"
        self.output.write_text(result.stdout)
        lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        return result.returncode, {(one["scenario"], one["set"]): one["outcome"] for one in lines}

    def test_each_launch_runs(self):
        code, outcomes = self.run_script("one", "two")
        self.assertEqual(code, 0)
        self.assertEqual(set(outcomes.values()), {"right"})
        self.assertEqual(len(outcomes), 4)

    def test_a_refused_program_loses_one_scenario_alone(self):
        code, outcomes = self.run_script("one", "bad", "two")
        self.assertEqual(code, 1)
        self.assertEqual(outcomes["bad", ""], "not compiled")
        self.assertEqual(outcomes["one", "k=8"], "right")
        self.assertEqual(outcomes["two", ""], "right")

    def test_what_failed_beside_others_runs_again_alone(self):
        code, outcomes = self.run_script("lame")
        self.assertEqual(code, 0)
        self.assertEqual(outcomes["lame", ""], "right")

    def test_alone_it_has_one_run(self):
        code, outcomes = self.run_script("lame", options=["--at-once", "1"])
        self.assertEqual(code, 1)
        self.assertIn("mismatch", outcomes.values())

    def test_without_time_it_says_what_was_not_run(self):
        code, outcomes = self.run_script("one", options=["--seconds", "1"])
        self.assertEqual(code, 5)
        self.assertEqual(outcomes, {("one", ""): "not run", ("one", "k=8"): "not run"})

    def test_what_was_right_is_kept_and_not_run_again(self):
        self.run_script("one", "bad")
        runs = self.folder / "runs.json"
        runs.write_text('[{"scenario": "one", "set": "", "card": "H100", "date": "d", "runs": 9}]')
        command = [sys.executable, "-B", str(SCRIPT), "keep", self.output, runs, "H200", "today"]
        subprocess.run([str(word) for word in command], check=True, timeout=60)
        kept = json.loads(runs.read_text())
        self.assertEqual([(one["scenario"], one["set"], one["card"]) for one in kept],
                         [("one", "", "H100"), ("one", "k=8", "H200")])
        done = self.folder / "done"
        done.write_text(self.output.read_text())
        _, outcomes = self.run_script("one", "two", options=["--done", done])
        self.assertNotIn(("one", ""), outcomes)
        self.assertEqual(outcomes["two", ""], "right")


if __name__ == "__main__":
    unittest.main()
