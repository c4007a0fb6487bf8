#!/usr/bin/env python3
"""The files that warptwin writes for other programs, as those read them.

  reports_test.py WARPTWIN ROOT

JUnit's XML is read by a parser that refuses what is not well formed. What SARIF 2.1.0 demands of
the properties that warptwin writes stands in `tests/schemas/sarif_part.json`; what a schema cannot
say stands in `check_log`. What JUnit's readers take stands in `tests/schemas/junit_part.xsd`. What
a finding of --json has stands in `docs/schemas/finding.schema.json`.
Without Debian's python3-jsonschema and python3-xmlschema the schemas are left out, with a word.

Where WARPTWIN_SCHEMAS names a folder, the files are held to the published schemas in it as well:
sarif-schema-2.1.0.json of OASIS, and junit-10.xsd of Jenkins's xunit plug-in. Both are other
people's work, and are not in this tree; scripts/fetch-schemas gets them.
"""

import copy
import functools
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

WARPTWIN, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
WRONG = ROOT / "tests/programs/row04_wrong.txt"
RIGHT = ROOT / "tests/programs/row04_right.txt"
# A name of a file with all that XML, SARIF's URIs and workflow commands escape.
ODD = "a&b <c> \"d\" 'e' ]]> %41,f:g \u00e9.txt"


@functools.cache
def module(name):
    """A module that a machine may lack; None, and a word, where it does."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"no module {name} in {sys.executable}: its schema is left out", file=sys.stderr)
        return None


@functools.cache
def sarif_schema():
    """What validates a log; None without its module."""
    if module("jsonschema") is None:
        return None
    schema = json.loads((ROOT / "tests/schemas/sarif_part.json").read_text(encoding="utf-8"))
    module("jsonschema").Draft202012Validator.check_schema(schema)
    return module("jsonschema").Draft202012Validator(schema)


@functools.cache
def finding_schema():
    """What validates a finding of --json; None without its module."""
    if module("jsonschema") is None:
        return None
    file = ROOT / "docs/schemas/finding.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    module("jsonschema").Draft202012Validator.check_schema(schema)
    return module("jsonschema").Draft202012Validator(schema)


@functools.cache
def junit_schema():
    if module("xmlschema") is None:
        return None
    return module("xmlschema").XMLSchema(str(ROOT / "tests/schemas/junit_part.xsd"))


@functools.cache
def published(name):
    """The published schema of a file's kind, ready to validate; None where there is none."""
    folder = os.environ.get("WARPTWIN_SCHEMAS")
    if not folder:
        return None
    file = pathlib.Path(folder, name)
    if name.endswith(".xsd"):
        return module("xmlschema").XMLSchema(str(file))
    schema = json.loads(file.read_text(encoding="utf-8"))
    return module("jsonschema").validators.validator_for(schema)(schema)


