# Configuring and building a preset. To be sourced.

# configure_preset PRESET: build/PRESET, unless it is configured since the last set-up. When CMake's own files
# change it configures again by itself; that set-up has fetched something it cannot see.
configure_preset() {
  local folder=$ROOT/build/$1
  if [[ ! -e $folder/build.ninja || -n $(find "$DEPS/cuda" "$DEPS/usr/lib/cmake" -maxdepth 1 \
    -newer "$folder/build.ninja" 2>/dev/null) ]]; then
    # From the root: that is where CMakePresets.json is looked for.
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
