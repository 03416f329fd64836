#!/usr/bin/env python3
"""Tests of abi.py: lost lines, grown structs and additions are distinguished; constants and members are parsed."""

import unittest

import abi


class Changes(unittest.TestCase):
    before = ["struct tmajit_a: 16 bytes", "member tmajit_a.size: size_t size, at 0, 8 bytes", "constant TMAJIT_B: 1"]

    def test_nothing_changes(self):
        self.assertEqual(abi.changes(self.before, list(self.before)), ([], []))

    def test_a_struct_may_grow(self):
        now = ["struct tmajit_a: 24 bytes", *self.before[1:]]
        self.assertEqual(abi.changes(self.before, now), ([], now[:1]))

    def test_a_struct_may_not_shrink(self):
        lost, _ = abi.changes(self.before, ["struct tmajit_a: 8 bytes", *self.before[1:]])
        self.assertEqual(lost, self.before[:1])

    def test_a_struct_may_not_vanish(self):
        self.assertEqual(abi.changes(self.before, self.before[1:])[0], self.before[:1])

    def test_members_and_constants_may_not_change(self):
        now = [self.before[0], "member tmajit_a.size: size_t size, at 8, 8 bytes", "constant TMAJIT_B: 2"]
        lost, new = abi.changes(self.before, now)
        self.assertEqual((lost, new), (self.before[1:], now[1:]))


class Constants(unittest.TestCase):
    def test_enumerators_and_numbers(self):
        text = "#define TMAJIT_H\n#define TMAJIT_API __attribute__\n#define TMAJIT_MAX_RANK 8\nenum {\n  TMAJIT_A = 1,\n  TMAJIT_B = 2\n};"
        self.assertEqual(abi.constants(text), ["TMAJIT_A", "TMAJIT_B", "TMAJIT_MAX_RANK"])


class Members(unittest.TestCase):
    def test_forms(self):
        body = "size_t size; const char* const* texts; int64_t extents[TMAJIT_MAX_RANK];\n void (*print)(void* context,\n const char* text);"
        self.assertEqual([name for _, name in abi.members(body)], ["size", "texts", "extents", "print"])
        self.assertEqual(abi.members(body)[3][0], "void (*print)(void* context, const char* text)")


if __name__ == "__main__":
    unittest.main()
