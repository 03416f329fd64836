"""check_wheel.py WHEEL SOURCE: checks a wheel of the Python package before it is installed or published.

It holds every file of SOURCE/python/tmajit, the three libraries and all licences. It holds the packs of both
architectures or none, and they do not name the folder of the build. It holds no copies of the system's libraries.
Its tag names a manylinux whose C library has every symbol that the libraries need, read from the libraries
themselves. Prints what it found; exits with status 1 and a sentence for each mistake.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

LIMIT = 15 << 20  # bytes of the file without its packs
PACK_LIMIT = 32 << 20  # bytes of a pack
PACKS = {"tmajit/sm_90a.pack", "tmajit/compute_90a.pack"}
LIBRARIES = (r"_core\..*so", r"libtmajit\.so\.[0-9.]+", r"libtmajit_sim\.so\.[0-9.]+")


def missing_files(names: set[str], source: pathlib.Path) -> list[str]:
    """The mistakes in the names of a wheel's files."""
    expected = {f"tmajit/{file.name}" for file in (source / "python/tmajit").iterdir() if file.is_file()}
    missing = sorted(expected - names)
    missing += [
        f"tmajit/{library}"
        for library in LIBRARIES
        if not any(re.fullmatch(f"tmajit/{library}", name) for name in names)
    ]
    licences = ["LICENSE", *(f"packaging/licenses/{f.name}" for f in (source / "packaging/licenses").iterdir())]
    missing += [one for one in licences if not any(name.endswith(f".dist-info/licenses/{one}") for name in names)]
    mistakes = [f"it lacks {name}" for name in missing]
    if copied := sorted(name for name in names if name.startswith("tmajit.libs/")):
        mistakes.append(f"it holds copies of the system's libraries: {', '.join(copied)}")
    return mistakes


def needed_glibc(library: pathlib.Path) -> tuple[int, int]:
    """The newest version of the C library of which the library needs a symbol."""
    dump = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\bGLIBC_(\d+)\.(\d+)", dump)
    return max((int(major), int(minor)) for major, minor in found)


def mistakes_of(wheel: pathlib.Path, source: pathlib.Path) -> list[str]:
    """Prints the wheel's size and needs. Returns its mistakes, each as a clause."""
    size = wheel.stat().st_size
    mistakes = []
    tags = [(int(major), int(minor)) for major, minor in re.findall(r"manylinux_(\d+)_(\d+)_", wheel.name)]
    if not tags:
        mistakes.append("its tag names no manylinux")
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        mistakes += missing_files(names, source)
        packs = {one.filename: one for one in archive.infolist() if one.filename.endswith(".pack")}
        if packs and packs.keys() != PACKS:
            mistakes.append(f"its packs are {', '.join(sorted(packs))} instead of {', '.join(sorted(PACKS))}")
        if not packs:
            print("no packs: every first call compiles")
        for name, pack in packs.items():
            print(f"pack {name}: {pack.file_size / (1 << 20):.1f} MiB")
            # A pack's dictionary is not compressed, so a path that kernels hold is found there.
            if str(source).encode() in archive.read(name):
                mistakes.append(f"{name} names {source}")
            if pack.file_size > PACK_LIMIT:
                mistakes.append(f"{name} has {pack.file_size} bytes, more than {PACK_LIMIT}")
        rest = size - sum(pack.compress_size for pack in packs.values())
        if rest > LIMIT:
            mistakes.append(f"it has {rest} bytes without its packs, more than {LIMIT}")
        archive.extractall(folder)
        needed = {name: needed_glibc(pathlib.Path(folder, name)) for name in sorted(names) if ".so" in name}
    for name, (major, minor) in needed.items():
        print(f"{name} needs glibc {major}.{minor}")
        if tags and (major, minor) > min(tags):
            mistakes.append(f"{name} needs glibc {major}.{minor}, which its tag does not promise")
    print(f"{wheel.name}: {size / (1 << 20):.1f} MiB, {len(names)} files")
    return mistakes


if __name__ == "__main__":
    given = pathlib.Path(sys.argv[1])
    if found := mistakes_of(given, pathlib.Path(sys.argv[2]).resolve()):
        sys.exit("\n".join(f"{given.name}: {mistake}" for mistake in found))
