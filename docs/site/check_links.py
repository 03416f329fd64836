#!/usr/bin/env python3
"""Fails for every link of a built site that leads to no file or to no anchor. Links to other sites are only counted.

    check_links.py FOLDER
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.add(value)


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8", errors="replace")) for path in sorted(root.rglob("*.html"))}
    dead, elsewhere, links = [], set(), 0
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links begin at the site's root
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                elsewhere.add(link)
                continue
            links += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            # Doxygen links its pages to anchors of private classes, which it leaves out.
            anchor = "" if path.is_relative_to(root / "cpp") else urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                dead.append(f"{path.relative_to(root)}: {link}: there is no such file")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                dead.append(f"{path.relative_to(root)}: {link}: there is no such anchor")
    for line in dead:
        print(line)
    print(f"{len(pages)} pages, {links} links between them, {len(dead)} dead; {len(elsewhere)} links to other sites, not followed")
    return 1 if dead or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
