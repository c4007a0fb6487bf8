#!/usr/bin/env python3
"""Makes the images of docs/images: pages as a browser shows them, light and dark, and drawings.

page_images.py WARPTWIN [--folder DIR]
"""

import argparse
import base64
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/sim/pictures"))
import browser  # noqa: E402

TALLEST = 4000
BROKEN = ["check", "gemm_missing_accum_release"]


def with_another_wait(trace):
    """The text of a trace in which one wait is for another barrier."""
    rows = trace.splitlines()
    waits = [i for i, row in enumerate(rows) if '"mbarrier.wait"' in row]
    row = json.loads(rows[waits[len(waits) // 2]])
    row["at"] = "input.full[1]" if row["at"] != "input.full[1]" else "input.full[0]"
    rows[waits[len(waits) // 2]] = json.dumps(row)
    return "\n".join(rows) + "\n"


def shoot(driver, path, selector, kind):
    """What `selector` covers of the page, as PNG or WebP."""
    box = driver.execute_script(
        """const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.left + scrollX, box.top + scrollY, box.width, box.height];""",
        selector,
    )
    clip = dict(zip(("x", "y", "width", "height"), box, strict=True))
    clip["height"] = min(clip["height"], TALLEST)
    clip["scale"] = 1 if kind == "png" else 0.75
    quality = {} if kind == "png" else {"quality": 60}
    shot = driver.execute_cdp_cmd(
        "Page.captureScreenshot",
        {"format": kind, "captureBeyondViewport": True, "clip": clip, **quality},
    )
    path.write_bytes(base64.b64decode(shot["data"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warptwin", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "docs/images")
    options = parser.parse_args()
    if browser.missing():
        sys.exit(browser.missing())
    command, folder = str(options.warptwin.resolve()), options.folder.resolve()

    def call(*words, code=0):
        done = subprocess.run([command, *map(str, words)], cwd=ROOT, capture_output=True, text=True)
        if done.returncode != code:
            sys.exit(f"page_images: {words}: {done.stdout}{done.stderr}")

    small = ["gemm", "--set", "m=256", "--set", "n=128", "--set", "k=512"]
    call("time", *small, "--picture", f"timeline={folder / 'timeline.svg'}", "--ctas", 1)
    call("run", "gemm", "--picture", f"pipeline={folder / 'pipeline.svg'}")
    with tempfile.TemporaryDirectory() as temporary:
        traces = [pathlib.Path(temporary) / name for name in ("a.trace", "b.trace")]
        call("trace", *small, "--to", traces[0])
        traces[1].write_text(with_another_wait(traces[0].read_text()))
        pages = {
            "deadlock": ([*BROKEN, "--set", "m=256", "--set", "n=256", "--set", "k=256"], 1),
            "proved": (["prove", "gemm"], 0),
            "time": (["time", *small], 0),
            "comparison": (["compare", *traces], 1),
        }
        for name, (words, code) in pages.items():
            call(*words, "--html", f"{temporary}/{name}.html", code=code)
        for theme in ("light", "dark"):
            with browser.opened(width=1400, dark=theme == "dark") as driver:
                for name in pages:
                    browser.load(driver, f"{temporary}/{name}.html")
                    shoot(driver, folder / f"{name}-{theme}.webp", "body", "webp")
                    if (name, theme) == ("deadlock", "light"):
                        shoot(driver, folder / "page.png", "#finding-0", "png")


if __name__ == "__main__":
    main()
