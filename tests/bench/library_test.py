"""`--before` loads the library of another build into the process that uses this build's."""

import re
import unittest
from pathlib import Path

import paths  # noqa: F401
from peer_comparison.library import Library, find


def loaded():
    """The different files of libtmajit.so in this process: (device, inode)."""
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return {tuple(line.split()[3:5]) for line in lines if re.search(r"libtmajit\.so", line)}


class OtherBuild(unittest.TestCase):
    def test_another_build_uses_its_own_libtmajit(self):
        own = Library(find())
        before = loaded()
        other = Library.of_other_build(find())
        self.assertEqual(len(loaded() - before), 1)
        self.assertEqual(own.cases(1, tiny=True), other.cases(1, tiny=True))


if __name__ == "__main__":
    unittest.main()
