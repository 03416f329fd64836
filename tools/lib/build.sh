# Configuring and building a preset. To be sourced.

# build_preset PRESET [TARGET…]: build/PRESET is configured once and whenever CMake sees a reason to.
build_preset() {
  local preset=$1
  shift
  local folder=$ROOT/build/$preset
  # CMake configures again by itself when its files change; a set-up that has changed since it cannot see.
  if [[ ! -e $folder/build.ninja || -n $(find "$DEPS/cuda" "$DEPS/usr/lib/cmake" -maxdepth 1 \
    -newer "$folder/build.ninja" 2>/dev/null) ]]; then
    # From the root: that is where CMakePresets.json is looked for.
    (cd "$ROOT" && step "configure-$preset" "configure build/$preset" cmake --preset "$preset") || return 1
  fi
  local targets=()
  (($#)) && targets=(--target "$@")
  step "build-$preset" "build ${*:-everything} with $JOBS jobs" \
    cmake --build "$folder" -j "$JOBS" ${targets[@]+"${targets[@]}"}
}
