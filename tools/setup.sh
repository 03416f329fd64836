#!/usr/bin/env bash
# Installs or fetches packages that a build of tmajit needs and this machine lacks. Can be run repeatedly; quick if
# nothing is missing. demo.sh and test.sh call it.
#
#   TMAJIT_NO_SYSTEM_CUDA=1   use CUDA's parts from the wheels even if a toolkit is installed
#   TMAJIT_JOBS=N             build with N jobs (default: one for each core)
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$ROOT/tools/lib/packages.sh"
. "$ROOT/tools/lib/catch2.sh"
. "$ROOT/tools/lib/cuda.sh"
. "$ROOT/tools/lib/python.sh"

start=$EPOCHREALTIME
heading "Set-up"
mapfile -t missing < <(missing_packages)
if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
provide_catch2
provide_cuda
provide_python
note "compiler: $("$(compiler)" --version | head -n 1)"
note "CUDA: $CUDA_ROOT; nvdisasm: ${NVDISASM:-none}"
note "everything needed is here ($(seconds_since "$start") s)"
