"""One sweep by four processes of mpirun: the table of one, also where one of the four is killed.

usage: mpi_test.py WARPTWIN WARPTWIN_MPI MPIRUN
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WARPTWIN, WARPTWIN_MPI, MPIRUN = sys.argv[1:4]
SWEEP = ["sweep", "gemm", "--set", "stages=2..5", "--set", "tile_n=32..256:16", "--set", "k=4096"]
LIMIT = 240  # seconds


def process_of(rank, parent):
    """The process of a rank among the children of mpirun; None until it is there."""
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            child_of = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            name = os.path.basename(os.readlink(folder / "exe"))
            own = (folder / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            continue
        is_ours = child_of == parent and name == "warptwin-mpi"
        if is_ours and b"OMPI_COMM_WORLD_RANK=%d" % rank in own:
            return int(folder.name)
    return None


class MpiTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        alone = self.folder / "alone.csv"
        subprocess.run(
            [WARPTWIN, *SWEEP, "--table", alone], check=True, capture_output=True, timeout=LIMIT
        )
        self.alone = alone.read_bytes()

    def start(self, *options):
        environment = os.environ | {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        return subprocess.Popen(
            [MPIRUN, "--oversubscribe", *options, "-n", "4", WARPTWIN, *SWEEP, "--table",
             self.folder / "four.csv"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def test_four_make_the_table_of_one(self):
        job = self.start()
        out, err = job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 0, err)
        self.assertEqual(out.count("the best 10 by us"), 1)
        self.assertEqual((self.folder / "four.csv").read_bytes(), self.alone)

    def test_one_that_is_killed_costs_no_row(self):
        job = self.start("--enable-recovery")
        journal = self.folder / "four.csv.part"
        end = time.monotonic() + LIMIT
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 2):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)
        os.kill(process_of(2, job.pid), signal.SIGKILL)
        _, err = job.communicate(timeout=LIMIT)
        self.assertIn("rank 2 of 4 has died", err)
        self.assertEqual((self.folder / "four.csv").read_bytes(), self.alone)

    def test_without_the_program_beside_it_says_what_is_missing(self):
        lone = self.folder / "warptwin"
        lone.write_bytes(pathlib.Path(WARPTWIN).read_bytes())
        lone.chmod(0o755)
        done = subprocess.run(
            [lone, *SWEEP], env=os.environ | {"OMPI_COMM_WORLD_SIZE": "4"},
            capture_output=True, text=True, check=False, timeout=LIMIT,
        )  # fmt: skip
        self.assertEqual(done.returncode, 2)
        self.assertIn("libopenmpi-dev", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