class ReportsTest(unittest.TestCase):
    rules = None  # of the last log

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.work = pathlib.Path(self.folder.name)

    def reports_of(self, *arguments, code):
        """(JUnit's root, the log of SARIF, annotations) of a command."""
        result = subprocess.run(
            [WARPTWIN, *arguments, "--junit", "a.xml", "--sarif", "a.sarif", "--annotations"],
            cwd=self.work,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, code, result.stderr)
        suites = xml.etree.ElementTree.parse(self.work / "a.xml").getroot()
        log = json.loads((self.work / "a.sarif").read_text(encoding="utf-8"))
        if junit_schema():
            junit_schema().validate(str(self.work / "a.xml"))
        if published("junit-10.xsd"):
            published("junit-10.xsd").validate(str(self.work / "a.xml"))
        if sarif_schema():
            self.validate(log)
        self.check_suites(suites)
        self.check_log(log, code)
        return suites, log, result.stderr

    def validate(self, log):
        """The rules are the same in all logs, and most of a small one: they are validated once."""
        rules = log["runs"][0]["tool"]["driver"]["rules"]
        known = ReportsTest.rules == rules
        ReportsTest.rules = rules
        small = copy.deepcopy(log)
        if known:
            del small["runs"][0]["tool"]["driver"]["rules"][1:]
        sarif_schema().validate(small)
        if published("sarif-schema-2.1.0.json"):
            published("sarif-schema-2.1.0.json").validate(small)

    def check_suites(self, suites):
        self.assertEqual(suites.tag, "testsuites")
        for suite in suites:
            self.assertEqual(suite.tag, "testsuite")
            self.assertTrue(suite.get("name"))
            for tag, count in [("failure", "failures"), ("error", "errors")]:
                self.assertEqual(int(suite.get(count)), len(suite.findall(f"testcase/{tag}")))
            self.assertEqual(int(suite.get("tests")), len(suite.findall("testcase")))
            for case in suite:
                self.assertTrue(case.get("name") and case.get("classname"))
                self.assertLessEqual({one.tag for one in case}, {"failure", "error", "system-out"})

    def check_log(self, log, code):
        self.assertEqual(log["version"], "2.1.0")
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual(len({rule["id"] for rule in rules}), len(rules))
        self.assertIs(type(run["invocations"][0]["executionSuccessful"]), bool)
        self.assertEqual(run["invocations"][0]["exitCode"], code)
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            flows = [
                step["location"]
                for flow in result.get("codeFlows", [])
                for thread in flow["threadFlows"]
                for step in thread["locations"]
            ]
            for location in result.get("locations", []) + flows:
                place = location.get("physicalLocation")
                if place:
                    self.assertRegex(place["artifactLocation"]["uri"], r"^[\w/.~%:-]+$")
                    self.assertGreaterEqual(place["region"]["startLine"], 1)

    def test_a_wrong_program_fails_at_its_line(self):
        (self.work / "wrong.txt").write_bytes(WRONG.read_bytes())
        suites, log, said = self.reports_of("check", "--program", "wrong.txt", code=1)
        (failure,) = suites.findall("testsuite/testcase/failure")
        self.assertEqual(failure.get("type"), "MBAR_INVAL_IN_USE")
        result = log["runs"][0]["results"][0]
        place = result["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"]["uri"], "wrong.txt")
        line = place["region"]["startLine"]
        self.assertIn("mbarrier.inval", WRONG.read_text().split("\n")[line - 1])
        self.assertIn(f"::error file=wrong.txt,line={line},title=MBAR_INVAL_IN_USE", said)

    def test_a_right_program_is_a_case_without_content(self):
        suites, log, said = self.reports_of("check", "--program", str(RIGHT), code=0)
        self.assertEqual([list(case) for case in suites.iter("testcase")], [[]])
        self.assertEqual(log["runs"][0]["results"], [])
        self.assertEqual(said, "")

    def test_special_characters_come_back(self):
        (self.work / ODD).write_bytes(WRONG.read_bytes())
        suites, log, said = self.reports_of("prove", "--program", ODD, code=1)
        self.assertIn(ODD, suites.find("testsuite/testcase/failure").text)
        place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"]["uri"].count("%2541"), 1)
        self.assertIn("%2541%2Cf%3Ag", said)

    def test_a_fingerprint_stays_when_lines_move(self):
        def prints(text):
            (self.work / "wrong.txt").write_text(text, encoding="utf-8")
            _, log, _ = self.reports_of("check", "--program", "wrong.txt", code=1)
            results = log["runs"][0]["results"]
            lines = [one["locations"][0]["physicalLocation"]["region"] for one in results]
            return [one["partialFingerprints"] for one in results], lines

        text = WRONG.read_text(encoding="utf-8")
        first, lines = prints(text)
        moved, moved_lines = prints("// one\n// two\n" + text)
        self.assertEqual(first, moved)
        self.assertNotEqual(lines, moved_lines)

    def test_a_usage_error_is_in_the_reports(self):
        suites, log, said = self.reports_of("check", "no_such_scenario", code=2)
        self.assertEqual(suites.find("testsuite/testcase/error").get("type"), "usage")
        self.assertFalse(log["runs"][0]["invocations"][0]["executionSuccessful"])
        self.assertIn("::error title=warptwin check::there is no scenario", said)

    def test_the_same_command_writes_the_same_bytes(self):
        def files():
            self.reports_of("check", "consumer_releases_twice", code=1)
            return [(self.work / name).read_bytes() for name in ("a.xml", "a.sarif")]

        self.assertEqual(files(), files())

    def test_every_kind_of_result_keeps_the_schemas(self):
        kinds = []

        def told(*arguments, code=0):
            _, log, _ = self.reports_of(*arguments, code=code)
            for one in log["runs"][0]["results"]:
                known = [row["kind"] for row in one.get("suppressions", [])]
                kinds.append((one["kind"], one.get("baselineState"), *known))
            return log["runs"][0]["invocations"][0]

        (self.work / "known.txt").write_text("gemm_tmem_leak * TMEM_LEAK why\n", encoding="utf-8")
        told("prove", "gemm_tmem_leak", "--suppress", "known.txt")
        program = ["check", "--program", str(WRONG)]
        told(*program, "--write-baseline", "known.json")
        told(*program, "--baseline", "known.json")
        baseline = json.loads((self.work / "known.json").read_text(encoding="utf-8"))
        known = baseline["findings"][0]
        known["fingerprint"] = "0123456789abcdef"
        (self.work / "known.json").write_text(json.dumps(baseline), encoding="utf-8")
        told(*program, "--baseline", "known.json", code=1)
        known["scenario"] = "row04_right"
        (self.work / "known.json").write_text(json.dumps(baseline), encoding="utf-8")
        told("check", "--program", str(RIGHT), "--baseline", "known.json")
        told("prove", "gemm", "--max-steps", "100", code=5)
        told("explore", "unsynced_lanes", "--set", "tiles=4", code=1)
        self.assertLessEqual(
            {
                ("fail", None),
                ("fail", None, "external"),
                ("fail", "new"),
                ("fail", "unchanged", "external"),
                ("pass", "absent"),
                ("open", None),
            },
            set(kinds),
        )
        self.assertIn("toolConfigurationNotifications", told("check", "no_such", code=2))

    def test_the_schema_of_sarif_refuses_what_the_standard_does(self):
        if not sarif_schema():
            self.skipTest("no module jsonschema")
        (self.work / "wrong.txt").write_bytes(WRONG.read_bytes())
        _, log, _ = self.reports_of("check", "--program", "wrong.txt", code=1)
        del log["runs"][0]["tool"]["driver"]["rules"][1:]
        del log["runs"][0]["results"][1:]
        place = ("locations", 0, "physicalLocation")
        step = ("codeFlows", 0, "threadFlows", 0, "locations", 0)
        # (where in the first result, what stands there instead; None: nothing)
        changes = [
            (("message",), None),
            (("message", "text"), ""),
            (("level",), "fatal"),
            (("level",), "none"),
            (("kind",), "open"),
            (("locations",), []),
            (("fingerprint",), "of no such property"),
            ((*place, "region", "startLine"), 0),
            ((*place, "artifactLocation", "uri"), "a b"),
            ((*place, "artifactLocation", "uri"), "100%"),
            ((*place, "artifactLocation", "uriBaseId"), None),
            (("codeFlows", 0, "threadFlows"), []),
            ((*step, "executionOrder"), -1),
            ((*step, "location", "line"), 1),
            (("partialFingerprints",), {}),
            (("suppressions",), [{"kind": "external"}]),
        ]
        self.assertTrue(sarif_schema().is_valid(log))
        for where, value in changes:
            changed = copy.deepcopy(log)
            at = changed["runs"][0]["results"][0]
            for key in where[:-1]:
                at = at[key]
            if value is None:
                del at[where[-1]]
            else:
                at[where[-1]] = value
            with self.subTest(where=where, value=value):
                self.assertFalse(sarif_schema().is_valid(changed))

    def test_the_schema_of_junit_refuses_what_its_readers_do(self):
        if not junit_schema():
            self.skipTest("no module xmlschema")
        self.reports_of("check", "--program", str(WRONG), code=1)
        text = (self.work / "a.xml").read_text(encoding="utf-8")
        self.assertTrue(junit_schema().is_valid(text))
        for pattern, new in [
            (' classname="[^"]*"', ""),
            ('tests="1"', 'tests="one"'),
            (' type="MBAR_INVAL_IN_USE"', ""),
            ("(</?)failure", r"\1failed"),
            ("(</?)testsuite\\b", r"\1suite"),
            ("<testcase ", '<testcase time="0" '),
        ]:
            changed = re.sub(pattern, new, text)
            with self.subTest(pattern=pattern):
                self.assertNotEqual(changed, text)
                self.assertFalse(junit_schema().is_valid(changed))

    def test_nothing_names_a_time_or_an_address(self):
        self.reports_of("check", "consumer_releases_twice", code=1)
        for name in ("a.xml", "a.sarif"):
            text = (self.work / name).read_text(encoding="utf-8")
            self.assertIsNone(re.search(r"0x7f|\d\d:\d\d:\d\d", text))


