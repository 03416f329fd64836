"""Edits find the entry that a row of the table names."""

import unittest

import edits

PTX = """
.visible .entry scale(.param .u64 x)
{
ret;
}
.visible .entry scale_rows(.param .u64 x)
{
mov.u32 %r1, 1;
}
.visible .entry _Z4copyILi8EEvPf(.param .u64 x)
{
ret;
}
"""


class Entries(unittest.TestCase):
    def test_a_name_does_not_match_longer_names(self):
        step = edits.parse("drop ret")
        self.assertNotIn("ret;", edits.edit_ptx(step, PTX, "scale").split(".entry")[1])
        self.assertRaises(edits.EditError, edits.edit_ptx, step, PTX, "scale_rows")
        self.assertFalse(edits.has_entry(PTX, "scal"))
        self.assertFalse(edits.has_entry(PTX.replace("scale(", "other("), "scale"))

    def test_a_function_name_matches_its_mangled_name(self):
        self.assertTrue(edits.has_entry(PTX, "copy"))
        self.assertFalse(edits.has_entry(PTX, "cop"))
        self.assertTrue(edits.has_entry(PTX, "_Z4copyILi8EEvPf"))


if __name__ == "__main__":
    unittest.main()
