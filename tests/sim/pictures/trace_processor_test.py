"""Perfetto's own trace processor opens the traces, and counts in them what the independent reader
of timeline_test.py does. Usage: trace_processor_test.py WARPTWIN ROOT.

WARPTWIN_TRACE_PROCESSOR names the folder that scripts/fetch-trace-processor filled: the processor
is other people's work, and is not in this tree."""

import collections
import os
import pathlib
import sys
import tempfile
import unittest

import browser
import timeline_test
import trace_processor

FOLDER = os.environ.get("WARPTWIN_TRACE_PROCESSOR")


class TraceProcessorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # A method, were it not in a list.
        cls.process = [cls.enterClassContext(trace_processor.opened(FOLDER))]

    def opened(self, *words, code=0):
        path = self.folder / "run.pftrace"
        timeline_test.call(*words, "--perfetto", path, code=code)
        return timeline_test.Timeline(path), self.process[0](path.read_bytes())

    def check(self, timeline, processor):
        faults = processor.rows(
            "select name, value from stats where severity in ('error', 'data_loss') and value > 0")
        self.assertEqual(faults, [])
        counted = dict(processor.rows("select category, count(*) from slice group by 1"))
        seen = collections.Counter(one.category for one in timeline.slices + timeline.instants)
        self.assertGreater(sum(seen.values()), 40)
        self.assertEqual(counted, dict(seen) | ({"release": timeline.releases}
                                                if timeline.releases else {}))
        longest = "select max(dur) from slice where category = 'wait'"
        ended = [one.length for one in timeline.of("wait") if one.end is not None]
        self.assertEqual(processor.rows(longest), [(max(ended),)])
        self.assertEqual(processor.rows("select count(*) from flow"), [(len(timeline.flow_ends),)])
        self.assertEqual(processor.rows("select count(*) from counter"),
                         [(sum(map(len, timeline.counters.values())),)])
        back = ("select count(*) from flow join slice a on slice_out = a.id join slice b on "
                "slice_in = b.id where a.ts + max(a.dur, 0) > b.ts + max(b.dur, 0)")
        self.assertEqual(processor.rows(back), [(0,)])

    def test_a_functional_run(self):
        self.check(*self.opened("run", *timeline_test.SMALL))

    def test_a_timed_run(self):
        timeline, processor = self.opened("time", *timeline_test.SMALL)
        self.check(timeline, processor)
        units = "select unit from counter_track where name = 'DRAM: bytes'"
        self.assertEqual(processor.rows(units), [("bytes a cycle",)])

    def test_a_ptx_launch(self):
        self.check(*self.opened("run", *timeline_test.RING))

    def test_a_deadlock(self):
        timeline, processor = self.opened("run", *timeline_test.BROKEN, code=1)
        self.check(timeline, processor)
        self.assertEqual(processor.rows("select count(*) from slice where dur = -1"),
                         [(len(timeline.unfinished),)])

    def test_a_wait_is_released_by_what_arrived(self):
        _, processor = self.opened("run", *timeline_test.SMALL)
        released = processor.rows(
            "select a.name, count(*) from flow join slice a on slice_out = a.id join slice b on "
            "slice_in = b.id join slice c on c.track_id = b.track_id and c.ts + c.dur = b.ts "
            "where b.name = 'released' and c.name like 'wait accum.full%' group by 1")
        self.assertEqual([name for name, _ in released], ["tcgen05.commit"])
        self.assertGreater(released[0][1], 3)


if __name__ == "__main__":
    if FOLDER is None:
        print("skipped: WARPTWIN_TRACE_PROCESSOR is not set (scripts/fetch-trace-processor)")
        sys.exit(77)
    if browser.missing():
        print("skipped: " + browser.missing())
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
