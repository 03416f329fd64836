#!/usr/bin/env python3
"""Checks a recipe of packaging/ against the sources: packaging_test.py conan|vcpkg|container --cmake PROGRAM.

Prints each mistake, and exits with 1 if there is any. Exits with 77 if the recipe's tool is missing, after all checks
that need no tool.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    header = read("include/tmajit/version.hpp")
    return ".".join(re.search(rf"TMAJIT_VERSION_{part} (\d+)$", header, re.MULTILINE)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def unknown_options(names: set[str]) -> list[str]:
    """Options that a recipe sets and the build does not have."""
    known = set(re.findall(r"option\((\w+)", read("CMakeLists.txt") + read("cmake/Options.cmake")))
    return [f"{name} is no option of the build" for name in sorted(names - known)] + ([] if names else ["no option was found in the recipe"])


def missing_files(patterns: list[str]) -> list[str]:
    return [f"{pattern} matches no file" for pattern in patterns if not any(ROOT.glob(pattern))]


def undocumented(command: str) -> list[str]:
    """A command that a recipe names must be in the documentation, which may add options to it."""
    known = any(line.startswith(command) for line in read("docs/embedding.md").splitlines())
    return [] if known else [f"docs/embedding.md does not have the command: {command}"]


def conan(_cmake: str) -> list[str]:
    recipe = read("packaging/conan/conanfile.py")
    compile(recipe, "conanfile.py", "exec")
    compile(read("packaging/conan/test_package/conanfile.py"), "test_package/conanfile.py", "exec")
    parts = re.search(r'for part in \(([A-Z", ]+)\):\n\s+toolchain', recipe)[1]
    options = {f"TMAJIT_BUILD_{part}" for part in re.findall(r"[A-Z]+", parts)} | set(re.findall(r'\["(TMAJIT_\w+)"\]', recipe))
    wrong = unknown_options(options) + missing_files(re.findall(r'"([^"]+)"', re.search(r"for pattern in \((.*)\):", recipe)[1]))
    wrong += undocumented(re.search(r"`(conan create [^`]+)`", recipe)[1])
    exported = set(re.findall(r"EXPORT_NAME (\w+)", read("cmake/Libraries.cmake"))) | {"tmajit"}
    components = set(re.findall(r'"(\w+)": \("tmajit', recipe)) | set(re.findall(r'libraries\["(\w+)"\] =', recipe))
    if components != exported:
        wrong.append(f"the components are {sorted(components)}, but the exported targets are {sorted(exported)}")
    program = shutil.which("conan")
    if program is None:
        if not wrong:
            print("SKIP: no conan: its recipe was only read, not run")
            sys.exit(SKIPPED)
        return wrong
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([program, "inspect", ROOT / "packaging/conan", "--format", "json"], capture_output=True, text=True,
                              check=False, env={**os.environ, "CONAN_HOME": home, "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode != 0:
        return [*wrong, f"conan inspect: {done.stderr}"]
    said = json.loads(done.stdout)
    if (said["name"], said["version"]) != ("tmajit", version()):
        wrong.append(f"conan inspect says {said['name']} {said['version']}; version.hpp has {version()}")
    return wrong


def vcpkg(cmake: str) -> list[str]:
    port = ROOT / "packaging/vcpkg/tmajit"
    manifest = json.loads((port / "vcpkg.json").read_text(encoding="utf-8"))
    wrong = [] if manifest["version"] == version() else [f"vcpkg.json has version {manifest['version']}; version.hpp has {version()}"]
    if manifest["name"] != port.name:
        wrong.append("the port's name differs from its folder's")
    done = subprocess.run([cmake, f"-DPORTFILE={port / 'portfile.cmake'}", "-P", ROOT / "tests/packaging/portfile.cmake"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [*wrong, f"portfile.cmake: {done.stderr}"]
    configured = re.search(r"^vcpkg_cmake_configure SOURCE_PATH;(.*?);OPTIONS;(.*)$", done.stderr, re.MULTILINE)
    if not pathlib.Path(configured[1]).samefile(ROOT):
        wrong.append(f"portfile.cmake builds {configured[1]}, which is not the checkout")
    wrong += unknown_options(set(re.findall(r"-D(\w+)=", configured[2])))
    wrong += [f"portfile.cmake installs {name}, which does not exist" for name in re.findall(r"(?:FILE_LIST|file INSTALL);([^;\n]+)", done.stderr)
              if not pathlib.Path(name).exists()]
    wrong += undocumented(f"vcpkg install {port.name} --overlay-ports={port.parent.relative_to(ROOT)}")
    # Packages that the build asks for, apart from those of the system.
    asked = set(re.findall(r"^find_package\((\w+)", read("cmake/Dependencies.cmake"), re.MULTILINE)) - {"Threads", "LLVM"}
    asked |= set(re.findall(r"^find_library\(\w+ lib(\w+)\.a", read("cmake/Dependencies.cmake"), re.MULTILINE))
    given = {name for name in manifest["dependencies"] if isinstance(name, str)}
    if {name.replace("_", "-") for name in asked} != given:
        wrong.append(f"vcpkg.json has the dependencies {sorted(given)}; the build finds {sorted(asked)}")
    return wrong


def container(_cmake: str) -> list[str]:
    text = read("packaging/container/Containerfile")
    copied = [source for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE) for source in line.split()[:-1]]
    wrong = missing_files(copied) + unknown_options(set(re.findall(r"-D(TMAJIT_\w+)=", text)))
    ignore = read("packaging/container/.containerignore")
    sent = re.findall(r"^!(.*)$", ignore, re.MULTILINE)
    if {source.split("/")[0] for source in copied} != set(sent):
        wrong.append(f".containerignore sends {sent}, but the Containerfile copies {sorted(copied)}")
    for preset in re.findall(r"--preset (\w+)", text):
        if preset not in [one["name"] for one in json.loads(read("CMakePresets.json"))["configurePresets"]]:
            wrong.append(f"there is no preset {preset}")
    wrong += [f"{script} cannot be run" for script in re.findall(r"^RUN (tools/\S+)", text, re.MULTILINE) if not os.access(ROOT / script, os.X_OK)]
    command = re.search(r"^#   (podman build .*)$", text, re.MULTILINE)[1]
    wrong += undocumented(command) + missing_files(re.findall(r"packaging/\S+", command))
    # The set-up runs before the sources are copied, so it may read only the files that are there then.
    early = text[: text.index("RUN tools/setup.sh")]
    sourced = set(re.findall(r'\$ROOT/((?:tools|cmake)/[\w/.]+)', read("tools/setup.sh") + read("tools/lib/cuda.sh")))
    wrong += [f"setup.sh needs {name}, which is copied after it" for name in sorted(sourced) if not re.search(rf"^COPY .*\b({name}|{os.path.dirname(name)}) ", early, re.MULTILINE)]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    checks = {"conan": conan, "vcpkg": vcpkg, "container": container}
    parser.add_argument("recipe", choices=checks)
    parser.add_argument("--cmake", default="cmake")
    arguments = parser.parse_args()
    wrong = checks[arguments.recipe](arguments.cmake)
    print("\n".join(wrong) if wrong else f"{arguments.recipe}: agrees with the sources")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
