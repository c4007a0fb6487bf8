#!/usr/bin/env python3
"""Every scenario of scenarios/combinations.txt on a Hopper GPU, with nvcc there.

  combinations_on_gpu.py collect BUILD FOLDER
  combinations_on_gpu.py run FOLDER [--seconds N] [--jobs N] [--at-once N] [--runs N] [--done FILE]
  combinations_on_gpu.py keep OUTPUT GPU_RUNS CARD DATE

`collect` copies into FOLDER what a machine without Debian's packages needs: the sources, the host's
objects and libraries that BUILD (a build of warptwin-combinations and warptwin_hw_main) links, and
launches.json, a default and a ragged launch of each scenario that the simulator found right.
`run` compiles them for sm_90a in programs of six, --jobs at once, and runs every launch N times,
recorded, and holds it against the simulator as soon as its program is there: first a scenario of
each form, then those of wgmma, then the others. One JSON object a launch goes to standard output.
What was not right while --at-once launches shared the GPU runs again alone. It ends --seconds after
it began, and says what was not run; --done FILE leaves out what an earlier output has as right.
Where the tensor core is emulated, most launches take a second, and to share the GPU saves little.
`keep` puts what was right into GPU_RUNS, docs/data/gpu_runs.json.
exit codes: 0 each is right, 1 one is not, 2 usage, 5 what ran is right, and something was not run
"""

import argparse
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = "warptwin-combinations"
GENERATED = "scenarios/warptwin-combinations_scenarios"
HEADERS = "scenarios/combinations_headers"
BATCH = 6
FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-O1", "-DNDEBUG",
         "-gencode", "arch=compute_90a,code=sm_90a"]
