"""Folders in which peers store compiled kernels for later processes. PyTorch and Triton have their own folders."""

import os
from pathlib import Path


def _root():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tmajit-movement"


def folder(peer):
    """A peer's folder, which is created if it does not exist."""
    path = _root() / peer
    path.mkdir(parents=True, exist_ok=True)
    return path


def files(peer):
    """The complete files in a peer's folder."""
    path = _root() / peer
    return sorted(file for file in path.iterdir() if file.suffix != ".partial") if path.is_dir() else []
