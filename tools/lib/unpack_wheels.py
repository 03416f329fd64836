"""unpack_wheels.py FOLDER WHEEL...: unpacks include/, lib/ and bin/ of CUDA wheels into a folder like a toolkit's.

In wheels these folders are below nvidia/<name>/; <name> differs between releases.
"""

import pathlib
import shutil
import sys
import zipfile

UNPACKED_FOLDERS = ("include", "lib", "bin")


def unpack(wheel: pathlib.Path, folder: pathlib.Path) -> int:
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            parts = pathlib.PurePosixPath(entry.filename).parts
            if entry.is_dir() or parts[0] != "nvidia" or len(parts) < 4 or parts[2] not in UNPACKED_FOLDERS or ".." in parts:
                continue
            target = folder.joinpath(*parts[2:])
            target.parent.mkdir(parents=True, exist_ok=True)
            # Write to a temporary name first, so that an interrupted run leaves no incomplete library with the final name.
            partial = target.with_name(target.name + ".partial")
            with archive.open(entry) as source, open(partial, "wb") as sink:
                shutil.copyfileobj(source, sink)
            # The upper half of the attributes is the Unix mode.
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
