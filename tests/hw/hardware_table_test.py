"""Tests which rows scripts/hardware_table.py has, and what it makes of a device that is missing or
fails, with stand-ins for warptwin and warptwin-hw.

  hardware_table_test.py SCRIPTS
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop()) / "hardware_table.py"

WARPTWIN = """#!{python}
import json, sys
if sys.argv[1] == "list":
    names = ("one", "two", "simulated alone", "three")
    print(json.dumps([dict(name=name, kind="broken") for name in names]))
else:
    print(json.dumps(dict(findings=[], conditions=[], end="deadlock")))
"""

WARPTWIN_HW = """#!{python}
import json, sys
answers = json.loads({answers!r})
if sys.argv[1] == "list":
    print("\\n".join(answers))
    sys.exit(0)
outcome, code = answers[sys.argv[1]]
deadline = int(sys.argv[sys.argv.index("--deadline") + 1])
if outcome == "slow":
    outcome = "hang" if deadline < 2_000_000_000 else "wrong data"
if outcome:
    print(json.dumps(dict(outcome=outcome, object="", runs=1, protocol="", milliseconds=1,
                          detail="device: " + outcome)))
sys.exit(code)
"""

TRAP = ("trap", 1)
NO_DEVICE = ("no device", 4)
DEVICE_ERROR = ("device error", 4)


class HardwareTable(unittest.TestCase):
    def table(self, *answers):
        """(exit code, {scenario: its cells}, standard error) of a checked table."""
        with tempfile.TemporaryDirectory() as place:
            said = json.dumps(dict(zip(("one", "two", "three"), answers)))
            for name, text in (("warptwin", WARPTWIN), ("warptwin-hw", WARPTWIN_HW)):
                program = pathlib.Path(place) / name
                program.write_text(
                    text.format(python=sys.executable, answers=said), encoding="utf-8"
                )
                program.chmod(0o755)
            command = [sys.executable, "-B", str(SCRIPT), place, "--check", "--runs", "1"]
            result = subprocess.run(
                command, capture_output=True, text=True, timeout=60, check=False
            )
        rows = [line.strip("| ").split(" | ") for line in result.stdout.splitlines()]
        return result.returncode, {row[0]: row for row in rows[2:]}, result.stderr

    def test_without_a_device_it_is_skipped(self):
        code, rows, said = self.table(NO_DEVICE, NO_DEVICE, NO_DEVICE)
        self.assertEqual(code, 77)
        self.assertEqual(rows, {})
        self.assertIn("skipped: device: no device", said)

    def test_a_program_without_the_scenarios_is_refused(self):
        code, rows, said = self.table()
        self.assertEqual((code, rows), (2, {}))
        self.assertIn("none of these scenarios is in", said)

    def test_a_trap_is_a_row(self):
        code, rows, _ = self.table(TRAP, TRAP, TRAP)
        self.assertEqual(code, 0)
        self.assertEqual(list(rows), ["one", "two", "three"])
        self.assertEqual([row[3] for row in rows.values()], ["trap, run 1"] * 3)

    def test_a_device_error_is_a_row_and_takes_no_other_away(self):
        for first, second in ((TRAP, DEVICE_ERROR), (DEVICE_ERROR, TRAP)):
            code, rows, said = self.table(first, second, TRAP)
            self.assertEqual(code, 1)
            self.assertEqual(len(rows), 3)
            self.assertIn("device error", {rows["one"][3], rows["two"][3]})
            self.assertEqual(rows["three"][3], "trap, run 1")
            self.assertIn(": device error", said)

    def test_a_device_that_is_lost_is_no_skip(self):
        code, rows, said = self.table(TRAP, TRAP, NO_DEVICE)
        self.assertEqual(code, 1)
        self.assertEqual([row[3] for row in rows.values()], ["trap, run 1"] * 2 + ["no device"])
        self.assertIn("three: no device", said)

    def test_an_exit_without_a_word_is_a_row(self):
        code, rows, said = self.table(TRAP, (None, 4), TRAP)
        self.assertEqual(code, 1)
        self.assertEqual(len(rows), 3)
        self.assertIn("two: nothing was reported", said)

    def test_what_the_parameters_do_not_allow_is_a_row(self):
        code, rows, _ = self.table(TRAP, (None, 2), TRAP)
        self.assertEqual(code, 0)
        self.assertEqual(rows["two"][3], "refused")

    def test_a_hang_that_is_not_predicted_has_a_longer_deadline(self):
        _, rows, _ = self.table(TRAP, ("slow", 1), TRAP)
        self.assertEqual(rows["two"][3], "wrong data, run 1")


if __name__ == "__main__":
    unittest.main()
