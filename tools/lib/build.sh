# Functions to configure and build a preset. To be sourced.

# configure_preset PRESET: configures build/PRESET, unless it was configured after the last set-up. CMake configures
# again by itself if its own files change, but does not notice packages that setup.sh has fetched.
configure_preset() {
  local folder=$ROOT/build/$1
  if [[ ! -e $folder/build.ninja || -n $(find "$DEPS/cuda" "$DEPS/usr/lib/cmake" -maxdepth 1 \
    -newer "$folder/build.ninja" 2>/dev/null) ]]; then
    # CMake looks for CMakePresets.json in the current folder.
    (cd "$ROOT" && step "configure-$1" "configure build/$1" cmake --preset "$1")
  fi
}

# build_preset PRESET [TARGET…]
build_preset() {
  local preset=$1
  shift
  configure_preset "$preset" || return 1
  local targets=()
  (($#)) && targets=(--target "$@")
  step "build-$preset" "build ${*:-everything} with $JOBS jobs" \
    cmake --build "$ROOT/build/$preset" -j "$JOBS" ${targets[@]+"${targets[@]}"}
}
