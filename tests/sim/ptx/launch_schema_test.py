#!/usr/bin/env python3
"""The published schemas of launch files and of names say what their readers take.

  launch_schema_test.py WARPTWIN ROOT

The names come from the reader's own errors, so a name that only one of the two knows is found.
Without Debian's python3-jsonschema what validates is left out, with a word.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

WARPTWIN, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
SCHEMA = json.loads((ROOT / "docs/schemas/launch.schema.json").read_text(encoding="utf-8"))
NAMES = json.loads((ROOT / "docs/schemas/names.schema.json").read_text(encoding="utf-8"))
RING = ROOT / "tests/sim/ptx/machine/ring.ptx"
LAUNCH = json.loads((ROOT / "tests/sim/ptx/machine/ring.json").read_text(encoding="utf-8"))


def run(launch):
    """Runs the ring with a launch; exit code and what was said."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "launch.json"
        path.write_text(json.dumps(launch), encoding="utf-8")
        done = subprocess.run(
            [WARPTWIN, "ptx", "run", str(RING), "--launch", str(path)],
            capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def named(names):
    """Shows the ring's launch with names; exit code and what was said."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "names.json"
        path.write_text(json.dumps(names), encoding="utf-8")
        done = subprocess.run(
            [WARPTWIN, "ptx", "show", str(RING), "--launch", str(RING.with_suffix(".json")),
             "--names", str(path)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def launch_with(place, value):
    """The ring's launch with `value` at a path of keys."""
    launch = json.loads(json.dumps(LAUNCH))
    at = launch
    for key in place[:-1]:
        at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    at[place[-1]] = value
    return launch


class Schema(unittest.TestCase):
    def names_read(self, place):
        """The names that the reader knows at a place, from its error."""
        code, said = run(launch_with([*place, "unheard_of"], 1))
        self.assertEqual(code, 2, said)
        found = re.search(r"there is no 'unheard_of'; there are ([\w, ]+)", said)
        self.assertIsNotNone(found, said)
        return set(found.group(1).split(", "))

    def test_names_are_the_readers(self):
        part = SCHEMA["$defs"]
        self.assertEqual(self.names_read([]), set(SCHEMA["properties"]))
        self.assertEqual(self.names_read(["buffers", "in"]), set(part["buffer"]["properties"]))
        self.assertEqual(self.names_read(["maps", "new"]), set(part["map"]["properties"]))
        random = part["contents"]["oneOf"][3]["properties"]["random"]["properties"]
        self.assertEqual(
            self.names_read(["buffers", "in", "contents", "random"]), set(random))
        field = launch_with(["parameters", 2], {"fields": [{"unheard_of": 1}]})
        there = re.search(r"there are ([\w, ]+)", run(field)[1])
        self.assertEqual(set(there.group(1).split(", ")), set(part["field"]["properties"]))
        tolerance = part["buffer"]["properties"]["tolerance"]["properties"]
        launch = launch_with(["buffers", "out"], {"type": "f32", "shape": [5, 32],
                                                  "use": "output", "expected": 0,
                                                  "tolerance": {"unheard_of": 1}})
        self.assertIn("there are " + ", ".join(tolerance), run(launch)[1])

    def test_element_types_are_the_readers(self):
        _, said = run(launch_with(["buffers", "in", "type"], "unheard_of"))
        there = re.search(r"is no element type; there are ([\w, ]+)", said)
        self.assertEqual(set(there.group(1).split(", ")),
                         set(SCHEMA["$defs"]["buffer"]["properties"]["type"]["enum"]))

    def test_packings_are_the_readers(self):
        packed = {"buffer": "in", "box": [1, 32], "packing": "unheard_of"}
        _, said = run(launch_with(["maps", "new"], packed))
        there = re.search(r"is none; there are ([\w, ]+)", said)
        self.assertEqual(set(there.group(1).split(", ")),
                         set(SCHEMA["$defs"]["map"]["properties"]["packing"]["enum"]))

    @unittest.skipIf(jsonschema is None, "no module jsonschema")
    def test_launches_validate(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        validator = jsonschema.Draft202012Validator(SCHEMA)
        validator.validate(LAUNCH)
        first = subprocess.run([WARPTWIN, "ptx", "init", str(RING)],
                               capture_output=True, text=True, check=True).stdout
        validator.validate(json.loads(first))
        page = (ROOT / "docs/ptx.md").read_text(encoding="utf-8")
        validator.validate(json.loads(re.search(r"```json\n(.*?)```", page, re.S).group(1)))

    @unittest.skipIf(jsonschema is None, "no module jsonschema")
    def test_what_one_refuses_the_other_does(self):
        validator = jsonschema.Draft202012Validator(SCHEMA)
        images = {
            "buffer": "in",
            "dimensions": [{"extent": 1, "stride_bytes": 512},
                           {"extent": 2, "stride_bytes": 256},
                           {"extent": 2, "stride_bytes": 128, "step": 2}],
            "im2col": {"channels": 32, "pixels": 16, "lower": [-1, 0], "upper": [-1, 0]},
            "swizzle": 128}
        drawn = {"random": {"seed": 1, "least": 0, "most": 9}}
        for place, value, right in (
                (["buffers", "in", "contents"], drawn, True),
                (["buffers", "in", "contents"], 7, True),
                (["buffers", "in", "contents"], {"random": {"seed": 1}}, False),
                (["buffers", "in", "contents"], True, False),
                (["buffers", "in", "use"], "scratch", False),
                (["buffers", "in", "tolerance"], {"relative": 1}, False),
                (["maps", "new"], images, True),
                (["maps", "new"], {**images, "box": [1, 1, 1, 64]}, False),
                (["maps", "new"], {**images, "im2col": {"channels": 32, "pixels": 8}}, False),
                (["grid"], 0, False),
                (["block"], [64, 1, 1, 1], False),
                (["parameters", 2], {"value": "5"}, False),
                (["cooperative"], True, True),
                (["cooperative"], 1, False),
                (["chip"], "h200", True),
                (["chip"], 200, False),
                (["dynamic_shared_bytes"], -1, False)):
            launch = launch_with(place, value)
            code, said = run(launch)
            self.assertEqual(code != 2, right, f"{place} {value}: {said}")
            self.assertEqual(validator.is_valid(launch), right, f"{place} {value}")


class Names(unittest.TestCase):
    def listed(self, names, before="there are "):
        code, said = named(names)
        self.assertEqual(code, 2, said)
        return set(re.search(before + r"([\w, ]+)", said).group(1).split(", "))

    def test_names_are_the_readers(self):
        parts = NAMES["properties"]
        self.assertEqual(self.listed({"unheard_of": 1}), set(parts))
        self.assertEqual(self.listed({"shared": {"a": {"unheard_of": 1}}}),
                         set(parts["shared"]["additionalProperties"]["properties"]))
        role = parts["roles"]["items"]["properties"]
        self.assertEqual(self.listed({"roles": [{"unheard_of": 1}]}), set(role))
        self.assertEqual(self.listed({"roles": [{"role": "unheard_of", "warps": 1}]}),
                         set(role["role"]["enum"]))

    @unittest.skipIf(jsonschema is None, "no module jsonschema")
    def test_what_one_refuses_the_other_does(self):
        jsonschema.Draft202012Validator.check_schema(NAMES)
        validator = jsonschema.Draft202012Validator(NAMES)
        page = (ROOT / "docs/ptx.md").read_text(encoding="utf-8").split("## Names")[1]
        validator.validate(json.loads(re.search(r"```json\n(.*?)```", page, re.S).group(1)))
        for names, right in (
                ({"shared": {"input.full": {"at": "full", "count": 2}}}, True),
                ({"shared": {"input.full": {"at": "shared+0x500"}}}, True),
                ({"roles": [{"role": "load", "warps": 1}]}, True),
                ({}, True),
                ({"shared": {"input.full": {"at": 1280}}}, False),
                ({"shared": {"input.full": {"count": 2}}}, False),
                ({"shared": {"in put": {"at": "full"}}}, False),
                ({"shared": {"input": {"at": "full", "bytes": 0}}}, False),
                ({"named_barriers": {"hand_over": 3}}, True),
                ({"named_barriers": {"hand_over": 16}}, False),
                ({"named_barriers": {"hand over": 3}}, False),
                ({"named_barriers": {"hand_over": "3"}}, False),
                ({"named_barriers": []}, False),
                ({"roles": [{"role": "load"}]}, False),
                ({"roles": [{"role": "load", "warps": 0}]}, False),
                ({"roles": {}}, False)):
            code, said = named(names)
            self.assertEqual(code != 2, right, f"{names}: {said}")
            self.assertEqual(validator.is_valid(names), right, f"{names}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