# No compilation, and no launch, begins so long before the end.
COMPILE_SECONDS, LAUNCH_SECONDS = 75, 30
SAID = ("outcome", "object", "protocol", "milliseconds", "runs", "recorded", "detail")
RIGHT, WRONG, NOT_RUN = 0, 1, 5
# What emulation needs: no pair copies by a map in global memory, and it has shared memory, too.
ON_HOPPER = {
    r"gemm_grouped_(maps|gather)_persistent": ["cta_group=1", "tile_m=128"],
    r"gemm_(split|stream)_k_multicast_(tf32|s8)$": ["stages=2"],
    r"gemm_persistent_unaligned_": ["stages=3"],
}
# Ragged launches, from the defaults: the first that the simulator runs to its end and finds right.
RAGGED = [
    {"m": lambda d: d["tile_m"] + 48, "n": lambda d: d["tile_n"] + 48,
     "k": lambda d: 2 * d["tile_k"] + d["tile_k"] // 2, "m1": lambda d: 7,
     "groups": lambda d: 5, "height": lambda d: 9, "width": lambda d: 11,
     "channels": lambda d: d["tile_k"] + d["tile_k"] // 2, "filters": lambda d: 80,
     "q": lambda d: 320, "kv": lambda d: 200},
    {"n": lambda d: d["tile_n"] + 48, "k": lambda d: 2 * d["tile_k"] + d["tile_k"] // 2,
     "m": lambda d: d["tile_m"] + d["tile_m"] // 2},
    {"m": lambda d: d["tile_m"] + 48, "k": lambda d: 3 * d["tile_k"]},
    {"m": lambda d: d["tile_m"] + 128, "n": lambda d: d["tile_n"] + 64,
     "k": lambda d: 3 * d["tile_k"]},
]


def call(command, seconds=None):
    """Runs a command; past its time all that it has started ends with it."""
    command = [str(word) for word in command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            out, error = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, error)


# collect


def on_hopper(scenario):
    """Settings that a launch cannot be without there."""
    return [value for names, values in ON_HOPPER.items() if re.match(names, scenario["name"])
            for value in values]


def ragged(command, scenario):
    """A launch with edges: its settings."""
    defaults = {p["name"]: p["default"] for p in scenario["parameters"]}
    own = on_hopper(scenario)
    defaults.update((name, int(value)) for name, value in (one.split("=") for one in own))
    for shape in RAGGED:
        values = [f"{name}={size(defaults)}" for name, size in shape.items() if name in defaults]
        values += own
        words = [word for value in values for word in ("--set", value)]
        said = call([command, "run", scenario["name"], *words])
        if values and said.returncode == 0:
            return values
    raise SystemExit(f"{scenario['name']}: no ragged launch is right")


def in_order(scenarios):
    """One of each form; then those that Hopper need not emulate; then the others."""
    import combinations_table  # pylint: disable=import-outside-toplevel

    firsts = {names[0] for names in combinations_table.NAMED.values()}
    forms = [one for one in scenarios if one["name"] in firsts]
    rest = [one for one in scenarios if one not in forms]
    return [*forms, *sorted(rest, key=lambda one: "wgmma" not in one["name"])]


def host_files(build):
    """What the program links beside kernels: objects and archives, and shared libraries."""
    target = f"{COMMAND}-hw"
    commands = call(["ninja", "-C", build, "-t", "commands", target]).stdout.splitlines()
    words = commands[-1].split(" -o ")
    files = [*re.findall(r"\S+\.o\b", words[0]), *re.findall(r"\S+\.(?:a|so)[.\d]*\b", words[1])]
    # The runtime's own libraries come with nvcc.
    files = [file for file in files if f"{target}.dir" not in file
             and not re.search(r"/lib(cudart_static|rt)[.]a$", file)]
    return [pathlib.Path(build, file) for file in files]


def collect(build, folder):
    command = build / "bin" / COMMAND
    scenarios = in_order(json.loads(call([command, "list", "--json"]).stdout))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        shapes = list(pool.map(lambda one: ragged(command, one), scenarios))
    folder.mkdir(parents=True, exist_ok=True)
    launches = [{"scenario": one["name"], "sets": [on_hopper(one), values]}
                for one, values in zip(scenarios, shapes)]
    (folder / "launches.json").write_text(json.dumps(launches, indent=0), encoding="utf-8")
    links = []
    with tarfile.open(folder / "files.tar.xz", "w:xz") as tar:
        for path in host_files(build):
            name = f"host/{len(links)}-{path.name}"
            if ".so" in path.name:  # by the name that the program looks for
                real = path.resolve()
                said = call(["objdump", "-p", real]).stdout
                name = "host/" + re.search(r"SONAME +(\S+)", said)[1]
                tar.add(real, name)
            elif path.suffix == ".o":
                small = folder / "small.o"
                subprocess.run(["strip", "--strip-debug", "-o", small, path], check=True)
                tar.add(small, name)
                small.unlink()
            else:
                tar.add(path, name)
            links.append(name)
        for part in ("common", "hw", "scenarios"):
            for path in sorted((ROOT / part).rglob("*")):
                if path.suffix in (".hpp", ".cuh"):
                    tar.add(path, f"source/{path.relative_to(ROOT)}")
        tar.add(build / HEADERS / "scenarios", "generated/scenarios")
        for path in sorted((build / GENERATED).glob("*_device.cu")):
            tar.add(path, f"device/{path.name}")
    (folder / "links.json").write_text(json.dumps(links, indent=0), encoding="utf-8")
    shutil.copy(__file__, folder)
    print(f"{len(launches)} scenarios; {folder / 'files.tar.xz'}: "
          f"{(folder / 'files.tar.xz').stat().st_size >> 20} MiB")
    return 0


# run


class Programs:
    """Compiles scenarios, six a program."""

    def __init__(self, folder, end):
        self.folder, self.end = folder, end
        self.links = json.loads((folder / "links.json").read_text(encoding="utf-8"))
        if not (folder / "source").exists():
            with tarfile.open(folder / "files.tar.xz") as tar:
                tar.extractall(folder)

    def text(self, names):
        """The kernels and the list of them, as one source."""
        includes = "".join(f'#include "{name}_device.cu"\n' for name in names)
        calls = "".join(f"make_{name}_device()," for name in names)
        return (f"{includes}namespace warptwin::hw {{\n"
                f"std::vector<DeviceScenario> device_scenario_list() {{ return {{{calls}}}; }}\n}}")

    def build(self, names):
        """The program of these, or None and why not."""
        source = self.folder / "device" / f"batch_{names[0]}.cu"
        program = self.folder / f"program_{names[0]}"
        source.write_text(self.text(names), encoding="utf-8")
        # nvcc does not know libzstd.so.1 as a library by its name.
        links = [word for link in self.links
                 for word in (["-Xlinker"] if ".so" in link else []) + [self.folder / link]]
        command = ["nvcc", *FLAGS, "-I", self.folder / "source", "-I", self.folder / "generated",
                   "-o", program, source, *links,
                   "-Xlinker", f"-rpath={self.folder / 'host'}", "-ldl"]
        try:
            said = call(command, max(1, self.end - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None, "no time"
        if said.returncode != 0:
            lines = [line for line in said.stderr.splitlines() if "C7519" not in line]
            return None, "\n".join(lines[-20:])
        return program, ""


def launched(program, name, values, runs):
    """What warptwin-hw says, as one object."""
    words = [word for value in values for word in ("--set", value)]
    command = [program, name, "--compare", "--json", "--runs", str(runs), *words]
    begin = time.monotonic()
    try:
        said = call(command, LAUNCH_SECONDS + 30)
        try:
            outcome = json.loads(said.stdout)
        except json.JSONDecodeError:
            outcome = {"outcome": "nothing was reported", "detail": said.stdout + said.stderr}
        code = said.returncode
    except subprocess.TimeoutExpired:
        outcome, code = {"outcome": "no end"}, -1
    outcome["detail"] = outcome.get("detail", "")[:1500]
    return {"scenario": name, "set": " ".join(values), "exit": code,
            "seconds": round(time.monotonic() - begin, 2),
            **{key: outcome[key] for key in SAID if outcome.get(key)}}


class Session:
    """The launches of one call: programs as they come, and what came of them."""

    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.seconds
        self.programs = Programs(options.folder, self.end)
        self.ready = queue.PriorityQueue()
        self.lock = threading.Lock()
        self.done, self.again, self.not_run = {}, [], []

    def says(self, outcome):
        with self.lock:
            self.done[outcome["scenario"], outcome["set"]] = outcome
            print(json.dumps(outcome), flush=True)

    def left_of(self, one):
        return [(one["scenario"], values) for values in one["sets"]
                if (one["scenario"], " ".join(values)) not in self.options.earlier]

    def compile(self, number, batch):
        self.build(number, [launch for one in batch for launch in self.left_of(one)])

    def build(self, number, launches):
        """A program of these; where nvcc refuses it, one of each scenario."""
        names = list(dict.fromkeys(name for name, _ in launches))
        if not names or time.monotonic() > self.end - COMPILE_SECONDS:
            self.not_run += launches
            return
        program, why = self.programs.build(names)
        if program is not None:
            for place, (name, values) in enumerate(launches):
                self.ready.put((number, place, program, name, values))
        elif why == "no time":
            self.not_run += launches
        elif len(names) > 1:
            for one in names:
                self.build(number, [launch for launch in launches if launch[0] == one])
        else:
            self.says({"scenario": names[0], "set": "", "outcome": "not compiled", "exit": -1,
                       "detail": why})

    def work(self):
        while True:
            number, _, program, name, values = self.ready.get()
            if program is None:
                return
            if time.monotonic() > self.end - LAUNCH_SECONDS:
                self.not_run.append((name, values))
                continue
            outcome = launched(program, name, values, self.options.runs)
            if outcome["outcome"] != "right" and self.options.at_once > 1:
                self.again.append((program, name, values, outcome))
            else:
                self.says(outcome)

    def run(self, launches):
        launches = [one for one in launches if self.left_of(one)]
        batches = [launches[at:at + BATCH] for at in range(0, len(launches), BATCH)]
        workers = [threading.Thread(target=self.work) for _ in range(self.options.at_once)]
        for worker in workers:
            worker.start()
        with ThreadPoolExecutor(self.options.jobs) as pool:
            for _ in pool.map(self.compile, range(len(batches)), batches):
                pass
        for number in range(len(workers)):
            self.ready.put((len(batches), number, None, "", []))
        for worker in workers:
            worker.join()
        for program, name, values, outcome in self.again:
            if time.monotonic() < self.end - LAUNCH_SECONDS / 2:
                first = outcome["outcome"]
                outcome = launched(program, name, values, self.options.runs)
                outcome["shared"] = first
            self.says(outcome)
        return self.summary()

    def summary(self):
        wrong = [one for one in self.done.values() if one["outcome"] != "right"]
        for name, values in self.not_run:
            print(json.dumps({"scenario": name, "set": " ".join(values), "outcome": "not run"}))
        print(f"# {len(self.done) - len(wrong)} launches right, {len(wrong)} not, "
              f"{len(self.not_run)} not run", flush=True)
        for one in wrong:
            print(f"# {one['scenario']} {one['set']}: {one['outcome']} {one.get('object', '')}")
        return WRONG if wrong else NOT_RUN if self.not_run else RIGHT


def earlier(path):
    """The launches that an output has as right."""
    if path is None:
        return set()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
             if line.startswith("{")]
    return {(one["scenario"], one["set"]) for one in lines if one["outcome"] == "right"}


def keep(output, path, card, date):
    """The launches that were right, behind those that are known."""
    known = json.loads(path.read_text(encoding="utf-8"))
    there = {(one["scenario"], one["set"]) for one in known}
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()
             if line.startswith("{")]
    for one in lines:
        launch = one["scenario"], one["set"]
        if one["outcome"] == "right" and one["protocol"] == "agrees" and launch not in there:
            known.append({"scenario": one["scenario"], "set": one["set"], "card": card,
                          "date": date, "runs": one["runs"]})
            there.add(launch)
    text = ",\n".join("  " + json.dumps(one) for one in known)
    path.write_text(f"[\n{text}\n]\n", encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    modes = parser.add_subparsers(dest="mode", required=True)
    mode = modes.add_parser("collect")
    mode.add_argument("build", type=pathlib.Path)
    mode.add_argument("folder", type=pathlib.Path)
    mode = modes.add_parser("run")
    mode.add_argument("folder", type=pathlib.Path)
    mode.add_argument("--seconds", type=float, default=560)
    mode.add_argument("--jobs", type=int, default=os.cpu_count())
    mode.add_argument("--at-once", type=int, default=3)
    mode.add_argument("--runs", type=int, default=3)
    mode.add_argument("--done", type=pathlib.Path)
    mode = modes.add_parser("keep")
    mode.add_argument("output", type=pathlib.Path)
    mode.add_argument("gpu_runs", type=pathlib.Path)
    mode.add_argument("card")
    mode.add_argument("date")
    options = parser.parse_args()
    if options.mode == "keep":
        return keep(options.output, options.gpu_runs, options.card, options.date)
    options.folder = options.folder.resolve()
    if options.mode == "collect":
        return collect(options.build, options.folder)
    options.earlier = earlier(options.done)
    text = (options.folder / "launches.json").read_text(encoding="utf-8")
    return Session(options).run(json.loads(text))


if __name__ == "__main__":
    sys.exit(main())
