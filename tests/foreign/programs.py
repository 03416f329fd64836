"""Compiles CUDA C++ with nvcc: only to PTX, or to a whole program linked with tmajit::cudart_sim."""

from __future__ import annotations

import os
import pathlib
import shutil

from case import CannotMake, Tools

FLAGS = ["-std=c++17", "-lineinfo", "-w", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-DCUTLASS_ARCH_MMA_SM90_SUPPORTED"]


def _flags(tools: Tools, file: pathlib.Path, include: list[pathlib.Path]) -> list:
    if tools.nvcc is None:
        raise CannotMake("it has host code, which needs nvcc")
    for each in (file, *include):
        if not each.exists():
            raise CannotMake(f"there is no {each}: its package has not been fetched, or has another version")
    folders = [*include, tools.nvcc.parent.parent / "include"]
    return FLAGS + [word for each in folders for word in ("-I", each)]


def make_ptx(tools: Tools, folder: pathlib.Path, file: pathlib.Path, include: list[pathlib.Path]) -> pathlib.Path:
    """The PTX of a file, compiled again only if the file has changed."""
    flags = _flags(tools, file, include)
    ptx = folder / (file.stem + ".ptx")
    if not _is_newer(ptx, file):
        unfinished = folder / "unfinished.ptx"
        tools.run([tools.nvcc, "-ptx", "-arch=sm_90a", *flags, file, "-o", unfinished], folder)
        unfinished.rename(ptx)
    return ptx


def make_program(tools: Tools, folder: pathlib.Path, file: pathlib.Path, include: list[pathlib.Path]) -> pathlib.Path:
    """The PTX of a program, compiled again only if the file has changed. Links the executable `program` in the same folder
    with the current library."""
    flags = _flags(tools, file, include)
    ptx, host = folder / (file.stem + ".ptx"), folder / "host.o"
    if not (_is_newer(ptx, file) and _is_newer(host, file)):  # The largest program takes minutes and 11 GB to compile.
        steps = folder / "steps"
        steps.mkdir(exist_ok=True)
        flags += ["--keep", "--keep-dir", steps, "-gencode", "arch=compute_90a,code=compute_90a"]
        tools.run([tools.nvcc, "-c", *flags, file, "-o", steps / "host.o"], folder)
        (steps / ptx.name).rename(ptx)
        (steps / "host.o").rename(host)
        shutil.rmtree(steps)
    _link(tools, folder / "program", host)
    return ptx


def _is_newer(made: pathlib.Path, file: pathlib.Path) -> bool:
    return made.exists() and made.stat().st_mtime >= file.stat().st_mtime


def _link(tools: Tools, program: pathlib.Path, host: pathlib.Path) -> None:
    libraries = tools.jitc.parent
    if not (libraries / "libtmajit_cudart.so").exists():
        raise CannotMake(f"libtmajit_cudart.so is not in {libraries}: build the target tmajit_cudart_sim")
    command = [os.environ.get("CXX", "c++"), host, "-o", program, "-L", libraries, f"-Wl,-rpath,{libraries}"]
    tools.run([*command, "-ltmajit_cudart", f"-Wl,-rpath-link,{libraries}"], program.parent)
