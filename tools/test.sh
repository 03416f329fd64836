#!/usr/bin/env bash
# Sets up, builds and tests tmajit. --help lists the options.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$ROOT/tools/lib/build.sh"

usage() {
  cat <<'END'
usage: tools/test.sh [option]…

Sets up, builds and runs every test: the release build, a project built against an installed copy, the
commands in the documentation, and under AddressSanitizer and UBSan the rooms (folders of src) that need no simulator.

  --preset NAME    run only this build's tests: release, debug, asan or tsan
  --filter REGEX   only tests whose name matches; no sanitizer pass
  --gpu            only the tests that need a Hopper GPU; it is an error if there is none
  --sanitizers     also every test under asan, and the rooms with threads under tsan (long); sets TMAJIT_EVERY=1
  --tidy           also clang-tidy over the files that differ from origin/main
  --quick          no sanitizer pass
  -h, --help       this text

Environment: TMAJIT_JOBS (default: one for each core), TMAJIT_SEED (random tests), TMAJIT_EVERY=1 (every combination of
rank, swizzle and type, not only every pair), TMAJIT_NO_SYSTEM_CUDA=1.
Exit status: 0 if every test passed or was skipped, 1 otherwise, 2 for wrong usage.
END
}

preset=release filter='' gpu=0 sanitizers=short tidy=0
wrong_usage() {
  printf 'error: %s\n\n' "$1" >&2
  usage >&2
  exit 2
}
while (($#)); do
  case $1 in
    --preset | --filter)
      (($# >= 2)) || wrong_usage "$1 needs a value"
      if [[ $1 == --preset ]]; then preset=$2 sanitizers=none; else filter=$2 sanitizers=none; fi
      shift
      ;;
    --gpu) gpu=1 sanitizers=none ;;
    --sanitizers)
      sanitizers=full
      export TMAJIT_EVERY=1
      ;;
    --tidy) tidy=1 ;;
    --quick) sanitizers=none ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) wrong_usage "unknown option $1" ;;
  esac
  shift
done
case $preset in release | debug | asan | tsan) ;; *) wrong_usage "no preset is called $preset" ;; esac

# Rooms that parse files or compute sizes, and need no simulator. Their tests are quick under a sanitizer, so every run of
# this script includes them. --sanitizers runs all rooms under asan, with fewer random cases, and the rooms with threads
# under tsan.
SANITIZED_CASES=30
SANITIZED_ROOMS=(spec cache driver ptx plan reference)
# Tests that compile many sources mostly run NVRTC, which is not sanitized: only --sanitizers runs them under asan.
SANITIZED_EXCEPT=' compiles( |,|$)'
THREADED_ROOMS=(cache compile fleet runtime)

start=$EPOCHREALTIME
results=()
broken=() # failed steps other than tests, which the summary also counts

# programs_of FOLDER ROOM…: the names of those rooms' test programs that the build has.
programs_of() {
  local folder=$1 room
  shift
  local known
  known=$(cmake --build "$folder" --target help)
  for room in "$@"; do
    if grep -qE "(^|/| )test_$room:" <<<"$known"; then echo "test_$room"; fi
  done
}

# run_tests PRESET CTEST-ARGUMENT…
run_tests() {
  local folder=$ROOT/build/$1 preset=$1
  shift
  local xml=$folder/test-results.xml
  rm -f "$xml"
  ctest --test-dir "$folder" --show-only=json-v1 "$@" >"${xml%.xml}.json" || true
  # ctest's exit status is ignored: the summary counts its results, and reports a missing file of results.
  (cd "$ROOT" && ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$JOBS" \
    --output-junit "$xml" "$@" </dev/null) 2>&1 | tee "$LOGS/ctest-$preset.log" | show_tests || true
  results+=("$xml")
}

# Shows ctest's output indented. On a terminal all passed tests share one line.
show_tests() {
  if [[ -t 1 ]]; then
    awk '/ Passed +[0-9.]+ sec$/ { printf "\r\033[K  %s", substr($0, 1, 100); fflush(); passed = 1; next }
         / Start +[0-9]+: / { next }
         { if (passed) printf "\r\033[K"; passed = 0; print "  " $0; fflush() }'
  else
    grep --line-buffered -vE '^ +Start +[0-9]+: ' | sed -u 's/^/  /'
  fi
}

# run_rooms PRESET ROOM…: builds and runs the tests of these rooms, except tests whose names match $except.
run_rooms() {
  local preset=$1 programs
  shift
  configure_preset "$preset" || return 1
  mapfile -t programs < <(programs_of "$ROOT/build/$preset" "$@")
  ((${#programs[@]})) || return 0
  build_preset "$preset" "${programs[@]}" || return 1
  run_tests "$preset" -L "^($(IFS='|' && echo "${programs[*]#test_}"))$" ${except:+-E "$except"}
}

"$ROOT/tools/setup.sh" --tests

heading "Build"
# CMake configures on one core, so both builds are configured at the same time. If asan cannot be configured, its pass tries
# again and shows the error.
if [[ $sanitizers != none ]]; then configure_preset asan >/dev/null 2>&1 & fi
build_preset "$preset" || die "the build failed; nothing was tested"

heading "Tests ($preset)"
arguments=()
[[ -z $filter ]] || arguments+=(-R "$filter")
((!gpu)) || arguments+=(-L gpu)
run_tests "$preset" ${arguments[@]+"${arguments[@]}"}

wait # for asan to be configured
case $sanitizers in
  short)
    heading "Tests under AddressSanitizer and UBSan (rooms that need no simulator)"
    TMAJIT_CASES=${TMAJIT_CASES:-$SANITIZED_CASES} except=$SANITIZED_EXCEPT run_rooms asan "${SANITIZED_ROOMS[@]}" ||
      broken+=("asan build")
    ;;
  full)
    heading "Tests under AddressSanitizer and UBSan"
    if build_preset asan; then TMAJIT_CASES=${TMAJIT_CASES:-$SANITIZED_CASES} run_tests asan; else broken+=("asan build"); fi
    heading "Tests under ThreadSanitizer (rooms with threads)"
    run_rooms tsan "${THREADED_ROOMS[@]}" || broken+=("tsan build")
    ;;
esac

heading "Source"
"$ROOT/tools/lint.sh" --format || broken+=("format")
if ((tidy)); then "$ROOT/tools/lint.sh" --tidy --changed || broken+=("clang-tidy"); fi

heading "Summary (after $(seconds_since "$start") s)"
summary=()
((!gpu)) || summary+=(--require-gpu)
for what in ${broken[@]+"${broken[@]}"}; do summary+=(--failed "$what"); done
python3 "$ROOT/tests/summary.py" ${summary[@]+"${summary[@]}"} "${results[@]}"
