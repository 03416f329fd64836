#!/usr/bin/env bash
# Installs or fetches packages that a build of tmajit needs and this machine lacks. Can be run repeatedly; quick if
# nothing is missing. demo.sh, test.sh and wheel.sh call it.
#
#   --tests                   also packages that only tests need, if apt has them: a headless browser, a Redis server
#
#   TMAJIT_NO_SYSTEM_CUDA=1   use CUDA's parts from the wheels even if a toolkit is installed
#   TMAJIT_JOBS=N             build with N jobs (default: one for each core)
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$ROOT/tools/lib/packages.sh"
. "$ROOT/tools/lib/catch2.sh"
. "$ROOT/tools/lib/cuda.sh"
. "$ROOT/tools/lib/python.sh"
. "$ROOT/tools/lib/browser.sh"
. "$ROOT/tools/lib/redis.sh"

for_tests=0
case $#:${1:-} in
  0:) ;;
  1:--tests) for_tests=1 ;;
  *)
    echo "usage: tools/setup.sh [--tests]" >&2
    exit 2
    ;;
esac

start=$EPOCHREALTIME
heading "Set-up"
mapfile -t missing < <(missing_packages)
if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
provide_catch2
provide_cuda
provide_python
if ((for_tests)); then
  provide_browser
  provide_redis
fi
note "compiler: $("$(compiler)" --version | head -n 1)"
note "CUDA: $CUDA_ROOT; nvdisasm: ${NVDISASM:-none}"
note "everything needed is here ($(seconds_since "$start") s)"
