#!/usr/bin/env bash
# run.sh STEP BUILD WORK COMPILER: one step of the consumer test; see CMakeLists.txt beside this file.
set -euo pipefail
step=$1 build=$2 work=$3 compiler=$4
project=$(cd "$(dirname "$0")/project" && pwd)
prefix=$work/prefix

case $step in
  install)
    rm -rf "$work/prefix" "$work/staged"
    cmake --install "$build" --prefix "$work/staged" >/dev/null
    # Moved after it was installed: nothing in it may hold on to where it was first.
    mv "$work/staged" "$prefix"
    find "$prefix" -name '*.so*' -o -name '*.pc' -o -name '*.cmake' | sed "s|$prefix/||"
    if grep -rIl -e "$work/staged" -e "$build" "$prefix"; then
      echo "the files above name the folder they were built or installed in"
      exit 1
    fi
    ;;
  cmake)
    rm -rf "$work/cmake"
    cmake -G Ninja -S "$project" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
      -DCMAKE_BUILD_TYPE=Release
    cmake --build "$work/cmake"
    "$work/cmake/consumer"
    ;;
  pkg_config)
    command -v pkg-config >/dev/null || { echo "SKIP: no pkg-config"; exit 77; }
    pc=$(find "$prefix" -name tmajit.pc)
    export PKG_CONFIG_PATH=${pc%/*}
    # Unquoted: flags are words.
    "$compiler" -std=c++20 "$project/main.cpp" -o "$work/consumer-pc" $(pkg-config --cflags --libs 'tmajit >= 0.1')
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir tmajit) "$work/consumer-pc"
    ;;
  jitc)
    [[ -e $prefix/bin/jitc ]] || { echo "SKIP: jitc was not built"; exit 77; }
    # No LD_LIBRARY_PATH: the installed program finds the installed library by itself.
    "$prefix/bin/jitc" --version
    ldd "$prefix/bin/jitc" | grep -F "$prefix" | grep libtmajit
    ;;
esac
