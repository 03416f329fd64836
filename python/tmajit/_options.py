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
) -> None:
    """Sets options that hold for the whole process. Call it before the first operation.

    Args:
        packs: packs of kernels, files or folders, that are searched before those that come with tmajit.
        shipped_packs: whether to search the packs that come with tmajit.
        record: a manifest to which a line is appended for each kernel that is compiled; "" for none.
            The default is the environment variable TMAJIT_RECORD.

    Raises:
        ArgumentError: an operation was called before.
    """
    _core.options(
        [os.fspath(pack) for pack in packs], shipped_packs, None if record is None else os.fspath(record)
    )
