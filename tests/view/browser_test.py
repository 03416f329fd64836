#!/usr/bin/env python3
"""Opens pages of `jitc view` in a headless browser, moves the cursor and the pointer, and checks the marks.

Exits with 4 if there is no browser.
"""

import argparse
import contextlib
import pathlib
import subprocess
import sys
from collections.abc import Iterator

from browser import Browser, find_browser

# The constants of the tutorial's matrix product, as its program defines them.
CONSTANTS = ("-D", "tile_n=256u", "-D", "stages=4u", "-D", "cluster=2u", "-D", "band=8u")
LINES = 20_000

# JavaScript: the text of the cursor's line; [class, text] of each marked line of a pane; the chain of calls.
CURSOR = "document.querySelector('section.active .line.cursor .text').textContent"
MARKED = (
    "[...document.querySelectorAll('#{text} .line.counterpart, #{text} .line.indirect')]"
    ".map(line => [line.classList[1], line.querySelector('.text').textContent])"
)
CALLS = "[...document.querySelectorAll('#calls button')].map(each => each.textContent)"


def require(holds: object, message: str) -> None:
    if not holds:
        raise AssertionError(message)


class Pages:
    """Makes pages in a folder, and opens them."""

    def __init__(self, jitc: str, folder: pathlib.Path, browser: Browser) -> None:
        self.jitc, self.folder, self.browser = jitc, folder, browser

    def make(self, name: str, *words: str) -> pathlib.Path:
        page = self.folder / name
        subprocess.run(
            [self.jitc, "view", *words, "--cache-dir", str(self.folder / "kernels"), "-o", str(page)],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        return page

    @contextlib.contextmanager
    def opened(self, page: pathlib.Path) -> Iterator[Browser]:
        self.browser.open(page)
        yield self.browser
        problems = [
            each
            for each in self.browser.events
            if each["method"] in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        ]
        require(not problems, f"{page.name}: the browser reports {problems}")
        loaded = [
            each["params"]["request"]["url"]
            for each in self.browser.events
            if each["method"] == "Network.requestWillBeSent"
        ]
        require(
            [url for url in loaded if not url.startswith("data:")] == [page.resolve().as_uri()],
            f"{page.name} loads {loaded}",
        )


def milliseconds_to_open(browser: Browser, page: pathlib.Path) -> float:
    """The time from the start of the navigation until the texts are drawn: the least of three runs."""
    times = []
    for _ in range(3):
        browser.open(page)
        browser.value("1")
        times.append(browser.value("performance.now()"))
    return min(times)


def test_size_and_time(pages: Pages, page: pathlib.Path) -> None:
    size = page.stat().st_size / 1e6
    time = milliseconds_to_open(pages.browser, page)
    print(f"the tutorial's matrix product: {size:.2f} MB, open in {time:.0f} ms")
    require(size <= 3, "the page is larger than 3 MB")
    require(time <= 1000, "the page takes more than 1 s to open")


def test_helper(pages: Pages, page: pathlib.Path, has_sass: bool) -> None:
    """An instruction of a helper that was inlined three times marks the helper's line and every call."""
    with pages.opened(page) as browser:
        browser.press("/")
        browser.type("fence.mbarrier_init")
        browser.press("Enter")
        while "release.cluster;" not in browser.value(CURSOR):
            browser.press("n")
        files = [each.split(":")[0] for each in browser.value(CALLS)]
        require(files == ["fence.cuh", "pipeline.cuh", "matrix_product.cu"], f"the chain of calls is {files}")
        source = browser.value(MARKED.format(text="source"))
        require(
            any(strength == "counterpart" and "fence.mbarrier_init" in text for strength, text in source),
            f"the helper's line is not marked: {source}",
        )
        text = browser.value("document.querySelector('#calls p').textContent")
        require("fence_mbarrier_init" in text.split(" ← ")[0], f"the helper's name is missing: {text}")
        # The callers' lines are not visible yet: the key c scrolls to one after the other.
        browser.press("c")
        source = browser.value(MARKED.format(text="source"))
        require(
            any(strength == "indirect" and "fence_mbarrier_init" in text for strength, text in source),
            f"the call in pipeline.cuh is not marked: {source}",
        )
        browser.press("c")
        source = browser.value(MARKED.format(text="source"))
        require(
            any(strength == "indirect" and "Stages(" in text for strength, text in source),
            f"the call in the kernel is not marked: {source}",
        )
        if has_sass:
            sass = browser.value(MARKED.format(text="sass"))
            require(any(strength == "counterpart" for strength, _ in sass), f"no SASS is marked: {sass}")


def test_keyboard(pages: Pages, page: pathlib.Path) -> None:
    with pages.opened(page) as browser:
        first = browser.value("page.active.cursor")
        browser.press("j")
        browser.press("ArrowDown")
        browser.press("k")
        require(
            browser.value("page.active.cursor") == first + 1,
            "j, down and k do not move the cursor by one line",
        )
        require(
            browser.value("document.activeElement.getAttribute('aria-activedescendant')")
            == f"source-{first + 1}",
            "the cursor's line is not the active one for screen readers",
        )
        browser.press("Tab")
        require(
            browser.value("document.activeElement.parentElement.id") == "ptx", "Tab does not lead to the PTX"
        )
        browser.press("G")
        require(
            browser.value("page.active.cursor === page.active.rows.length - 1"),
            "G does not lead to the last line",
        )
        require(
            browser.value("document.querySelector('#ptx .line.cursor') !== null"),
            "the last line is not in sight",
        )
        browser.press("g")
        require(browser.value("page.active.cursor") == 0, "g does not lead to the first line")
        browser.press("h")
        require(
            browser.value("document.activeElement.parentElement.id") == "source",
            "h does not lead to the source",
        )
        browser.press("?")
        require(browser.value("document.getElementById('keys').open"), "? does not show the keys")
        browser.press("Escape")
        require(not browser.value("document.getElementById('keys').open"), "Escape does not close the keys")


def test_pointer(pages: Pages, page: pathlib.Path) -> None:
    with pages.opened(page) as browser:
        browser.press("l")
        cursor = browser.value("page.active.cursor")
        browser.value("page.panes.sass.view.scrollTop = 40 * page.panes.sass.height")
        browser.move_pointer("#sass-50")
        line = browser.value("page.kernels[0].data.sass.ptx[50]")
        require(
            browser.value(f"document.querySelector('#ptx-{line}').classList.contains('counterpart')"),
            "the PTX of the line of SASS under the pointer is not marked, or not in sight",
        )
        require(browser.value("page.active.cursor") == cursor, "the pointer moves the cursor")
        browser.drag("#sass-52 .text", columns=0, lines=0)
        require(
            browser.value("[page.active.text, page.active.cursor].join()") == "sass,52",
            "a click does not select",
        )
        # The user can select text of two lines, and moving the pointer does not clear the selection.
        browser.drag("#sass-50 .text", columns=20, lines=1)
        browser.move_pointer("#sass-55")
        first = browser.value("page.rows.sass.textOf(50)")
        selected = browser.value("getSelection().toString()")
        require(first in selected and len(selected) > len(first), f"the selected text is {selected}")


def test_colours(pages: Pages, page: pathlib.Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    with pages.opened(page) as browser:
        found = []
        for scheme in ("light", "dark"):
            browser.call(
                "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
            )
            found.append(browser.value(colour))
            browser.picture(pages.folder / f"{scheme}.png")
        require(found == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"], f"the colours are {found}")
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_findings(pages: Pages, source: pathlib.Path) -> None:
    """Lines with a finding of lint are marked, and the key f moves the cursor there."""
    page = pages.make("no_fence.html", str(source))
    with pages.opened(page) as browser:
        listed = browser.value("[...document.querySelectorAll('#details h4')].map(each => each.textContent)")
        require(
            len(listed) == 1 and listed[0].startswith("mistake: store.missing-proxy-fence PTX line"),
            f"the findings are {listed}",
        )
        browser.press("l")
        browser.press("f")
        require("cp.async.bulk.global" in browser.value(CURSOR), "f does not lead to the bulk store")
        require(
            browser.value("document.querySelector('#ptx .line.cursor .finding').title").startswith(
                "store.missing-proxy-fence: "
            ),
            "the finding's line has no mark",
        )
        # The store is in an inlined function: its line and the call's line are marked.
        marked = browser.value(
            "[...page.kernels[0].findings.source.keys()].map(row => page.kernels[0].lines.source[row].trim())"
        )
        require(
            len(marked) == 2 and marked[1] == "if (threadIdx.x == 0) store(out + 128 * i, tile);",
            f"the finding's lines of the source are {marked}",
        )
        # Both stores come from the same lines of the source, which list the finding once.
        counts = browser.value("[...page.kernels[0].findings.source.values()].map(each => each.length)")
        require(counts == [1, 1], f"the lines of the source list {counts} findings")
        # The key c begins with the first call again after the pointer has marked a line.
        browser.press("c")
        browser.move_pointer("#ptx .line.cursor")
        browser.press("c")
        require(browser.value("page.depth") == 1, "c begins with another call than the first")


def test_foreign_ptx(pages: Pages, source: pathlib.Path) -> None:
    """The page of a file of PTX shows the source files that the PTX names, and says why SASS is missing."""
    ptx = pages.folder / "no_fence.ptx"
    subprocess.run(
        [pages.jitc, "ptx", str(source), "--cache-dir", str(pages.folder / "kernels"), "-o", str(ptx)],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    page = pages.make("no_fence.ptx.html", str(ptx))
    with pages.opened(page) as browser:
        require(
            "only the PTX" in browser.value("document.querySelector('#sass h2').textContent"), "no reason"
        )
        browser.press("l")
        browser.press("f")
        calls = browser.value(CALLS)
        require(
            [each.split(":")[0] for each in calls] == ["no_fence.cu"] * 2, f"the chain of calls is {calls}"
        )
        line = "document.querySelector('#source .line.counterpart .text').textContent"
        require("__cvta_generic_to_shared" in browser.value(line), "the source is not marked")


def test_operation(pages: Pages) -> None:
    page = pages.make(
        "map.html",
        "map",
        "--expr",
        "x0 * 2 + 1",
        "--shape",
        "4096x4096",
        "--dtype",
        "f32",
        "--box",
        "32x32",
        "--swizzle",
        "128B",
    )
    with pages.opened(page) as browser:
        tabs = browser.value("[...document.querySelectorAll('[role=tab]')].map(each => each.textContent)")
        require(tabs == ["Findings (0)", "Explanation", "Instructions", "Tiles"], f"the tabs are {tabs}")
        for tab, content in ((1, "#panel-1 pre"), (2, "#panel-2 td.count"), (3, "#panel-3 img")):
            browser.value(f"document.getElementById('tab-{tab}').click()")
            require(
                browser.value(f"document.querySelector('{content}') !== null"), f"tab {tab} has no {content}"
            )
        require(
            browser.value("document.querySelector('#panel-3 img').decode().then(() => true)"),
            "the picture is broken",
        )
        browser.press("/")
        browser.type("x0 * 2 + 1")
        browser.press("Enter")
        require(browser.value("page.found.ptx.size") > 0, "the user's expression has no PTX")


def test_comparison(pages: Pages, source: pathlib.Path) -> None:
    kernel = source / "examples/tutorial/matrix_product.cu"
    words = " ".join(CONSTANTS).replace("stages=4u", "stages=3u")
    page = pages.make("stages.html", str(kernel), *CONSTANTS, "--compare", words)
    with pages.opened(page) as browser:
        require(browser.value("document.querySelectorAll('h1').length") == 2, "there are not two titles")
        browser.press("d")
        text = browser.value(CURSOR)
        require("stages = 4u" in text, f"the first difference of the sources is {text}")
        browser.press("j")
        require("stages = 3u" in browser.value(CURSOR), "the other kernel's constant does not follow")
        browser.value("document.getElementById('tab-1').click()")
        rows = browser.value("[...document.querySelectorAll('#panel-1 th')].map(each => each.textContent)")
        require("change" in rows, f"the instructions are not compared: {rows}")


def test_many_lines(pages: Pages) -> None:
    body = "".join(f"  add.s32 %r{i % 100}, %r{(i + 1) % 100}, {i};\n" for i in range(LINES))
    ptx = pages.folder / "long.ptx"
    ptx.write_text(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n  .reg .b32 %r<100>;\n"
        + body
        + "  ret;\n}\n"
    )
    page = pages.make("long.html", str(ptx))
    time = milliseconds_to_open(pages.browser, page)
    with pages.opened(page) as browser:
        start = browser.value("(page.started = performance.now(), 0)")
        browser.press("l")
        browser.press("G")
        browser.press("k")
        ended = browser.value("performance.now() - page.started")
        require(browser.value("page.panes.ptx.cursor") > LINES and start == 0, "the cursor is not at the end")
        require(
            browser.value("document.querySelectorAll('.line').length") < 1000, "lines out of sight are drawn"
        )
    print(
        f"{LINES} lines: {page.stat().st_size / 1e6:.2f} MB, open in {time:.0f} ms, 3 keys in {ended:.0f} ms"
    )
    require(time <= 1000, "the page takes more than 1 s to open")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jitc", required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    program = find_browser()
    if program is None:
        print("SKIPPED: no browser: tools/setup.sh --tests installs one, or name one with $TMAJIT_BROWSER")
        return 4
    options.work.mkdir(parents=True, exist_ok=True)
    with Browser(program) as browser:
        pages = Pages(options.jitc, options.work, browser)
        product = pages.make(
            "matrix_product.html", str(options.source / "examples/tutorial/matrix_product.cu"), *CONSTANTS
        )
        browser.open(product)
        has_sass = browser.value("page.rows.sass.length") > 0
        test_size_and_time(pages, product)
        test_helper(pages, product, has_sass)
        test_keyboard(pages, product)
        if has_sass:
            test_pointer(pages, product)
        test_colours(pages, product)
        no_fence = options.source / "tests/view/no_fence.cu"
        test_findings(pages, no_fence)
        test_foreign_ptx(pages, no_fence)
        test_operation(pages)
        test_comparison(pages, options.source)
        test_many_lines(pages)
    print("all checks of the page passed" + ("" if has_sass else "; without SASS, for there is no nvdisasm"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
