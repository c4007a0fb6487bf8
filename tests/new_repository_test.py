#!/usr/bin/env python3
"""What `warptwin new` writes is in order: its scripts, and what its workflows call.

  new_repository_test.py WARPTWIN

The package's test builds and runs such a repository. Where Python has no yaml, the workflows are
not parsed.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

WARPTWIN = sys.argv[1]


class NewRepositoryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name) / "kernels"
        subprocess.run([WARPTWIN, "new", str(self.root)], check=True, capture_output=True)

    def test_refuses_a_folder_that_is_not_empty(self):
        again = subprocess.run(
            [WARPTWIN, "new", str(self.root)], capture_output=True, text=True, check=False
        )
        self.assertEqual(again.returncode, 2)
        self.assertIn("is not an empty folder", again.stderr)

    def test_scripts_are_shell(self):
        for script in (self.root / "ci").iterdir():
            subprocess.run(["bash", "-n", str(script)], check=True)
            without = subprocess.run(["bash", str(script)], capture_output=True, check=False)
            self.assertNotEqual(without.returncode, 0, f"{script} takes no prefix")

    def test_the_options_that_the_script_uses_are_the_commands(self):
        said = subprocess.run(
            [WARPTWIN, "check", "--help"], capture_output=True, text=True, check=True
        ).stdout
        known = set(re.findall(r"--[a-z-]+", said))
        text = (self.root / "ci/check").read_text(encoding="utf-8")
        _, _, used = text.partition("options=(")
        options = set(re.findall(r"--[a-z-]+", used))
        self.assertIn("--sarif", options)
        self.assertLessEqual(options, known)

    @unittest.skipIf(yaml is None, "there is no yaml")
    def test_workflows_call_what_is_there(self):
        github = yaml.safe_load((self.root / ".github/workflows/warptwin.yml").read_text())
        gitlab = yaml.safe_load((self.root / ".gitlab-ci.yml").read_text())
        steps = github["jobs"]["check"]["steps"]
        for commands in [
            [step["run"] for step in steps if "run" in step],
            gitlab["warptwin"]["script"],
        ]:
            called = [word for line in commands for word in line.split() if word.startswith("ci/")]
            self.assertEqual(called, ["ci/install-warptwin", "ci/check"])
            for script in called:
                self.assertTrue((self.root / script).is_file())
        for step in steps:
            self.assertEqual(len({"run", "uses"} & set(step)), 1)
        written = (self.root / "ci/check").read_text(encoding="utf-8")
        for report in gitlab["warptwin"]["artifacts"]["reports"]["junit"]:
            self.assertIn(pathlib.PurePosixPath(report).name, written)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
