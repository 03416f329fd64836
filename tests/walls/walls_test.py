#!/usr/bin/env python3
"""Tests walls.py, which compares the #include lines of a repository with the table of rooms in its
architecture document. A room is a folder of sources. The table says which folders it may include, and a
breach is a violation of the table. Most tests change a small correct repository so that it has one breach.
"""

import pathlib
import tempfile
import unittest

import walls

# The table of rooms, and a second table of the folders of the room src/sim. There, a name without a slash
# means a folder of src/sim, and the last column is for .cpp files only.
TABLE = """
| folder | holds | may include |
| --- | --- | --- |
| `include/tmajit/` | the public API | – |
| `src/spec/` | facts | `include/tmajit` |
| `src/kernel/` | plans | `include/tmajit`, `src/spec` |
| `src/families/` | families | `include/tmajit`, `src/spec`, `src/kernel` |
| `src/sim/` | a device | `include/tmajit`, `src/spec` |
| `templates/ptx/` | instructions | – |
| `templates/device/` | shared by families | `templates/ptx` |

| folder of src/sim | holds | headers may include | sources may include, too |
| --- | --- | --- | --- |
| `src/sim/warp/` | warps | `src/spec` | `cta` |
| `src/sim/cta/` | CTAs | `warp` | `include/tmajit` |
"""

# The file src/CMakeLists.txt. It declares the rooms to the build. It must allow the same includes as TABLE.
BUILD = """
tmajit_add_room(spec IN tmajit)
tmajit_add_room(kernel IN tmajit MAY_INCLUDE spec USES tmajit::spdlog)
tmajit_add_room(families IN tmajit MAY_INCLUDE spec kernel)
tmajit_add_room(sim IN tmajit_sim MAY_INCLUDE
  spec EXACT)
"""

# A repository without breaches: the text of each file by its path.
FILES = {
    "src/CMakeLists.txt": BUILD,
    "include/tmajit/plan.hpp": "#include <vector>\n",
    "src/spec/view.hpp": "#include <tmajit/plan.hpp>\n",
    "src/kernel/plan.cpp": '#include "spec/view.hpp"\n',
    "src/families/shared/tile.hpp": "",
    "src/families/rows/rows.hpp": '#include "families/shared/tile.hpp"\n',
    "src/families/map/map.cpp": "",
    "src/sim/warp/warp.hpp": '#include "spec/view.hpp"\n',
    "src/sim/warp/warp.cpp": '#include "sim/cta/cta.hpp"\n',
    "src/sim/cta/cta.hpp": '#include "sim/warp/warp.hpp"\n',
    "src/sim/cta/cta.cpp": "#include <tmajit/plan.hpp>\n",
    "templates/ptx/fence.cuh": "",
    "templates/device/ring.cuh": '#include "tmajit/fence.cuh"\n',
    "tests/reference/values.hpp": "",
}


