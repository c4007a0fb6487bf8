#!/usr/bin/env python3
"""How large the page of a long run is, and how fast a browser opens it and answers a zoom.

  page_speed.py WARPTWIN [--events N] [--folder DIR]

The run is a GEMM of as many tiles as give N slices on the timeline. Times are of headless Chromium
on this machine, which draws without a GPU: the middle of several. Fails where a page misses what it
is to hold: 20 MB, 3 s, and 100 ms for the slowest zoom.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/sim/pictures"))
import browser  # noqa: E402

ZOOM = """const done = arguments[0];
const timeline = page.timelines[0];
const times = [];
const [low, high] = timeline.base.domain();
const next = () => {
  if (times.length === 40) {
    done(times);
    return;
  }
  const share = Math.pow(0.75, times.length % 20);
  const middle = low + (high - low) * (0.2 + 0.6 * ((times.length * 7) % 20) / 20);
  const begin = performance.now();
  timeline.show(middle - share * (high - low) / 2, middle + share * (high - low) / 2);
  timeline.draw();
  timeline.context.getImageData(0, 0, 1, 1);
  times.push(performance.now() - begin);
  setTimeout(next, 0);
};
next();"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warptwin")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--folder")
    options = parser.parse_args()
    if browser.missing():
        sys.exit(browser.missing())
    with tempfile.TemporaryDirectory() as temporary:
        page = pathlib.Path(options.folder or temporary).resolve() / "long.html"
        side = 5632
        while True:
            extents = {"m": side, "n": side, "k": 1024}
            sizes = [f"--set={name}={size}" for name, size in extents.items()]
            subprocess.run(
                [options.warptwin, "time", "gemm", *sizes, "--no-check", "--html", str(page)],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            with browser.opened() as driver:
                opens = [browser.load(driver, page) for _ in range(3)]
                events = driver.execute_script("return page.runs[0].what.length")
                if events < options.events:
                    side += 1024
                    continue
                zooms = driver.execute_async_script(ZOOM)
            break
        size = page.stat().st_size / 1e6
        opening = statistics.median(opens) / 1000
        print(f"{events} events, {size:.1f} MB")
        print(f"opens in {opening:.2f} s")
        print(f"a zoom: {statistics.median(zooms):.0f} ms, the slowest {max(zooms):.0f} ms")
        if size >= 20 or opening >= 3 or max(zooms) >= 100:
            sys.exit("page_speed: that is too much")


if __name__ == "__main__":
    main()
