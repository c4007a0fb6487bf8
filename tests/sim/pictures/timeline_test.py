"""Timelines as Perfetto's protobuf and as Chrome's JSON, read by others, against the run that they
are of. Usage: timeline_test.py WARPTWIN ROOT."""

import collections
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import text_format

WARPTWIN, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
SMALL = ["gemm", "--set", "m=256", "--set", "n=128", "--set", "k=256"]
BROKEN = ["gemm_missing_accum_release"]
RING = [f"--{what}=tests/sim/ptx/machine/ring.{end}" for what, end in
        (("ptx", "ptx"), ("launch", "json"))]


def call(*words, code=0):
    done = subprocess.run([WARPTWIN, *map(str, words)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != code:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


@dataclasses.dataclass
class Slice:
    name: str
    category: str
    track: str
    begin: int
    facts: dict
    top: str  # the name of the recording
    end: int = None
    flows: list = dataclasses.field(default_factory=list)

    @property
    def operation(self):
        return self.facts.get("operation", self.name)

    @property
    def length(self):
        return self.end - self.begin


class Timeline:
    """What a Perfetto trace says, put together from its packets."""

    def __init__(self, path):
        self.tracks, self.parents, self.slices = {}, {}, []
        self.counters = collections.defaultdict(list)
        self.instants = []
        self.ranks = {}
        self.releases = 0
        self.ended = {}  # the last slice of each track
        texts = collections.defaultdict(dict)
        open_slices = {}
        self.flow_ends = collections.defaultdict(list)
        before = 0
        for packet in text_format.decode(pathlib.Path(path).read_bytes())["packet"]:
            for kind, rows in packet.get("interned_data", [{}])[0].items():
                for row in rows:
                    texts[kind][row["iid"][0]] = row["name"][0]
            for track in packet.get("track_descriptor", []):
                self.tracks[track["uuid"][0]] = track["name"][0]
                self.parents[track["uuid"][0]] = track.get("parent_uuid", [None])[0]
                self.ranks[track["uuid"][0]] = int(track["sibling_order_rank"][0])
            for event in packet.get("track_event", []):
                self.add(event, int(packet["timestamp"][0]), texts, open_slices)
        self.unfinished = [one for stack in open_slices.values() for one in stack]

    def top_of(self, track):
        while self.parents[track] is not None:
            track = self.parents[track]
        return self.tracks[track]

    def path_of(self, track):
        names = []
        while track is not None:
            names.append(self.tracks[track])
            track = self.parents[track]
        return " / ".join(reversed(names[:-1]))

    def add(self, event, time, texts, open_slices):
        track = event["track_uuid"][0]
        kind = event["type"][0]
        if kind == "TYPE_COUNTER":
            value = float(event.get("double_counter_value", ["0"])[0])
            self.counters[self.path_of(track)].append((time, value))
            return
        stack = open_slices.setdefault(track, [])
        if kind == "TYPE_SLICE_END":
            one = self.ended[track] = stack.pop()
            one.end = time
        else:
            facts = {
                texts["debug_annotation_names"][fact["name_iid"][0]]: texts[
                    "debug_annotation_string_values"
                ][fact["string_value_iid"][0]]
                if "string_value_iid" in fact
                else int(fact["uint_value"][0])
                for fact in event.get("debug_annotations", [])
            }
            one = Slice(
                texts["event_names"][event["name_iid"][0]],
                texts["event_categories"][event["category_iids"][0]],
                self.path_of(track),
                time,
                facts,
                self.top_of(track),
            )
            if kind == "TYPE_INSTANT" and one.category != "release":
                self.instants.append(one)
                return
            if kind == "TYPE_INSTANT":  # stands for the end of the wait before it
                self.releases += 1
                one = self.ended[track]
                if (one.category, one.end) != ("wait", time):
                    raise AssertionError(f"nothing that is released: {one}")
                self.add_flows(event, one)
                return
            if stack:
                raise AssertionError(f"two slices at a time on {one.track}: {stack[-1]} and {one}")
            stack.append(one)
            self.slices.append(one)
        self.add_flows(event, one)

    def add_flows(self, event, one):
        for flow in event.get("flow_ids", []):
            one.flows.append(flow)
            self.flow_ends[flow].append(one)

    def of(self, *categories):
        return [one for one in self.slices if one.category in categories]


def warps_of(head):
    """The role of each warp of a CTA, from the first line of a trace."""
    return [role for role, warps in head["roles"] for _ in range(warps)]


class TimelineTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def timeline(self, *words, code=0):
        path = self.folder / "run.pftrace"
        call(*words, "--perfetto", path, code=code)
        return Timeline(path)

    # --- No event is lost -------------------------------------------------------------------------

    def ops_of(self, trace):
        """The operations in a trace file, by name."""
        rows = map(json.loads, trace.read_text().splitlines())
        return collections.Counter(row["op"] for row in rows if "op" in row)

    def check_every_operation(self, timeline, ops):
        self.assertGreater(sum(ops.values()), 30)
        drawn = collections.Counter(one.operation for one in timeline.of("operation", "wait"))
        self.assertEqual({name: drawn[name] for name in ops}, dict(ops))
        return drawn

    def test_every_operation_of_a_functional_run_is_there(self):
        trace = self.folder / "run.trace"
        path = self.folder / "run.pftrace"
        call("trace", *SMALL, "--to", trace)
        report = json.loads(call("run", *SMALL, "--json", "--perfetto", path).stdout)
        timeline = Timeline(path)
        drawn = self.check_every_operation(timeline, self.ops_of(trace))
        # What lanes do is not drawn, and counted; what goes on by itself takes a machine operation
        # where it is written, and a store another one where it is read.
        under_way = timeline.of("async")
        stores = [one for one in under_way if "(store)" in one.name]
        self.assertEqual(
            sum(drawn.values()) + self.not_drawn(timeline) + len(under_way) + len(stores),
            report["operations"])

    def not_drawn(self, timeline):
        notes = [one.facts["what"] for one in timeline.instants if one.category == "note"]
        found = [re.match(r"not drawn: (\d+) operations? of lanes", note) for note in notes]
        return sum(int(one.group(1)) for one in found if one)

    def test_every_operation_of_a_timed_run_is_there(self):
        trace = self.folder / "timed.trace"
        call("trace", *SMALL, "--on", "timed", "--to", trace)
        self.check_every_operation(self.timeline("time", *SMALL), self.ops_of(trace))

    def test_every_operation_of_a_trace_file_is_there(self):
        traces = [self.folder / name for name in ("a.trace", "b.trace")]
        for trace, engine in zip(traces, ("functional", "timed"), strict=True):
            call("trace", *SMALL, "--on", engine, "--to", trace)
        path = self.folder / "two.pftrace"
        call("compare", *traces, "--perfetto", path)
        drawn = collections.Counter(
            one.operation for one in Timeline(path).of("operation", "wait"))
        self.assertEqual(drawn, self.ops_of(traces[0]) + self.ops_of(traces[1]))
        alone = self.timeline("trace", *SMALL, "--to", traces[0])
        drawn = collections.Counter(one.operation for one in alone.of("operation", "wait"))
        self.assertEqual(drawn, self.ops_of(traces[0]))

    def test_every_operation_of_a_ptx_launch_is_there(self):
        trace = self.folder / "ptx.trace"
        call("trace", *RING, "--to", trace)
        ops = self.ops_of(trace)
        self.check_every_operation(self.timeline("run", *RING), ops)
        self.assertGreater(ops["cp.async.bulk (load)"], 0)

    def test_a_trace_of_a_gpu_has_a_clock_for_each_cta(self):
        traces = [self.folder / name for name in ("a.trace", "b.trace")]
        call("trace", *SMALL, "--on", "timed", "--to", traces[0])
        rows = [json.loads(row) for row in traces[0].read_text().splitlines()]
        rows[0]["source"] = "hardware"
        warps = len(warps_of(rows[0])) * rows[0]["cluster_size"]
        for row in rows[1:-1]:  # each SM has counted since another time, and may turn over
            row["time"] = (row["time"] + 2**32 - 3000 * (1 + row["warp"] // warps)) % 2**32
        traces[1].write_text("\n".join(map(json.dumps, rows)) + "\n")
        path = self.folder / "two.pftrace"
        subprocess.run([WARPTWIN, "compare", *traces, "--perfetto", path], cwd=ROOT,
                       capture_output=True)
        timeline = Timeline(path)
        gpu = [one for one in timeline.of("operation", "wait") if one.top.startswith("hardware")]
        self.assertEqual(collections.Counter(one.operation for one in gpu),
                         self.ops_of(traces[1]))
        for cta in ("cta 0", "cta 1"):
            begins = [one.begin for one in gpu if one.track.startswith(cta)]
            self.assertEqual(min(begins), 0)
            self.assertLess(max(begins), 20000)
        said = [one.facts["what"] for one in timeline.instants]
        self.assertTrue(any("the clocks of two SMs" in one for one in said))

    def test_what_a_recorder_lost_is_told(self):
        traces = [self.folder / name for name in ("a.trace", "b.trace")]
        call("trace", *SMALL, "--to", traces[0])
        rows = traces[0].read_text().splitlines()
        head = json.loads(rows[0])
        head["missing"] = [[0, 5, 2]]
        gone = [row for row in rows[1:-1] if json.loads(row)["warp"] != 0]
        end = json.dumps({"operations": len(gone)})
        traces[1].write_text("\n".join([json.dumps(head), *gone, end]) + "\n")
        path = self.folder / "two.pftrace"
        done = subprocess.run([WARPTWIN, "compare", *traces, "--perfetto", path],
                              capture_output=True, text=True, cwd=ROOT)
        self.assertIn("lost while it was recorded: 7 operations", done.stderr)
        said = [one.facts["what"] for one in Timeline(path).instants]
        self.assertIn("lost while it was recorded: 7 operations", said)

    def test_a_wait_is_released_by_what_completed_its_phase(self):
        timeline = self.timeline("run", *SMALL)
        released = 0
        for one, other in self.flows(timeline):
            self.assertLessEqual(one.end, other.end)
            if other.operation == "mbarrier.wait":
                released += 1
                self.assertEqual(one.facts["barrier"], other.facts["barrier"])
                self.assertEqual(one.facts["phase"], other.facts["phase"])
        waits = [one for one in timeline.slices if one.operation == "mbarrier.wait"]
        self.assertTrue(any(one.category == "wait" for one in waits))
        self.assertGreater(len(waits), 20)
        # A fresh ring's first waits are for a phase that nothing completed.
        fresh = [one for one in waits if not one.flows]
        self.assertEqual(released, len(waits) - len(fresh))
        self.assertEqual({one.facts["phase"] for one in fresh}, {2**32 - 1})

    def flows(self, timeline):
        for flow, ends in timeline.flow_ends.items():
            self.assertEqual(len(ends), 2, flow)
            yield ends

    def test_loads_lead_to_what_reads_them(self):
        timeline = self.timeline("run", *SMALL)
        loads = [one for one in timeline.of("async") if "load" in one.name]
        operations = [one for one in timeline.of("operation") if "(load)" in one.name]
        self.assertEqual(len(loads), len(operations))
        users = [other.name for one, other in self.flows(timeline) if one in loads]
        self.assertEqual(users.count("tcgen05.mma"), 2 * len(
            [one for one in timeline.of("operation") if one.name == "tcgen05.mma"]))
        # What is full is what has been filled less what has been freed.
        ends = {part: [one.end for one in timeline.of("phase")
                       if one.track.startswith(f"cta 0 / barriers / input.{part}")]
                for part in ("full", "empty")}
        stages = timeline.counters["cta 0 / counters / input: stages full"]
        for time, value in stages:
            filled, freed = (sum(end <= time for end in ends[part]) for part in ("full", "empty"))
            self.assertEqual(value, filled - freed)
        self.assertGreater(max(value for _, value in stages), 1)
        self.assertEqual(stages[-1][1], 0)
        # So is what the tensor core has been given and has not done, from step to step.
        under_way = timeline.counters["cta 0 / counters / tensor core: under way"]
        self.assertEqual(under_way[-1][1], 0)
        self.assertEqual(
            sum(value * (then - now) for (now, value), (then, _) in
                zip(under_way, under_way[1:], strict=False)),
            sum(done.end - 1 - given.begin for given, done in self.flows(timeline)
                if done.track.startswith("cta 0 / units / tensor core")
                and given.category == "operation"))
        bytes_on_their_way = timeline.counters["cta 0 / counters / bytes on their way"]
        self.assertEqual(bytes_on_their_way[-1][1], 0)
        self.assertGreater(max(value for _, value in bytes_on_their_way), 0)

    def test_phases_count_what_arrived(self):
        timeline = self.timeline("run", *SMALL)
        phases = [one for one in timeline.of("phase") if "input.full" in one.track]
        self.assertTrue(phases)
        for one in phases:
            self.assertEqual(one.facts["arrivals"], 1)
            self.assertEqual(one.facts["bytes"], 2 * 128 * 64 * 2)

    def test_time_adds_up_to_the_report(self):
        path = self.folder / "time.pftrace"
        report = json.loads(call("time", *SMALL, "--json", "--perfetto", path).stdout)
        timeline = Timeline(path)
        waits = collections.Counter()
        for one in timeline.of("wait"):
            role = one.track.rpartition("/ ")[2].partition(":")[0]
            what = one.facts.get("barrier", "").partition("[")[0].partition(" of ")[0]
            waits[role, what or one.operation] += one.length
        compared = 0
        for role in report["roles"]:
            for wait in role["waits"]:
                name = wait["for"].removeprefix("mbarrier ")
                drawn = waits[role["role"], name] / role["warps"]
                self.assertAlmostEqual(drawn, wait["cycles"], delta=2 + 0.02 * wait["cycles"])
                compared += 1
        self.assertGreater(compared, 3)
        for unit in report["units"]:
            samples = timeline.counters.get(f"counters / {unit['unit']}: busy")
            if samples:
                sums = zip(samples, samples[1:], strict=False)
                busy = sum(value * (then - now) for (now, value), (then, _) in sums)
                self.assertAlmostEqual(busy / 100 / report["cycles"], unit["busy"], delta=0.01)
        self.check_bytes(timeline)
        # The chip's own stands above its CTAs.
        ranks = {timeline.path_of(uuid): rank for uuid, rank in timeline.ranks.items()}
        self.assertLess(max(ranks["counters"], ranks["critical path"]), ranks["cta 0"])
        path_cycles = sum(one.length for one in timeline.of("path"))
        self.assertAlmostEqual(path_cycles, report["critical_path"]["cycles"], delta=60)

    # Every input comes from DRAM once, and L2 hands on what is loaded.
    def check_bytes(self, timeline):
        def moved(name):
            samples = timeline.counters[f"counters / {name}: bytes"]
            return sum(value * (then - now) for (now, value), (then, _) in
                       zip(samples, samples[1:], strict=False))

        def bytes_of(what):
            return sum(one.facts["bytes"] for one in timeline.of("operation") if what in one.name)

        self.assertGreater(bytes_of("(load)"), 0)
        self.assertAlmostEqual(moved("L2 writes") / bytes_of("(store)"), 1, delta=0.01)
        tensors = 2 * (256 * 256 + 128 * 256 + 256 * 128)
        self.assertAlmostEqual(moved("DRAM") / tensors, 1, delta=0.01)
        self.assertAlmostEqual(moved("L2 reads") / bytes_of("(load)"), 1, delta=0.01)

    def test_what_a_window_leaves_out_is_counted(self):
        whole = self.timeline("run", *SMALL)
        path = self.folder / "window.pftrace"
        done = call("run", *SMALL, "--perfetto", path, "--window", "100:300", "--ctas", 1)
        part = Timeline(path)
        self.assertTrue(all(one.track.startswith("cta 0") for one in part.slices))
        self.assertTrue(all(one.end >= 100 and one.begin <= 300 for one in part.slices))
        for category, word in [("operation", "operation"), ("wait", "wait"), ("phase", "phase")]:
            all_of_them = len(whole.of(category))
            left_out = all_of_them - len(part.of(category))
            self.assertIn(f"{left_out} of {all_of_them} {word}s", done.stderr)
        left_out = len(whole.flow_ends) - len(part.flow_ends)
        self.assertIn(f"{left_out} of {len(whole.flow_ends)} arrows", done.stderr)
        self.assertIn("outside the window", part.instants[0].facts["what"])

    def test_a_deadlock_is_open_to_the_end(self):
        path = self.folder / "run.pftrace"
        done = call("run", *BROKEN, "--json", "--perfetto", path, code=1)
        report = json.loads(done.stdout)
        timeline = Timeline(path)
        found = [one for one in timeline.instants if one.category == "finding"]
        self.assertEqual([one.name for one in found], [one["id"] for one in report["findings"]])
        blocked = [one for one in timeline.unfinished if one.category == "wait"]
        self.assertTrue(any(one.name == "wait accum.full[0]" for one in blocked))
        self.assertTrue(all(one.facts["ended"] == "not in this run" for one in blocked))

    def test_two_traces_stand_one_above_the_other(self):
        traces = [self.folder / name for name in ("steps.trace", "cycles.trace")]
        call("trace", *SMALL, "--to", traces[0])
        call("trace", *SMALL, "--on", "timed", "--to", traces[1])
        timeline = self.timeline("compare", *traces)
        tops = [name for uuid, name in timeline.tracks.items() if timeline.parents[uuid] is None]
        self.assertEqual([top.split(",")[0] for top in tops], ["simulator", "timed"])

    def test_the_first_difference_is_marked_in_both(self):
        traces = [self.folder / name for name in ("a.trace", "b.trace")]
        call("trace", *SMALL, "--to", traces[0])
        rows = traces[0].read_text().splitlines()
        place = max(i for i, row in enumerate(rows) if '"mbarrier.wait"' in row)
        row = json.loads(rows[place])
        row["at"] = "input.full[0]" if row["at"] != "input.full[0]" else "input.full[1]"
        rows[place] = json.dumps(row)
        traces[1].write_text("\n".join(rows) + "\n")
        timeline = self.timeline("compare", *traces, code=1)
        marks = [one for one in timeline.instants if one.name == "first difference"]
        self.assertEqual([one.begin for one in marks], [row["time"], row["time"]])
        self.assertEqual(len({one.track for one in marks}), 1)
        self.assertIn("input.full", marks[1].facts["what"])

    def test_chrome_says_the_same(self):
        path = self.folder / "run.json"
        timeline = self.timeline("run", *SMALL, "--chrome", path)
        events = json.loads(path.read_text())["traceEvents"]
        drawn = collections.Counter(one["cat"] for one in events if one["ph"] in "XB")
        self.assertEqual(drawn, collections.Counter(one.category for one in timeline.slices))
        starts = [one for one in events if one["ph"] == "s"]
        self.assertEqual(len(starts), len(timeline.flow_ends))
        self.assertEqual(len(starts), sum(one["ph"] == "f" for one in events))

    def test_programs_and_ptx_have_timelines_too(self):
        program = self.timeline("run", "--program", "tests/programs/row04_right.txt")
        self.assertTrue(program.of("operation"))
        ptx = self.timeline("run", *RING)
        self.assertTrue(any(one.facts.get("line") for one in ptx.of("operation")))
        self.assertTrue(ptx.of("phase"))

    def test_the_same_run_has_the_same_bytes(self):
        files = [self.folder / name for name in ("a", "b")]
        for file in files:
            call("time", *SMALL, "--perfetto", file)
        self.assertEqual(files[0].read_bytes(), files[1].read_bytes())

    def test_bad_options_are_told(self):
        path = self.folder / "run.pftrace"
        for words in (["--window", "9"], ["--window", "9:3"], ["--window", "a:b"], ["--ctas", "0"]):
            said = call("run", *SMALL, "--perfetto", path, *words, code=2).stderr
            self.assertIn(words[0], said)
        self.assertIn("--perfetto", call("run", *SMALL, "--window", "1:2", code=2).stderr)
        nowhere = self.folder / "no" / "where"
        self.assertIn("cannot be written", call("run", *SMALL, "--chrome", nowhere, code=2).stderr)


if __name__ == "__main__":
    if shutil.which("protoc") is None:
        print("skipped: protoc is not here (Debian: protobuf-compiler)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