def breaches(changes: dict[str, str]) -> list[str]:
    """The breaches in the repository after `changes`, which holds the new text of changed and added files."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**FILES, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return list(walls.Tree(root, walls.rooms_of(TABLE)).breaches())


class Walls(unittest.TestCase):
    def expect_only(self, changes: dict[str, str], message: str):
        """Fails unless `changes` make exactly one breach, whose text contains `message`."""
        found = breaches(changes)
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_correct_repository_has_no_breach(self):
        self.assertEqual(breaches({}), [])

    def test_finds_an_include_that_the_table_does_not_allow(self):
        self.expect_only({"src/spec/view.hpp": '\n#include "kernel/plan.hpp"\n', "src/kernel/plan.hpp": ""},
                         "src/spec/view.hpp:2: src/spec includes kernel/plan.hpp of src/kernel; "
                         "it may include include/tmajit")

    def test_finds_a_public_header_that_includes_a_private_one(self):
        self.expect_only({"include/tmajit/plan.hpp": '#include "spec/view.hpp"\n'}, "it may include no other")

    def test_finds_a_family_that_includes_another_family(self):
        self.expect_only({"src/families/map/map.cpp": '#include "families/rows/rows.hpp"\n'},
                         "the family map includes the family rows")

    def test_finds_an_include_of_a_template_that_the_table_does_not_allow(self):
        self.expect_only({"templates/ptx/fence.cuh": '#include "tmajit/ring.cuh"\n'}, "templates/device")

    def test_finds_an_include_of_a_missing_file(self):
        self.expect_only({"src/kernel/plan.cpp": '#include "spec/gone.hpp"\n'},
                         "spec/gone.hpp is no file of this repository")

    def test_finds_library_code_that_includes_a_file_of_tests(self):
        self.expect_only({"src/kernel/plan.cpp": '#include "reference/values.hpp"\n'}, "of tests/reference")

    def test_finds_a_build_file_outside_tests_that_compiles_a_file_of_tests(self):
        self.expect_only({"tools/CMakeLists.txt": "add_executable(jitc ../tests/reference/values.cpp)\n"},
                         "compiles files of tests/")

    def test_finds_a_build_that_allows_more_than_the_table(self):
        build = BUILD.replace("(spec IN tmajit", "(spec IN tmajit MAY_INCLUDE kernel")
        self.expect_only({"src/CMakeLists.txt": build},
                         "the build lets src/spec include src/kernel")

    def test_finds_a_build_that_allows_less_than_the_table(self):
        build = BUILD.replace("(kernel IN tmajit MAY_INCLUDE spec", "(kernel IN tmajit")
        self.expect_only({"src/CMakeLists.txt": build},
                         "the table lets src/kernel include src/spec")

    def test_finds_a_header_with_an_include_that_only_cpp_files_may_have(self):
        self.expect_only({"src/sim/warp/warp.hpp": '#include "spec/view.hpp"\n#include "sim/cta/cta.hpp"\n'},
                         "src/sim/warp includes sim/cta/cta.hpp of src/sim/cta; it may include src/spec")

    def test_finds_a_file_of_a_room_with_folders_outside_these_folders(self):
        self.expect_only({"src/sim/device.hpp": ""}, "none of the folders of src/sim")

    def test_finds_a_row_of_a_folder_that_allows_an_unused_include(self):
        self.expect_only({"src/sim/warp/warp.cpp": ""},
                         "the sources of src/sim/warp do not include src/sim/cta")

    def test_rejects_a_table_in_which_a_folder_may_include_more_than_its_room(self):
        with self.assertRaisesRegex(ValueError, "src/sim/cta may include src/kernel, src/sim may not"):
            walls.rooms_of(TABLE.replace("| `warp` |", "| `warp`, `src/kernel` |"))

    def test_finds_a_row_of_a_folder_that_does_not_exist(self):
        rooms = walls.rooms_of(TABLE + "| `src/ops/` | operations | – |\n")
        with tempfile.TemporaryDirectory() as folder:
            found = list(walls.Tree(pathlib.Path(folder), {"src/ops": rooms["src/ops"]}).breaches())
        self.assertEqual(len(found), 1)
        self.assertIn("there is no folder src/ops", found[0])

    def test_finds_a_cycle_of_rooms_that_may_include_each_other(self):
        self.assertEqual(walls.cycle(walls.rooms_of(TABLE)), [])
        rooms = walls.rooms_of(
            "| `src/a/` | | `src/b` |\n| `src/b/` | | `src/c` |\n| `src/c/` | | `src/b` |\n")
        self.assertEqual(walls.cycle(rooms), ["src/b", "src/c", "src/b"])

    def test_rejects_a_table_that_names_a_folder_without_a_row(self):
        with self.assertRaisesRegex(ValueError, "src/a may include src/b, which has no row"):
            walls.rooms_of("| `src/a/` | | `src/b` |\n")

    def test_rejects_a_document_without_a_table(self):
        with self.assertRaisesRegex(ValueError, "no table"):
            walls.rooms_of("# nothing\n")


if __name__ == "__main__":
    unittest.main()
