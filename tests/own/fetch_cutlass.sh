#!/usr/bin/env bash
# fetch_cutlass.sh FOLDER: fetches CUTLASS's headers into FOLDER/include, from the wheel nvidia-cutlass of the Python
# registry. Exits with 77, a skip, if that fails.
set -euo pipefail
folder=$1 version=4.2.0.0
[[ -e $folder/include/cute/tensor.hpp ]] && exit 0
skip() { echo "SKIP: CUTLASS's headers: $*"; exit 77; }
command -v python3 >/dev/null || skip "no python3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
timeout 120 python3 -m pip download --quiet --no-deps --disable-pip-version-check --dest "$work" \
  "nvidia-cutlass==$version" >"$work/log" 2>&1 || skip "$(tail -n 1 "$work/log")"
python3 -m zipfile -e "$work"/nvidia_cutlass-*.whl "$work/wheel"
mkdir -p "$folder"
mv "$work/wheel/cutlass_library/source/include" "$folder/include"
