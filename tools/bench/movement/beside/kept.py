"""Where peers keep what they compiled, for later processes: PyTorch and Triton have places of their own."""

import os
from pathlib import Path


def _root():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tmajit-movement"


def folder(peer):
    """A peer's folder, made if need be."""
    path = _root() / peer
    path.mkdir(parents=True, exist_ok=True)
    return path


def files(peer):
    """What lies in it, whole."""
    path = _root() / peer
    return sorted(file for file in path.iterdir() if file.suffix != ".partial") if path.is_dir() else []
