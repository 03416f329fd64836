"""unpack_wheels.py FOLDER WHEEL...: the include/, lib/ and bin/ of CUDA wheels, laid out as a toolkit.

Wheels keep them under nvidia/<name>/; <name> differs between releases.
"""

import pathlib
import shutil
import sys
import zipfile

KEPT = ("include", "lib", "bin")


def unpack(wheel: pathlib.Path, folder: pathlib.Path) -> int:
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            parts = pathlib.PurePosixPath(entry.filename).parts
            if entry.is_dir() or parts[0] != "nvidia" or len(parts) < 4 or parts[2] not in KEPT or ".." in parts:
                continue
            target = folder.joinpath(*parts[2:])
            target.parent.mkdir(parents=True, exist_ok=True)
            # Under another name first: an interrupted run must not leave half a library that looks whole.
            partial = target.with_name(target.name + ".partial")
            with archive.open(entry) as source, open(partial, "wb") as sink:
                shutil.copyfileobj(source, sink)
            # Wheels carry Unix modes in the upper half of the attributes.
            partial.chmod((entry.external_attr >> 16) & 0o777 or 0o644)
            if parts[2] == "bin":
                partial.chmod(0o755)
            partial.replace(target)
            count += 1
    return count


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:]:
        wheel = pathlib.Path(name)
        count = unpack(wheel, folder)
        if count == 0:
            sys.exit(f"{wheel.name} holds no include/, lib/ or bin/ where they were expected")
        print(f"{wheel.name}: {count} files")


if __name__ == "__main__":
    main()
