"""The page in a browser: a reader steps through a counterexample, finds the waits of a barrier, and
follows an arrival to its wait. Usage: page_test.py WARPTWIN ROOT."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

WARPTWIN, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
SMALL = ["gemm", "--set", "m=256", "--set", "n=128", "--set", "k=256"]
BROKEN = ["gemm_missing_accum_release", "--set", "m=256", "--set", "n=256", "--set", "k=256"]


def call(*words, code=0):
    done = subprocess.run([WARPTWIN, *map(str, words)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != code:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.driver = cls.enterClassContext(browser.opened())

    def open(self, *words, code=0):
        path = self.folder / "page.html"
        done = call(*words, "--html", path, code=code)
        browser.load(self.driver, path)
        self.assertEqual(browser.complaints(self.driver), [])
        return done.stdout

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)

    def test_steps_through_a_counterexample(self):
        said = self.open("check", *BROKEN, code=1)
        self.assertIn("DEADLOCK", self.text("#finding-0"))
        self.assertIn("finding", self.text("#verdict"))
        self.assertIn(said.strip().rpartition("release: ")[2], self.text("#said"))
        rows = self.js("return document.querySelectorAll('#finding-0 .steps li').length")
        self.assertGreater(rows, 20)
        current = "#finding-0 li[aria-current=step]"
        last = self.text(current)
        self.assertIn("DEADLOCK", last)
        self.click("#finding-0 button.back")
        self.click("#finding-0 button.back")
        self.assertEqual(self.text("#finding-0 .count"), f"step {rows - 2} of {rows}")
        step = self.js("return page.data.findings[0].steps[arguments[0]]", rows - 3)
        self.assertIn(step["what"], self.text(current))
        # The line of the step, as it stands in the file.
        source = (ROOT / self.text("#finding-0 .source b")).read_text().splitlines()
        here = self.text("#finding-0 .source .here")
        self.assertEqual(here, f"{step['line']}{source[step['line'] - 1]}")
        self.assertEqual(self.js("return page.timelines[0].cursor"), step["number"])
        self.click("#finding-0 button.forward")
        self.click("#finding-0 button.last")
        self.assertEqual(self.text(current), last)
        # Who waits for whom: every warp that the report calls blocked, and the circle.
        drawing = self.text("#finding-0 .drawing svg")
        for name in ("accum.full[0]", "accum.empty[0]", "epilogue", "mma", "waits for", "owed by"):
            self.assertIn(name, drawing)
        self.assertGreaterEqual(
            self.js("return document.querySelectorAll('#finding-0 .edge.wrong').length"), 4)

    def test_finds_the_waits_of_one_barrier(self):
        self.open("time", *SMALL)
        label = "input.full[1] of cta 0"
        option, value = self.js(
            """const all = [...document.querySelectorAll('#barrier option')];
            const one = all.find((row) => row.textContent.startsWith(arguments[0]));
            return [one.textContent, one.value];""",
            label,
        )
        count = int(re.search(r": (\d+) waits?, (\d+) cycle", option).group(1))
        self.js(
            """const choice = document.getElementById('barrier');
            choice.value = arguments[0];
            choice.dispatchEvent(new Event('change'));""",
            value,
        )
        seen = []
        for number in range(count):
            self.assertEqual(self.text("#found"), f"wait {number + 1} of {count}")
            self.assertEqual(self.text("#selected"), "wait input.full[1]")
            seen.append(self.js("return page.timelines[0].selected"))
            self.click("#next-wait")
        self.assertEqual(len(set(seen)), count)
        self.assertEqual(self.js("return page.timelines[0].selected"), seen[0])

    def test_follows_an_arrival_to_its_wait(self):
        self.open("time", *SMALL)
        wait = self.js(
            """const run = page.runs[0];
            for (let i = 0; i < run.what.length; ++i) {
              if (run.titleOf(i) === 'wait input.full[1]') {
                page.timelines[0].select(i);
                return i;
              }
            }"""
        )
        self.assertIn("released by: cp.async.bulk.tensor (load)", self.text("#details"))
        self.click("#details button.to-cause")
        load = self.js("return page.timelines[0].selected")
        self.assertNotEqual(load, wait)
        self.assertIn("releases: wait input.full[1]", self.text("#details"))
        ends = self.js("const run = page.runs[0]; return [run.finish[arguments[0]], "
                       "run.finish[arguments[1]]]", load, wait)
        self.assertLessEqual(*ends)
        self.js("document.querySelector(`#details button[data-slice='${arguments[0]}']`).click()",
                wait)
        self.assertEqual(self.js("return page.timelines[0].selected"), wait)

    def test_says_how_many_there_are_and_what_is_left_out(self):
        path = self.folder / "run.trace"
        self.open("time", *SMALL)
        counts = self.js(
            """const run = page.runs[0], counts = {};
            for (const what of run.what) {
              counts[run.kinds[what].kind] = (counts[run.kinds[what].kind] || 0) + 1;
            }
            return [counts, run.counted, run.marks.length];"""
        )
        self.assertIn(f"{counts[0]['0']} operations, {counts[0]['1']} waits", counts[1])
        call("trace", *SMALL, "--on", "timed", "--to", path)
        ops = [row for row in path.read_text().splitlines() if '"op"' in row]
        self.assertGreaterEqual(counts[0]["0"] + counts[0]["1"], len(ops))
        self.open("time", *SMALL, "--window", "0:2000")
        self.assertIn("outside the window", self.text("#said"))

    def test_keys_zoom_and_dark_mode(self):
        self.open("prove", *SMALL)
        self.assertIn("proved", self.text("#verdict"))
        span = "const [a, b] = page.timelines[0].x.domain(); return b - a"
        before = self.js(span)
        self.js("page.timelines[0].key({key: 'w', preventDefault() {}})")
        self.assertLess(self.js(span), before / 1.3)
        self.js("page.timelines[0].key({key: '0', preventDefault() {}})")
        self.assertAlmostEqual(self.js(span), before, delta=before / 1000)
        paper = "return getComputedStyle(document.body).backgroundColor"
        light = self.js(paper)
        self.click("#theme")
        self.assertNotEqual(self.js(paper), light)

    def test_a_comparison_shows_both_runs(self):
        paths = [self.folder / name for name in ("a.trace", "b.trace")]
        call("trace", *SMALL, "--to", paths[0])
        text = paths[0].read_text().splitlines()
        for number, line in enumerate(text):
            row = json.loads(line)
            if row.get("op") == "mbarrier.wait" and number > len(text) // 2:
                row["at"] = "input.full[0]" if row["at"] != "input.full[0]" else "input.full[1]"
                text[number] = json.dumps(row)
                break
        paths[1].write_text("\n".join(text) + "\n")
        self.open("compare", *paths, code=1)
        self.assertEqual(self.js("return page.timelines.length"), 2)
        self.assertIn("differ", self.text("#verdict"))
        self.assertIn("operation", self.text("#differences"))
        self.assertIsNotNone(self.js("return page.timelines[0].difference"))

    def test_nothing_in_a_name_ends_the_page(self):
        program = self.folder / "a<b&'\"</script>.txt"
        program.parent.mkdir(parents=True, exist_ok=True)
        program = self.folder / "a<b&'\".txt"
        program.write_text((ROOT / "tests/programs/row04_wrong.txt").read_text())
        self.open("prove", "--program", program, code=1)
        self.assertGreater(self.js("return page.timelines[0].drawn"), 0)

    def test_pictures_are_written_by_themselves(self):
        for name in ("timeline", "pipeline", "stages", "time", "path"):
            path = self.folder / f"{name}.svg"
            call("time", *SMALL, "--picture", f"{name}={path}")
            self.assertTrue(path.read_text().startswith("<svg"))
        said = call("time", *SMALL, "--picture", "x=a.svg", code=2).stderr
        self.assertIn("timeline, pipeline", said)


if __name__ == "__main__":
    if browser.missing():
        print("skipped: " + browser.missing())
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
