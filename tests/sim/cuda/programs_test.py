"""CUDA programs, compiled by nvcc and run by 'warptwin cuda' without a GPU.

usage: programs_test.py WARPTWIN NVCC [NAME...]

Each program is run as it is and with its planted defects: what it prints, the verdict of each
launch, the ids that are found, and the exit code. Skipped, with 77, where there is no nvcc.
"""

import functools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
ROOT = PROGRAMS.parents[3]
WARPTWIN, NVCC = "warptwin", "nvcc"
# To compile takes nearly all of the test's time. C++17 has leaner headers than C++20, and without
# libcu++ cooperative_groups.h takes a quarter of the time; the PTX is the same.
LEAN = ["-std=c++17", "-D_CG_LIMIT_INCLUDED_DEPENDENCIES", "-I", str(ROOT)]


@functools.cache
def compile_program(name, folder, *options):
    """The program of NAME.cu, or of NAME.cpp, which calls the driver alone."""
    source = PROGRAMS / f"{name}.cu"
    links = ["-cudart", "shared"]
    if not source.exists():
        source = PROGRAMS / f"{name}.cpp"
        links = ["-cudart", "none", "-ldl" if name == "loaded" else "-lcuda"]
    program = pathlib.Path(folder) / f"{name}{len(list(pathlib.Path(folder).iterdir()))}"
    command = [NVCC, *LEAN, "-gencode", "arch=compute_90a,code=compute_90a", "-lineinfo"]
    command += ["-Xcompiler", "-pthread"]
    command += [*links, *options, str(source), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return program


def run(program, *options, arguments=(), chip="h200"):
    """What `warptwin cuda` says of a program, and the process itself."""
    report = pathlib.Path(str(program) + ".json")
    report.unlink(missing_ok=True)
    command = [WARPTWIN, "cuda", "--chip", chip, "--json", str(report), *options]
    done = subprocess.run(
        [*command, "--", str(program), *arguments], capture_output=True, text=True, timeout=300
    )
    return done, json.loads(report.read_text()) if report.exists() else None


def verdicts(report):
    return [launch["verdict"] for launch in report["launches"]]


def ids(report):
    return {finding["id"] for launch in report["launches"] for finding in launch["findings"]}


class ProgramsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def clean(self, name, launches, *options):
        """A program that is right, with all its launches proved."""
        done, report = run(compile_program(name, self.folder.name, *options))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split("\n")[-2], "right")
        self.assertEqual(verdicts(report), ["proved"] * launches, done.stderr)
        self.assertEqual(ids(report), set())
        return done, report

    def broken(self, name, found, fault):
        done, report = run(compile_program(name, self.folder.name), arguments=[fault])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(verdicts(report), ["refuted"], done.stderr)
        self.assertLessEqual(found, ids(report), done.stderr)
        return done, report

    def test_keeps_variables_between_launches(self):
        self.clean("vector_add", 3)

    def test_updates_vectors_and_halves_as_a_gpu_does(self):
        self.clean("vector_atomics", 7)

    def test_unpacks_each_way_of_compression(self):
        for mode in ["none", "speed", "size"]:
            self.clean("vector_add", 3, f"--compress-mode={mode}")

    def test_finds_a_missing_barrier(self):
        self.clean("reduction", 1)
        done, _ = self.broken("reduction", {"SMEM_RACE"}, "BARRIER")
        self.assertIn("reduction.cu:15", done.stderr)

    def test_writes_the_reports_of_a_ci(self):
        folder = pathlib.Path(self.folder.name)
        program = compile_program("reduction", self.folder.name)
        junit, sarif = folder / "a.xml", folder / "a.sarif"
        reports = ["--junit", str(junit), "--sarif", str(sarif), "--annotations"]
        for faults, right in [(["BARRIER"], False), ([], True)]:
            done, _ = run(program, *reports, arguments=faults)
            (case,) = xml.etree.ElementTree.parse(junit).getroot().iter("testcase")
            name = r"^void sum<(true|false)>\(.* \(launch 1 <<<\d+, \d+>>>\)$"
            self.assertRegex(case.get("name"), name)
            log = json.loads(sarif.read_text(encoding="utf-8"))["runs"][0]
            found = {result["ruleId"] for result in log["results"]}
            self.assertEqual("SMEM_RACE" in found, not right)
            self.assertEqual(case.find("failure") is None, right)
            self.assertEqual("::error file=" in done.stderr, not right)
            self.assertEqual(log["invocations"][0]["exitCode"], 0 if right else 1)

    def test_has_streams_events_and_host_memory(self):
        done, _ = self.clean("streams", 4)
        self.assertIn("132 SMs, compute capability 9.0", done.stdout)
        self.assertIn("simulated, of its launches on h200", done.stderr)

    def test_has_planes_pools_and_callbacks(self):
        self.clean("memory", 1)

    def test_finds_work_that_nothing_orders(self):
        program = compile_program("orders", self.folder.name)
        done, report = run(program)
        self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)
        self.assertEqual(report["streams"], [])
        for fault, texts in {
            "EVENT": ["launch 1", "copy 1 (to the device) in stream 1 writes"],
            "QUERY": ["launch 1", "copy 1 (to the device) in stream 1 writes"],
            "KERNELS": ["launch 3", "launch 2"],
            "HOST": ["the host writes", "copy 1 (to the device) uses"],
            "TARGET": ["the host writes", "(to the host) uses"],
            "DEFAULT": ["launch 4", "(a fill) in the default stream writes"],
            "ALLOCATION": ["(on the device)", "an allocation in stream 1 writes"],
            "FREE": ["the end of allocation_4", "(on the device) in stream 2 writes"],
            "BACK": ["(a fill) in stream 1 writes", "(to the host) in stream 2 reads"],
            "OVERLAP": ["(on the device) reads and writes", "a copy may not overlap"],
            "PAGEABLE": ["launch 4", "not pinned) in the default stream writes"],
        }.items():
            with self.subTest(fault):
                done, report = run(program, arguments=[fault])
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(verdicts(report), ["proved"] * 5, done.stderr)
                self.assertEqual({race["id"] for race in report["streams"]}, {"STREAM_RACE"})
                for text in texts:
                    self.assertIn(text, report["streams"][0]["message"])

    def test_simulates_the_time_that_is_asked_for(self):
        program = compile_program("streams", self.folder.name)
        for when, times in [("never", [False] * 4), ("always", [True] * 4)]:
            _, report = run(program, "--measure", when)
            found = [launch["microseconds"] > 0 for launch in report["launches"]]
            self.assertEqual(found, times, when)
        done, _ = run(program, "--measure", "perhaps")
        self.assertEqual(done.returncode, 2)

    def test_proves_beside_the_program(self):
        program = compile_program("pipeline", self.folder.name)
        reports = []
        for options in [(), ("--jobs", "3"), ("--time-limit", "900", "--memory-limit", "90000")]:
            reports.append(run(program, *options, arguments=["FENCE"])[1])
            for launch in reports[-1]["launches"]:
                launch["seconds"] = launch["run_seconds"] = 0
        self.assertEqual(reports[1:], reports[:1] * 2)

    def test_has_the_driver(self):
        done, _ = self.clean("driver", 3)
        self.assertIn("an aligned parameter stands at 48 in one piece", done.stdout)

    def test_serves_who_opens_the_libraries(self):
        self.clean("loaded", 1)

    def test_answers_as_a_gpu(self):
        program = compile_program("calls", self.folder.name, "-lcuda")
        answers, wanted = {}, {}
        for line in (PROGRAMS.parent / "golden" / "calls.txt").read_text().splitlines():
            if line.startswith("== "):
                wanted[line[3:]] = []
            else:
                wanted[list(wanted)[-1]].append(line)
        for what in wanted:
            done, _ = run(program, "--policy", "run", arguments=[what], chip="h100")
            self.assertEqual(done.returncode, 0 if what == "all" else 1, done.stderr)
            answers[what] = done.stdout.splitlines()
        self.maxDiff = None
        self.assertEqual(answers, wanted)

    def test_has_all_ctas_of_a_cooperative_launch(self):
        program = compile_program("calls", self.folder.name, "-lcuda")
        kept = pathlib.Path(self.folder.name) / "cooperative"
        done, report = run(program, "--policy", "run", "--keep", str(kept), arguments=["all"])
        self.assertEqual(done.returncode, 0, done.stderr)
        launch = report["launches"][-1]
        self.assertEqual((launch["grid"], launch["verdict"]), ([200, 1, 1], "ran"))
        place = kept / str(launch["launch"])
        command = [WARPTWIN, "ptx", "run", str(place / "kernel.ptx")]
        again = subprocess.run(
            [*command, "--launch", str(place / "launch.json")], capture_output=True, text=True)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)

    def test_takes_threads_in_turn(self):
        self.clean("threads", 12)

    def test_launches_clusters(self):
        _, report = self.clean("cluster", 1)
        self.assertEqual(report["launches"][0]["cluster"], [2, 1, 1])
        self.broken("cluster", {"REMOTE_TO_EXITED_CTA"}, "END")
        program = compile_program("cluster", self.folder.name)
        done, report = run(program, arguments=["PREFERRED"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("a preferred cluster of another size", done.stderr)
        self.assertEqual(report["launches"], [])

    def test_judges_launches_that_begin_early(self):
        self.clean("dependent", 3)
        program = compile_program("dependent", self.folder.name)
        done, report = run(program, arguments=["WAIT"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(verdicts(report), ["proved", "refuted", "proved"], done.stderr)
        self.assertEqual(ids(report), {"PDL_MISSING_WAIT"})
        done, report = run(program, arguments=["READ"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(verdicts(report), ["proved", "proved", "refuted"], done.stderr)
        self.assertEqual(ids(report), {"PDL_MISSING_WAIT"})
        done, report = run(program, arguments=["WAITING"])
        self.assertEqual((done.returncode, report["streams"]), (0, []), done.stderr)
        done, report = run(program, arguments=["LEGACY"])
        self.assertEqual((done.returncode, report["streams"]), (0, []), done.stderr)
        self.assertEqual(verdicts(report), ["proved"] * 3, done.stderr)
        done, report = run(program, arguments=["LEGACY_WAIT"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(verdicts(report), ["proved", "refuted", "proved"], done.stderr)
        self.assertEqual(ids(report), {"PDL_MISSING_WAIT"})
        done, report = run(program, arguments=["CHAIN"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(verdicts(report), ["proved"] * 4, done.stderr)
        for race in report["streams"]:
            self.assertEqual(race["id"], "STREAM_RACE")
            self.assertIn("which launch 1 (first", race["message"])
            self.assertIn("launch 2 (void between", race["message"])

    def test_has_a_gemm_of_a_cluster(self):
        self.clean("gemm", 2)
        program = compile_program("gemm", self.folder.name)
        for fault, found in {
            "WAIT": "PDL_MISSING_WAIT",
            "RELEASE": "SMEM_WAW_ASYNC",
            "BYTES": "MBAR_TX_MISMATCH",
            "EXIT": "REMOTE_TO_EXITED_CTA",
        }.items():
            done, report = run(program, arguments=[fault])
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(verdicts(report), ["proved", "refuted"], done.stderr)
            self.assertIn(found, ids(report))

    def test_has_tensor_maps_and_barriers(self):
        self.clean("pipeline", 1)
        self.broken("pipeline", {"DEADLOCK", "MBAR_UNDERARRIVE"}, "COUNT")
        done, _ = self.broken("pipeline", {"DEADLOCK"}, "PARITY")
        self.assertIn("cudaErrorLaunchFailure", done.stdout)
        self.broken("pipeline", {"PROXY_FENCE_MISSING_WAR"}, "FENCE")
        self.broken("pipeline", {"DEADLOCK", "MBAR_UNDERARRIVE"}, "EXIT")

    def test_has_pipelines_of_a_block_and_coalesced_groups(self):
        self.clean("block_pipeline", 4)
        program = compile_program("block_pipeline", self.folder.name)
        for fault, launches in {
            "WAIT": [{"SMEM_RAW_NO_WAIT"}],
            "EARLY": [{"SMEM_RACE"}] * 3 + [set()],
            "RING": [{"DEADLOCK"}],
            "FEW": [set(), {"DEADLOCK"}],
            "GROUP": [set()] * 3 + [{"WARP_LANE_RACE"}],
        }.items():
            with self.subTest(fault):
                done, report = run(program, "--rule", "active_lanes=alone", arguments=[fault])
                self.assertEqual(done.returncode, 1, done.stderr)
                for launch, found in zip(report["launches"], launches, strict=False):
                    self.assertEqual(launch["verdict"], "refuted" if found else "proved")
                    self.assertLessEqual(found, {one["id"] for one in launch["findings"]})

    def test_has_tensor_maps_in_memory(self):
        self.clean("maps", 1)
        self.broken("maps", {"TENSORMAP_FENCE_MISSING"}, "ACQUIRE")
        self.broken("maps", {"WARP_LANE_RACE"}, "SYNC")
        self.broken("maps", {"TENSORMAP_MODIFIED_IN_FLIGHT"}, "LANES")

    def golden(self, name, faults):
        """A program that prints what a GPU printed, and finds these ids in its faults."""
        program = compile_program(name, self.folder.name)
        for fault, found in faults.items():
            _, report = run(program, arguments=[fault])
            self.assertIn(found, ids(report))
        done, report = run(program)
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = (PROGRAMS.parent / "golden" / f"{name}.txt").read_text(encoding="utf-8")
        self.assertEqual(done.stdout.split("\n"), printed.split("\n"))
        self.assertEqual(set(verdicts(report)), {"proved"}, done.stderr)
        self.assertEqual(ids(report), set())

    def test_has_maps_of_packed_elements(self):
        both = ["-gencode", "arch=compute_100a,code=compute_100a"]
        program = compile_program("packed", self.folder.name, *both)
        done, report = run(program, chip="b200")
        self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)
        self.assertEqual((verdicts(report), ids(report)), (["proved"], set()))
        for fault, found in {
            "BYTES": "MBAR_TX_MISMATCH",
            "COLUMN": "TMA_COORD",
            "PADDING": "SMEM_UNINIT_READ",
        }.items():
            done, report = run(program, arguments=[fault], chip="b200")
            self.assertEqual((done.returncode, verdicts(report)), (1, ["refuted"]), done.stderr)
            self.assertIn(found, ids(report))
        done, _ = run(program, chip="h200")
        self.assertEqual((done.returncode, done.stdout), (2, "no such map\n"), done.stderr)

    def test_copies_images_as_a_gpu(self):
        self.golden("im2col", {"BYTES": "DEADLOCK", "WAIT": "SMEM_RAW_NO_WAIT"})

    def test_reduces_by_copies_as_a_gpu(self):
        faults = {
            "WAIT": "GMEM_RAW_NO_WAIT", "OPERATION": "GMEM_RACE", "BYTES": "MBAR_TX_MISMATCH"}
        self.golden("bulk_reductions", faults)

    def test_has_grids_that_meet_and_print(self):
        done, _ = self.clean("grid", 1)
        lines = done.stdout.split("\n")
        self.assertEqual(sorted(lines[:3]), [f"CTA {i} of 3: here" for i in range(3)])
        self.broken("grid", {"GMEM_RACE"}, "MEET")
        self.broken("grid", {"GMEM_RACE"}, "AGAIN")
        done, _ = self.broken("grid", {"ASSERTION_FAILED"}, "ASSERT")
        self.assertIn("cudaErrorAssert", done.stdout)
        self.assertIn("assertion `other < (kFault == Fault::kAssert ? 3 : 4)` fails", done.stderr)

    def test_follows_addresses_in_memory(self):
        self.clean("pointers", 1)
        self.broken("pointers", {"WORD_OOB"}, "FREED")

    def test_reports_of_a_program_that_ends_early(self):
        program = compile_program("crash", self.folder.name)
        for arguments, code in [([], 0), (["9"], 9), (["abort"], 134)]:
            done, report = run(program, arguments=arguments)
            self.assertEqual(done.returncode, code)
            self.assertEqual(report["program_exit"], code)
            self.assertEqual(verdicts(report), ["proved"])

    def test_runs_under_a_debugger(self):
        if shutil.which("gdb") is None:
            self.skipTest("there is no gdb")
        program = compile_program("vector_add", self.folder.name, "-g")
        script = pathlib.Path(self.folder.name) / "debugged"
        steps = "-ex 'break main' -ex run -ex continue"
        script.write_text(f"#!/bin/sh\nexec gdb -batch {steps} {program}\n")
        script.chmod(0o755)
        done, report = run(script)
        self.assertIn("Breakpoint 1, main", done.stdout)
        self.assertIn("right", done.stdout.split("\n"))
        self.assertEqual(verdicts(report), ["proved"] * 3)

    def test_runs_beside_others(self):
        program = compile_program("vector_add", self.folder.name)
        reports = [pathlib.Path(self.folder.name) / f"beside{i}.json" for i in range(3)]
        command = [WARPTWIN, "cuda", "--chip", "h200", "--json"]
        out = subprocess.DEVNULL
        beside = [
            subprocess.Popen([*command, str(each), "--", str(program)], stdout=out, stderr=out)
            for each in reports
        ]
        self.assertEqual([each.wait() for each in beside], [0] * 3)
        for report in reports:
            self.assertEqual(verdicts(json.loads(report.read_text())), ["proved"] * 3)

    def test_keeps_launches_for_other_commands(self):
        program = compile_program("pipeline", self.folder.name)
        kept = pathlib.Path(self.folder.name) / "kept"
        done, report = run(program, "--keep", str(kept), arguments=["FENCE"])
        launch = [str(kept / "1" / "kernel.ptx"), "--launch", str(kept / "1" / "launch.json")]
        proved = subprocess.run(
            [WARPTWIN, "ptx", "prove", *launch, "--json"], capture_output=True, text=True
        )
        self.assertEqual(proved.returncode, 1, proved.stderr)
        found = json.loads(proved.stdout)
        self.assertEqual({each["id"] for each in found["findings"]}, ids(report))
        replay = report["launches"][0]["findings"][0]["replay"].split()
        self.assertEqual(replay[0], "warptwin")
        again = subprocess.run([WARPTWIN, *replay[1:]], capture_output=True, text=True)
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn("PROXY_FENCE_MISSING_WAR", again.stdout)

    def test_asks_as_much_as_the_policy_says(self):
        program = compile_program("vector_add", self.folder.name)
        _, report = run(program, "--policy", "run", "--policy", "prove:add*", "--first", "1")
        self.assertEqual(verdicts(report), ["proved", "ran", "ran"])
        _, report = run(program, "--policy", "record")
        self.assertEqual(verdicts(report), ["recorded"] * 3)
        done, report = run(program, "--policy", "perhaps")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--policy takes", done.stderr)

    def test_refuses_what_it_cannot_serve(self):
        folder = self.folder.name
        for options, why in [
            (["-arch=sm_90a", "-cudart", "static"], "-cudart shared"),
            (["-arch=sm_90a", "-cudart", "shared", "-rdc=true"], "without -rdc"),
            (["-cudart", "shared", "-gencode", "arch=compute_90a,code=sm_90a"],
             "compile it with -gencode arch=compute_90a,code=compute_90a"),
        ]:
            program = pathlib.Path(folder) / "refused"
            command = [NVCC, *LEAN, *options, "-o", str(program)]
            subprocess.run([*command, str(PROGRAMS / "vector_add.cu")], check=True)
            done, report = run(program)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(why, done.stderr)
            self.assertEqual(report["launches"], [])

    def test_names_a_library_with_another_runtime(self):
        library = pathlib.Path(self.folder.name) / "libborrowed.so"
        command = [NVCC, *LEAN, "-arch=sm_90a", "-DLIBRARY", "-shared", "-cudart", "static"]
        command += ["-Xcompiler", "-fPIC", "-o", str(library)]
        subprocess.run([*command, str(PROGRAMS / "borrowed.cu")], check=True)
        links = ["-L", str(library.parent), "-lborrowed", "-Xlinker", f"-rpath={library.parent}"]
        done, _ = run(compile_program("borrowed", self.folder.name, *links))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"{library} holds a CUDA runtime of its own", done.stderr)

    def test_names_what_is_missing(self):
        program = compile_program("missing", self.folder.name)
        for what, said in {
            "capture": "cudaStreamBeginCapture, called by",
            "peer": "there is one device",
            "array": "arrays and textures are not simulated",
            "ipc": "cudaIpcGetMemHandle, called by",
        }.items():
            done, _ = run(program, arguments=[what])
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        done, report = run(program)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "begun\n")
        self.assertIn("cudaGraphCreate, called by", done.stderr)
        self.assertIn("warptwin cuda --list", report["ended"][0])
        listed = subprocess.run([WARPTWIN, "cuda", "--list"], capture_output=True, text=True)
        names = listed.stdout.split()
        self.assertIn("cudaMalloc", names)
        self.assertIn("cuLaunchKernelEx", names)
        self.assertNotIn("cudaGraphCreate", names)

    def test_refuses_what_is_no_program(self):
        for command in [["/nonexistent"], ["true"]]:
            done = subprocess.run(
                [WARPTWIN, "cuda", "--", *command], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertTrue(done.stderr.startswith("config: "), done.stderr)


if __name__ == "__main__":
    WARPTWIN, NVCC = sys.argv[1:3]
    if shutil.which(NVCC) is None:
        print("skipped: there is no nvcc")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
