#!/usr/bin/env python3
"""Scenarios of scenarios/combinations.txt are proved and right at a small shape.

  combinations_test.py COMBINATIONS SCRIPTS

COMBINATIONS is warptwin-combinations, which has every type of each form of the list, or
warptwin-combinations-slice, which has one of each second line. SCRIPTS is the folder of
combinations_table.py, which reads the list. Of every second form one type is proved for every
number of steps along K too, and where clusters claim tiles for every number of them: a protocol
does not depend on types. Of the slice's it is one of every eighth, none of which takes ten
seconds of CPU: such a proof costs ten times what the check costs.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

RIGHT = "agrees with the double-precision reference"
# A name of another trip parameter than `k` begins so.
TRIPS = {"conv2d": "channels", "attention": "kv"}


def small(table, scenario):
    """Settings: shallow rings, four steps along K, and two tiles along N."""
    defaults = {p["name"]: p["default"] for p in scenario["parameters"]}
    values = [f"{name}={depth}" for name, depth in table.RINGS if name in defaults]
    if "k" in defaults:
        values.append(f"k={min(defaults['k'], 4 * defaults['tile_k'])}")
    if {"n", "tile_n"} <= defaults.keys() and "swap_ab" not in defaults:
        values.append(f"n={min(defaults['n'], 2 * defaults['tile_n'])}")
    return [word for value in values for word in ("--set", value)]


def main():
    command, scripts = sys.argv[1:]
    sys.path.insert(0, scripts)
    import combinations_table as table  # pylint: disable=import-outside-toplevel

    def said(*words):
        result = subprocess.run([command, *words], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr

    listed = {one["name"]: one for one in json.loads(said("list", "--json")[1])}
    forms = {form: [name for name in types if name in listed]
             for form, types in table.NAMED.items()}
    names = [name for known in forms.values() for name in known]
    sliced = command.endswith("-slice")
    missing = [form for form, known in forms.items() if not known]
    differ = sorted(set(listed) - set(names))
    if len(missing) > (len(forms) // 2 if sliced else 0):
        differ += missing
    if differ:
        print(f"{command} and the list differ: {differ}", file=sys.stderr)
        return 1
    # The types of the forms in turn.
    present = [known for known in forms.values() if known]
    drawn = {known[number % len(known)]
             for number, known in enumerate(present[1::8] if sliced else present[::2])}

    def wrong(name):
        values = small(table, listed[name])
        code, text = said("check", name, *values)
        if code != 0 or RIGHT not in text or f"{name}: proved" not in text:
            return f"check {name} {' '.join(values)}: exit {code}\n{text}"
        if name in drawn:
            trips = TRIPS.get(name.split("_")[0], "k")
            code, text = said("prove", name, *values, "--for-all", trips)
            if code != 0 or f"for every {trips}" not in text:
                return f"prove {name} {' '.join(values)}: exit {code}\n{text}"
        return None

    with ThreadPoolExecutor(int(os.environ.get("COMBINATIONS_JOBS", "1"))) as pool:
        found = [one for one in pool.map(wrong, names) if one]
    for one in found:
        print(one, file=sys.stderr)
    print(f"{len(names) - len(found)} of {len(names)} right and proved, "
          f"{len(drawn)} of them for every number of steps")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
