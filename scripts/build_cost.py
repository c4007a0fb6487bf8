#!/usr/bin/env python3
"""What a build costs in CPU seconds: from nothing, without ccache, and which object costs most.

  build_cost.py [--preset NAME] [--target NAME] [--define NAME=VALUE]... [--jobs N] [--rows N]
                [--most SECONDS]

Configures the preset in a new folder and builds the target there: by default `command` and
`warptwin`, what scripts/quickstart builds. A second is one of user or system time, of cmake, ninja
and every process below them. The tables are Markdown, on standard output: each CMake target, and
the dearest objects with the memory their compiler took. The measurement itself adds some 0.02 s an
object. Exit code 1 when the sum is above --most or the build fails, 2 for a wrong use.
"""

import collections
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The word that says this process stands before a compiler. Such a process starts for each object.
LAUNCH = "--launch"


def launch(log, command):
    """Runs a compiler; adds 'seconds KiB object' to the log. Returns the compiler's exit code."""
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    if "-o" in command:
        seconds = usage.ru_utime + usage.ru_stime
        line = f"{seconds:.3f} {usage.ru_maxrss} {command[command.index('-o') + 1]}\n"
        # One write of a short line: appended whole, whoever else writes.
        file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line.encode())
        os.close(file)
    return os.waitstatus_to_exitcode(status)


def cpu_seconds(command, environment):
    """User and system seconds of a command and all it starts. Raises CalledProcessError."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=sys.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(options, folder):
    """(seconds of the configuration, seconds of the build, [(seconds, KiB, object)])."""
    log = folder / "objects.log"
    script = str(pathlib.Path(__file__).resolve())
    launcher = [sys.executable, "-I", "-S", script, LAUNCH, str(log)]
    environment = dict(os.environ, CCACHE_DISABLE="1")
    build = str(folder / "build")
    defines = [f"-D{define}" for define in options.define]
    configure = ["cmake", "--preset", options.preset, "-B", build, *defines]
    configured = cpu_seconds(
        [
            *configure,
            f"-DCMAKE_CXX_COMPILER_LAUNCHER={';'.join(launcher)}",
            f"-DCMAKE_CUDA_COMPILER_LAUNCHER={';'.join(launcher)}",
        ],
        environment,
    )
    targets = ["--target", options.target] if options.target else []
    built = cpu_seconds(["cmake", "--build", build, "-j", str(options.jobs), *targets], environment)
    lines = log.read_text().splitlines() if log.exists() else []
    fields = [line.split(" ", 2) for line in lines]
    return configured, built, [(float(s), int(kib), name) for s, kib, name in fields]


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def report(configured, built, objects, rows):
    """Prints the tables; returns the sum of all seconds."""
    targets = collections.defaultdict(list)
    for seconds, _, name in objects:
        parts = pathlib.PurePath(name).parts
        folder = next((part for part in parts if part.endswith(".dir")), "other.dir")
        targets[folder.removesuffix(".dir")].append(seconds)
    sums = sorted(((sum(each), len(each), name) for name, each in targets.items()), reverse=True)
    compiled = sum(seconds for seconds, _, _ in objects)
    table = [[name, str(count), f"{seconds:.1f}"] for seconds, count, name in sums]
    table.append(["configuration", "", f"{configured:.1f}"])
    table.append(["archives, links, the rest", "", f"{built - compiled:.1f}"])
    table.append(["sum", str(len(objects)), f"{configured + built:.1f}"])
    print_table(["target", "objects", "CPU s"], table)
    dearest = sorted(objects, reverse=True)[:rows]
    print_table(
        ["object", "CPU s", "MiB"],
        [[name, f"{seconds:.1f}", str(kib // 1024)] for seconds, kib, name in dearest],
    )
    return configured + built


def main():
    # Not at the top: a process that stands before a compiler has no use for it, and there are many.
    import argparse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="command")
    parser.add_argument("--target", default="warptwin", help="'' for the default target")
    parser.add_argument("--define", action="append", default=[], help="of CMake, NAME=VALUE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--rows", type=int, default=25)
    parser.add_argument("--most", type=float)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="warptwin-build-cost-") as folder:
        try:
            total = report(*measure(options, pathlib.Path(folder)), options.rows)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"build_cost.py: nothing measured: {error}", file=sys.stderr)
            return 1
    if options.most is not None and total > options.most:
        print(f"build_cost.py: {total:.1f} CPU seconds, and {options.most:g} is the most that "
              "--most allows", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == [LAUNCH]:
        sys.exit(launch(sys.argv[2], sys.argv[3:]))
    sys.exit(main())