class FindingsTest(unittest.TestCase):
    """What stands in a finding of --json as text and in parts is the same."""

    # Deadlocks, an order that is missing, too many registers, a wait for columns.
    SCENARIOS = [
        "consumer_releases_twice",
        "wrong_arrival_count",
        "gemm_wgmma_release_at_issue",
        "attention_registers_above_pool",
        "attention_idle_warps_return",
        "gemm_2sm_peer_frees_tmem",
    ]

    def findings_of(self, scenario):
        result = subprocess.run(
            [WARPTWIN, "prove", scenario, "--json"], capture_output=True, text=True, check=False
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        return json.loads(result.stdout)["findings"]

    def words_of_agent(self, agent):
        if agent is None:
            return ""
        several = len(agent["warps"]) > 1
        warps = ",".join(str(warp) for warp in agent["warps"])
        words = f"cta {agent['cta']} warp{'s' if several else ''} {warps}"
        if agent["role"] is None and not several:
            return words
        return f"{words} ({agent['role'] or 'none'})"

    def words_of_site(self, site):
        return "" if site is None else f"{site['file']}:{site['line']}"

    def lines_of(self, fact):
        """What the lines of a fact hold, one entry a line."""
        agent = self.words_of_agent(fact.get("agent"))
        if fact["fact"] == "said":
            yield [fact["text"]]
        elif fact["fact"] == "blocked":
            wait = fact["wait"]
            named = wait["object"]["name"] if "object" in wait else ""
            phase = f"phase {wait['phase']}" if "phase" in wait else ""
            yield [agent, named, phase, self.words_of_site(fact["site"])]
            for owed in fact["owed"]:
                by = owed["by"]
                yield [owed["role"], owed["arrival"], self.words_of_agent(by and by["agent"])]
            if fact["last"]:
                last = fact["last"]
                words = [f"phase {last['phase']}", f"step {last['step']}", last["operation"]]
                yield [self.words_of_agent(last["agent"]), self.words_of_site(last["site"]), *words]
        elif fact["fact"] in {"polls", "first", "second"}:
            yield [agent, fact["operation"], self.words_of_site(fact["site"])]
        elif fact["fact"] == "left_out":
            yield [str(fact["count"]), fact["what"]]
        elif fact["fact"] == "registers_held":
            yield [fact["role"], str(fact["registers"])]
        else:
            yield [str(fact["first_cta"]), str(fact["last_cta"]), str(fact["resident_ctas"])]

    def check_finding(self, finding):
        values = finding["values"]
        self.assertEqual(finding["agent"], self.words_of_agent(values["agent"]))
        self.assertEqual(finding["line"], self.words_of_site(values["site"]))
        if values["object"] is None:
            self.assertEqual(finding["object"], "")
        else:
            self.assertTrue(finding["object"].startswith(values["object"]["name"]))
        self.assertEqual(len(finding["others"]), len(values["others"]))
        lines = [words for fact in values["details"] for words in self.lines_of(fact)]
        self.assertEqual(len(finding["details"]), len(lines))
        for text, words in zip(finding["details"], lines):
            for word in words:
                self.assertIn(word, text)

    def test_parts_say_what_texts_say(self):
        facts = set()
        for scenario in self.SCENARIOS:
            findings = self.findings_of(scenario)
            self.assertTrue(findings)
            for finding in findings:
                with self.subTest(scenario=scenario, id=finding["id"]):
                    if finding_schema():
                        finding_schema().validate(finding)
                    self.check_finding(finding)
                    facts |= {fact["fact"] for fact in finding["values"]["details"]}
        self.assertLessEqual({"said", "blocked", "registers_held"}, facts)

    def test_the_schema_refuses_what_is_not_so(self):
        if not finding_schema():
            self.skipTest("no module jsonschema")
        findings = self.findings_of("consumer_releases_twice")
        (deadlock,) = [finding for finding in findings if finding["id"] == "DEADLOCK"]
        self.assertTrue(finding_schema().is_valid(deadlock))
        blocked = ("values", "details", 0)
        for where, value in [
            (("severity",), "dreadful"),
            (("values",), {}),
            (("values", "agent", "warps"), []),
            (("values", "object", "kind"), "barrier"),
            (("values", "site", "line"), 0),
            ((*blocked, "fact"), "blocks"),
            ((*blocked, "wait", "kind"), "lost"),
            ((*blocked, "wait", "parity"), 2),
            ((*blocked, "wait", "barrier", "missing_arrivals"), -1),
            ((*blocked, "owed", 0, "by", "agent", "cta"), "0"),
            ((*blocked, "last", "phase"), None),
        ]:
            changed = copy.deepcopy(deadlock)
            at = changed
            for key in where[:-1]:
                at = at[key]
            at[where[-1]] = value
            with self.subTest(where=where, value=value):
                self.assertFalse(finding_schema().is_valid(changed))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
