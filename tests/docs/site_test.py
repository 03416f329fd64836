"""docs/site: pages are changed as Python's Markdown needs it, and dead links are found."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SITE = pathlib.Path(__file__).resolve().parents[2] / "docs/site"
sys.path.insert(0, str(SITE))

import stage


class Fitted(unittest.TestCase):
    def test_words_after_a_language(self):
        self.assertEqual(stage.fitted("```sh tested exit=2\nfalse\n```\n"), "```sh\nfalse\n```\n")

    def test_lists(self):
        self.assertEqual(stage.fitted("text:\n- a\n- b\n"), "text:\n\n- a\n- b\n")
        self.assertEqual(stage.fitted("- a\n  more\n- b\n"), "- a\n  more\n- b\n")
        self.assertEqual(stage.fitted("```\ntext:\n- a\n```\n"), "```\ntext:\n- a\n```\n")


class CheckLinks(unittest.TestCase):
    def dead(self, **pages: str) -> list[str]:
        with tempfile.TemporaryDirectory() as name:
            for page, text in pages.items():
                (pathlib.Path(name) / f"{page}.html").write_text(text)
            done = subprocess.run([sys.executable, SITE / "check_links.py", name], capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()[:-1]
        self.assertEqual(done.returncode, 1 if lines else 0)
        return lines

    def test_files_and_anchors(self):
        self.assertEqual(self.dead(a='<a href="b.html#here">', b='<h1 id="here"><a href="#here"><a href="https://example.org">'), [])
        self.assertEqual(self.dead(a='<a href="c.html">'), ["a.html: c.html: there is no such file"])
        self.assertEqual(self.dead(a='<img src="c.svg">'), ["a.html: c.svg: there is no such file"])
        self.assertEqual(self.dead(a='<a href="b.html#there">', b='<h1 id="here">'), ["a.html: b.html#there: there is no such anchor"])


if __name__ == "__main__":
    unittest.main()
