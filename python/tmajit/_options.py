"""Options of the runtimes that run every operation of this process."""

from __future__ import annotations

import os
from collections.abc import Iterable

from . import _core


def options(
    *,
    packs: Iterable[str | os.PathLike[str]] = (),
    shipped_packs: bool = True,
    record: str | os.PathLike[str] | None = None,
    read_only_caches: Iterable[str | os.PathLike[str]] = (),
    max_cache_bytes: int | None = None,
    when_missing: str = "compile",
    allow_other_rounding: bool = False,
    background_compiles: int = 2,
) -> None:
    """Sets options of the whole process. Must be called before the first operation, plan, kernel or prefetch.

    Args:
        packs: packs of kernels, files or folders, that are searched before those that come with tmajit.
        shipped_packs: whether to search the packs that come with tmajit.
        record: a manifest to which a line is appended for each kernel that is compiled; "" for none.
            The default is the environment variable TMAJIT_RECORD.
        read_only_caches: further folders of compiled kernels, which are searched after the cache directory
            and never changed.
        max_cache_bytes: bound of the bytes in the cache directory; 0 for none. The default is the environment
            variable TMAJIT_CACHE_BYTES, or 4 GiB.
        when_missing: what an operation does whose kernel is in no cache. "compile" waits for the compiler.
            "serve" runs another kernel that is there, makes the better one in the background and swaps it in
            between two calls; without another kernel it waits. "refuse" raises an Error with the code
            "missing_kernel", and no compiler is loaded.
        allow_other_rounding: whether "serve" may also use kernels that add up floating-point numbers in
            another order or round products differently, so that results can change at the swap.
        background_compiles: the most threads that make kernels in the background.

    Raises:
        ArgumentError: an unknown word, a negative number, or an operation was called before.
    """
    _core.options(
        [os.fspath(pack) for pack in packs],
        shipped_packs,
        None if record is None else os.fspath(record),
        [os.fspath(folder) for folder in read_only_caches],
        max_cache_bytes,
        when_missing,
        allow_other_rounding,
        background_compiles,
    )
