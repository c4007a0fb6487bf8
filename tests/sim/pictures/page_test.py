"""The page in a browser: a reader steps through a counterexample, finds the waits of a barrier, and
follows an arrival to its wait. Usage: page_test.py WARPTWIN ROOT."""

import collections
import importlib
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser
import colour_vision

WARPTWIN, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
SMALL = ["gemm", "--set", "m=256", "--set", "n=128", "--set", "k=256"]
BROKEN = ["gemm_missing_accum_release", "--set", "m=256", "--set", "n=256", "--set", "k=256"]
RING = [f"--{what}=tests/sim/ptx/machine/ring.{end}" for what, end in
        (("ptx", "ptx"), ("launch", "json"))]


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

    def press(self, *keys):
        """On the keyboard, to whatever has the focus."""
        actions = importlib.import_module("selenium.webdriver").ActionChains(self.driver)
        for key in keys:
            actions.send_keys(key)
        actions.perform()

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def media(self, media="", **features):
        rows = [{"name": f"prefers-{name}".replace("_", "-"), "value": value}
                for name, value in features.items()]
        self.cdp("Emulation.setEmulatedMedia", media=media, features=rows)
        self.addCleanup(self.cdp, "Emulation.setEmulatedMedia", media="", features=[])
        # The page is told with a frame, and draws with the next one.
        self.driver.execute_async_script(
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0], 0)))")

    def colours(self):
        """The custom properties of the theme that is shown."""
        return self.js(
            """const style = getComputedStyle(document.documentElement);
            return Object.fromEntries([...NAMES, ...d3.range(CATEGORIES).map((i) => 'c' + i)]
              .map((name) => [name, style.getPropertyValue('--' + name).trim()]));""")

    def drawn(self, run=0):
        """Of one run how many slices of each kind there are, by name."""
        return collections.Counter(map(tuple, self.js(
            """const run = page.runs[arguments[0]];
            return [...run.what.keys()].map((i) => [run.kindOf(i).kind, run.kindOf(i).name]);""",
            run)))

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
        for fact in ("phase 1 lacks 1 arrival of 1", "phase 0 lacks 128 arrivals of 128"):
            self.assertIn(fact, drawing)
            self.assertIn(fact, self.text("#finding-0 pre"))
        self.assertGreaterEqual(
            self.js("return document.querySelectorAll('#finding-0 .edge.wrong').length"), 4)
        # What is declared and never came stands in the pipeline.
        self.assertIn("none of x128", self.text("#pipeline svg"))

    def test_the_page_of_a_time_says_what_the_report_says(self):
        report = json.loads(call("time", *SMALL, "--json").stdout)
        said = self.open("time", *SMALL)
        self.assertIn(f"{round(report['cycles'])} cycles", self.text("#verdict"))
        for line in said.strip().splitlines()[1:]:  # behind the head
            self.assertIn(line.strip(), self.text("#said"))
        bars = self.js("return document.querySelector('#time svg').getAttribute('aria-label')")
        for role in report["roles"]:
            own = bars.partition(f"; {role['role']}, {role['warps']} warps; ")[2]
            own = re.split(r"; \w+, \d+ warps; |; tensor core", own)[0]
            shares = {name: float(share) for name, share in
                      re.findall(r"waits for ([^;]+): ([\d.]+) %", own)}
            for wait in role["waits"]:
                wanted = 100 * wait["cycles"] / role["cycles"]
                name = wait["for"].removeprefix("mbarrier ")
                self.assertAlmostEqual(shares[name], wanted, delta=2)
        for unit in report["units"]:
            share = re.search(rf"; {unit['unit']}; busy: ([\d.]+) %", bars)
            if share:
                self.assertAlmostEqual(float(share.group(1)), 100 * unit["busy"], delta=1)
        self.assertIn("tensor core; busy", bars)
        # The critical path is drawn by parts, and as a row of the timeline over the same time.
        path = self.js(
            """const run = page.runs[0], track = run.tracks.find((one) => one.kind === TRACK.path);
            return [run.begin[track.first], run.finish[track.first + track.count - 1],
                    page.timelines[0].rowOf.has(run.tracks.indexOf(track))];""")
        self.assertAlmostEqual(path[1] - path[0], report["critical_path"]["cycles"], delta=60)
        self.assertTrue(path[2])
        for part in report["critical_path"]["parts"][:3]:
            self.assertIn(part["what"], self.text("#path svg"))
        # Strips of stages.
        rings = self.js("""return page.timelines[0].rows.filter((row) => row.stage)
            .map((row) => row.stage.name);""")
        self.assertIn("input[3]", rings)

    def test_the_page_of_a_time_steps_through_what_it_found(self):
        self.open("time", *BROKEN, code=1)
        self.assertIn("DEADLOCK", self.text("#finding-0"))
        self.assertIn("lacks 128 arrivals of 128", self.text("#finding-0 .drawing svg"))
        self.click("#finding-0 button.back")
        step = self.js("return page.data.findings[0].steps.slice(-2)[0]")
        # It is at a cycle, and on the timeline there.
        self.assertEqual(self.js("return page.timelines[0].cursor"), step["number"])
        self.assertGreater(step["number"], 1000)
        self.assertTrue(self.js(
            """const run = page.runs[0];
            const track = run.tracks.findIndex((one) => one.label === arguments[0]);
            return [...run.what.keys()].some((i) => run.sliceTrack[i] === track &&
              Math.abs(run.begin[i] - arguments[1]) <= 1);""", step["agent"], step["number"]))

    def test_shows_who_arrived_before_where_nothing_is_declared(self):
        text = (ROOT / "tests/sim/ptx/machine/ring.ptx").read_text()
        arrive = "  mbarrier.arrive.shared::cta.b64 _, [%r8];\n"
        self.assertIn(arrive, text)
        kernel = self.folder / "stops.ptx"  # after two laps the consumer frees nothing
        kernel.write_text(
            text.replace(arrive, "  setp.lt.u32 %p7, %r4, 2;\n  @%p7" + arrive[1:]))
        self.open("check", "--ptx", kernel, RING[1], "--source-root", "/", code=1)
        drawing = self.text("#finding-0 .drawing svg")
        for words in ("loads", "warps", "arrived before", "lacks 32 arrivals of 32"):
            self.assertIn(words, drawing)
        self.assertEqual(
            self.js("return document.querySelectorAll('#finding-0 .edge.wrong').length"), 4)
        self.click("#finding-0 button.back")
        here = self.text("#finding-0 .source .here")
        self.assertIn(re.sub(r"^\d+", "", here), kernel.read_text())

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

    # --- No event is lost -------------------------------------------------------------------------

    def ops_of(self, trace):
        rows = map(json.loads, trace.read_text().splitlines())
        return collections.Counter(row["op"] for row in rows if "op" in row)

    def check_every_operation(self, ops, run=0):
        """Everything in the trace is on the page, and the page says how many there are."""
        drawn = self.drawn(run)
        of_warps = collections.Counter()
        for (kind, name), count in drawn.items():
            if kind < 2:
                of_warps[name] += count
        self.assertGreater(sum(ops.values()), 30)
        self.assertEqual({name: of_warps[name] for name in ops}, dict(ops))
        sums = [sum(count for (kind, _), count in drawn.items() if kind == wanted)
                for wanted in range(4)]
        said = "{} operations, {} waits, {} asynchronous operations, {} phases".format(*sums)
        self.assertIn(said, self.text("#said"))

    def test_every_operation_of_a_functional_run_is_on_the_page(self):
        trace = self.folder / "run.trace"
        call("trace", *SMALL, "--to", trace)
        self.open("run", *SMALL)
        self.check_every_operation(self.ops_of(trace))
        self.assertRegex(self.text("#said"), r"not drawn: \d+ operations of lanes")

    def test_every_operation_of_a_timed_run_is_on_the_page(self):
        trace = self.folder / "timed.trace"
        call("trace", *SMALL, "--on", "timed", "--to", trace)
        self.open("time", *SMALL)
        self.check_every_operation(self.ops_of(trace))

    def test_every_operation_of_a_trace_file_is_on_the_page(self):
        traces = [self.folder / name for name in ("a.trace", "b.trace")]
        for trace, engine in zip(traces, ("functional", "timed")):
            call("trace", *SMALL, "--on", engine, "--to", trace)
        self.open("compare", *traces)
        for run, trace in enumerate(traces):
            self.check_every_operation(self.ops_of(trace), run)

    def test_every_operation_of_a_ptx_launch_is_on_the_page(self):
        trace = self.folder / "ptx.trace"
        call("trace", *RING, "--to", trace)
        self.open("run", *RING)
        self.check_every_operation(self.ops_of(trace))

    def test_says_what_a_window_leaves_out(self):
        self.open("time", *SMALL)
        whole = sum(count for (kind, _), count in self.drawn().items() if kind == 0)
        self.open("time", *SMALL, "--window", "0:2000", "--ctas", "1")
        part = sum(count for (kind, _), count in self.drawn().items() if kind == 0)
        self.assertIn(f"outside the window: {whole - part} of {whole} operations",
                      self.text("#said"))

    def test_slices_of_a_track_are_drawn_or_counted_at_any_zoom(self):
        self.open("time", *SMALL)
        self.js("page.timelines[0].all(); page.timelines[0].draw()")
        self.assertGreater(self.js("return page.timelines[0].drawn"), 20)
        track = "page.runs[0].tracks.find((one) => one.role === 'mma')"
        sums = self.js(
            f"""const run = page.runs[0], track = {track}, last = track.first + track.count;
            return [run.busySum[last] - run.busySum[track.first],
                    run.waitSum[last] - run.waitSum[track.first],
                    run.finish[last - 1] - run.begin[track.first]];""")
        self.assertLessEqual(sums[0] + sums[1], sums[2])
        self.assertGreater(min(sums), 0)

    # --- For every reader -------------------------------------------------------------------------

    SPAN = "const [a, b] = page.timelines[0].x.domain(); return b - a"

    def test_is_driven_by_keys_alone(self):
        keys = importlib.import_module("selenium.webdriver.common.keys").Keys
        self.open("check", *BROKEN, code=1)
        selected = "return page.timelines[0].selected"
        title = "return page.runs[0].titleOf(page.timelines[0].selected)"
        whole = self.js(self.SPAN)
        self.press("w")
        self.assertLess(self.js(self.SPAN), whole / 1.3)
        self.press("0")
        self.assertAlmostEqual(self.js(self.SPAN), whole, delta=whole / 1000)
        # From slice to slice, and from row to row.
        self.press(keys.ARROW_RIGHT)
        first = self.js(selected)
        self.press(keys.ARROW_RIGHT)
        self.assertEqual(self.js(selected), first + 1)
        row = "return page.runs[0].sliceTrack[page.timelines[0].selected]"
        before = self.js(row)
        self.press(keys.ARROW_DOWN)
        self.assertGreater(self.js(row), before)
        self.assertIn(self.js(title), self.text("#details"))
        # From a wait to what released it, and on to what that led to.
        self.js("""const run = page.runs[0];
            page.timelines[0].select([...run.what.keys()].find((i) =>
              run.titleOf(i) === 'wait accum.full[1]' && run.flowsTo(i).length));""")
        self.press("r")
        self.assertEqual(self.js(title), "tcgen05.commit")
        self.press("f")
        self.assertIn("accum.full[1]", self.js(title))
        # Through the steps of the counterexample, with the list in focus and without.
        rows = self.js("return page.data.findings[0].steps.length")
        self.press("j", "j")
        self.assertEqual(self.text("#finding-0 .count"), f"step {rows - 2} of {rows}")
        self.press("k")
        self.assertEqual(self.text("#finding-0 .count"), f"step {rows - 1} of {rows}")
        self.js("document.querySelector('#finding-0 ol').focus()")
        self.press(keys.HOME)
        self.assertEqual(self.text("#finding-0 .count"), f"step 1 of {rows}")
        self.press(keys.ARROW_DOWN)
        self.assertEqual(self.text("#finding-0 .count"), f"step 2 of {rows}")
        self.js("document.activeElement.blur()")
        self.press("?")
        self.assertTrue(self.js("return document.getElementById('help').open"))
        self.press(keys.ESCAPE)
        self.assertFalse(self.js("return document.getElementById('help').open"))
        # Tab alone comes to the timeline, and the focus is seen.
        seen = set()
        for _ in range(60):
            self.press(keys.TAB)
            seen.add(self.js("return document.activeElement.tagName"))
            if seen >= {"CANVAS", "SELECT", "BUTTON", "OL"}:
                break
        self.assertGreaterEqual(seen, {"CANVAS", "SELECT", "BUTTON", "OL"})
        self.assertEqual(self.js("return getComputedStyle(document.activeElement).outlineStyle"),
                         "solid")

    def pixel(self):
        """The colour of the timeline's empty ground."""
        return self.js("""const t = page.timelines[0];
            return [...t.context.getImageData(2, t.canvas.height - 3, 1, 1).data].slice(0, 3);""")

    def test_follows_the_dark_setting_and_the_button(self):
        self.open("prove", *SMALL)
        self.assertIn("proved", self.text("#verdict"))
        paper = "return getComputedStyle(document.body).backgroundColor"
        light = self.js(paper)
        self.assertGreater(min(self.pixel()), 200)
        self.media(color_scheme="dark")
        self.assertNotEqual(self.js(paper), light)
        self.assertLess(max(self.pixel()), 60)
        self.click("#theme")
        self.assertEqual(self.js(paper), light)
        self.assertGreater(min(self.pixel()), 200)
        self.press("t")
        self.assertLess(max(self.pixel()), 60)

    def test_is_read_in_print(self):
        self.open("check", *BROKEN, code=1)
        self.media(color_scheme="dark")
        self.click("#finding-0 button.first")
        self.media("print", color_scheme="dark")
        shown = """const style = getComputedStyle(document.querySelector(arguments[0]));
            return style.display !== 'none' && style.visibility === 'visible';"""
        for selector, wanted in {"#verdict": True, ".answer": True, "#pipeline svg": True,
                                 "canvas": True, "#finding-0 ol": True, "nav": False,
                                 ".bar": False}.items():
            self.assertEqual(self.js(shown, selector), wanted, selector)
        # Every step is on the paper, with its line, and no box is cut.
        self.assertEqual(self.js("""return [...document.querySelectorAll('.steps ol, .answer')]
            .filter((box) => box.scrollHeight > box.clientHeight + 2).length"""), 0)
        self.assertIn(".hpp:", self.text("#finding-0 li .where"))
        self.assertTrue(self.js(shown, "#finding-0 li .where"))
        self.assertTrue(self.js("const t = page.timelines[0]; return t.height > t.tall"))
        # Dark on white, whatever is on the screen.
        self.assertGreater(min(self.pixel()), 200)
        self.assertEqual(self.js("return getComputedStyle(document.body).backgroundColor"),
                         "rgb(255, 255, 255)")
        colours = self.colours()
        self.assertGreater(colour_vision.contrast(colours["ink"], "#ffffff"), 7)
        self.assertTrue(self.driver.print_page().startswith("JVBER"))  # %PDF

    def test_is_told_apart_without_red_and_green(self):
        self.open("prove", *SMALL)
        for theme in ("light", "dark"):
            self.media(color_scheme=theme)
            colours = self.colours()
            hues = [colours[f"c{i}"] for i in range(8)]
            for vision in colour_vision.VISION:
                for one, other in itertools.combinations(hues, 2):
                    apart = colour_vision.distance(one, other, vision)
                    self.assertGreater(apart, 12, (theme, vision, one, other))
                for one, plain in itertools.product(hues, ("operation", "async")):
                    apart = colour_vision.distance(one, colours[plain], vision)
                    self.assertGreater(apart, 10, (theme, vision, one, plain))
                # A verdict has a sign and a word besides.
                apart = colour_vision.distance(colours["right"], colours["wrong"], vision)
                self.assertGreater(apart, 12, (theme, vision))
            for text in ("ink", "soft", "link", "right", "wrong", "open"):
                for ground in ("paper", "panel"):
                    self.assertGreaterEqual(
                        colour_vision.contrast(colours[text], colours[ground]), 4.5, (theme, text))
        self.assertRegex(self.text("#verdict"), "✓ proved")

    def test_waits_are_hatched(self):
        self.open("time", *SMALL)
        colours = self.js(
            """const t = page.timelines[0], run = t.run;
            const wait = [...run.what.keys()].filter((i) => run.kindOf(i).kind === KIND.wait)
              .sort((a, b) => run.finish[b] - run.begin[b] - run.finish[a] + run.begin[a])[0];
            t.select(wait);
            t.select(-1);
            t.draw();
            const row = t.rowOf.get(run.sliceTrack[wait]);
            const y = row.y - t.scroll + AXIS + row.height - 6;
            const to = Math.min(t.x(run.finish[wait]), t.width);
            const data = t.context.getImageData(to - 45, y, 40, 1).data, seen = new Set();
            for (let i = 0; i < data.length; i += 4) {
              seen.add(data.slice(i, i + 3).join());
            }
            return seen.size;""")
        self.assertGreater(colours, 2)

    def test_has_names_for_a_screen_reader(self):
        self.open("check", *BROKEN, code=1)
        self.cdp("Accessibility.enable")
        nodes = [node for node in self.cdp("Accessibility.getFullAXTree")["nodes"]
                 if not node["ignored"]]
        names = collections.defaultdict(list)
        for node in nodes:
            names[node["role"]["value"]].append(node.get("name", {}).get("value", ""))
        for role in ("button", "combobox", "image", "application", "heading", "list", "region",
                     "navigation", "complementary"):
            found = names[role] or names[{"image": "img"}.get(role, role)]
            self.assertTrue(found, role)
            self.assertTrue(all(found), (role, found))
        said = " ".join(names["image"] + names["img"])
        # What a drawing shows is said.
        for fact in ("mma tcgen05.commit x1 input.empty", "epilogue none of x128 accum.empty",
                     "mma waits for accum.empty[0] of cta 0", "owed by epilogue", "works: "):
            self.assertIn(fact, said)
        self.assertRegex(names["application"][0], r"\d+ operations, \d+ waits")
        self.assertIn("banner", names)
        self.assertIn("main", names)
        # What is selected, and the step, are announced.
        live = "return document.getElementById('details').getAttribute('aria-live')"
        self.assertEqual(self.js(live), "polite")
        self.assertIn("status", names)

    # --- Comparisons ------------------------------------------------------------------------------

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
        tops = self.js("return page.timelines.map((one) => one.canvas.getBoundingClientRect().top)")
        self.assertLess(*tops)
        self.assertIn("differ", self.text("#verdict"))
        self.assertIn("operation", self.text("#differences"))
        # The first difference is marked in both, and selected: one wait, for two barriers.
        marks = self.js(
            "return page.runs.map((run) => run.marks.map((mark) => [mark.name, mark.time]))")
        self.assertEqual(marks, [[["first difference", row["time"]]]] * 2)
        for _ in range(2):
            titles = self.js("return page.timelines.map((one) => one.run.titleOf(one.selected))")
            self.assertEqual(titles[1], "wait " + row["at"])
            self.assertRegex(titles[0], "wait accum|wait input")
            self.assertNotEqual(*titles)
            self.assertTrue(self.js("""return page.timelines.every((one) => {
                const row = one.rowOf.get(one.run.sliceTrack[one.selected]);
                return row.y >= one.scroll && row.y + row.height <= one.scroll + one.height;
              })"""))
            self.js("page.timelines.forEach((one) => { one.select(-1); one.scroll = 0; })")
            self.click("#to-difference")
        # A zoom of the one is a zoom of the other.
        self.js("page.timelines[0].zoomBy(3)")
        spans = self.js("return page.timelines.map((one) => one.x.domain())")
        self.assertEqual(*spans)
        self.assertEqual(self.js("return document.querySelectorAll('#time svg').length"), 2)

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
            if name in ("timeline", "stages"):
                self.assertIn("cta 0 alone: 1 more CTA not drawn", path.read_text())
            call("time", *SMALL, "--picture", f"{name}={path.with_suffix('.png')}")
            self.assertTrue(path.with_suffix(".png").read_bytes().startswith(b"\x89PNG"))
        path = self.folder / "waits.svg"
        for command in ("run", "check", "prove"):
            path.unlink(missing_ok=True)
            call(command, *BROKEN, "--picture", f"waits={path}", code=1)
            self.assertIn("waits for", path.read_text())
        self.assertIn("phase 0 lacks 128 arrivals of 128", path.read_text())
        said = call("run", *SMALL, "--picture", f"waits={path}", code=2).stderr
        self.assertIn("nothing for the picture 'waits'", said)
        said = call("time", *SMALL, "--picture", "x=a.svg", code=2).stderr
        self.assertIn("timeline, pipeline", said)


if __name__ == "__main__":
    if browser.missing():
        print("skipped: " + browser.missing())
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
