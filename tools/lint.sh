#!/usr/bin/env bash
# Checks the C, C++ and Python files' format and the words of comments, and runs clang-tidy over the C++ files.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$ROOT/tools/lib/build.sh"

usage() {
  cat <<'END'
usage: tools/lint.sh [--format] [--tidy] [--changed] [--fix]

  --format    only clang-format, ruff, and the check for words that comments must not have (tests/walls/words.py)
  --tidy      only clang-tidy (takes minutes; configures the preset tidy if needed)
  --changed   only files that differ from origin/main, or from the last commit if there is no origin
  --fix       let clang-format rewrite the files
  -h, --help  this text

Without --format or --tidy it does both. clang-format must be version 14: other versions format differently.
END
}

format=0 tidy=0 changed=0 fix=0
for argument in "$@"; do
  case $argument in
    --format) format=1 ;;
    --tidy) tidy=1 ;;
    --changed) changed=1 ;;
    --fix) fix=1 ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
done
((format || tidy)) || format=1 tidy=1

cd "$ROOT"
if ! git rev-parse -q --verify HEAD >/dev/null 2>&1; then
  note "source not checked: this is no git clone"
  exit 0
fi
CLANG_FORMAT=$(type -P clang-format-14 clang-format | head -n 1 || true)
TIDY=$(type -P run-clang-tidy-14 run-clang-tidy | head -n 1 || true)

# files PATTERN…: the tracked files that match, one in each line.
files() {
  if ((changed)); then
    git diff --name-only --diff-filter=d "$(git rev-parse -q --verify origin/main || echo HEAD)" -- "$@"
  else
    git ls-files -- "$@"
  fi
}

check_format() {
  if [[ -z $CLANG_FORMAT || $("$CLANG_FORMAT" --version) != *'version 14.'* ]]; then
    note "format not checked: no clang-format 14 here"
    return 0
  fi
  local list mode=(--dry-run -Werror)
  ((fix)) && mode=(-i)
  mapfile -t list < <(files '*.cpp' '*.hpp' '*.c' '*.h')
  ((${#list[@]})) || return 0
  step format "clang-format over ${#list[@]} files" \
    xargs -a <(printf '%s\n' "${list[@]}") -d '\n' -n 50 -P "$JOBS" "$CLANG_FORMAT" "${mode[@]}"
}

check_words() {
  local list
  mapfile -t list < <(files '*.cpp' '*.hpp' '*.c' '*.h' '*.cu' '*.cuh' '*.md')
  ((${#list[@]})) || return 0
  step words "words of comments and pages in ${#list[@]} files" python3 tests/walls/words.py "${list[@]}"
}

# tools/setup.sh fetches ruff, and pyproject.toml configures it.
check_python() {
  local list mode=()
  mapfile -t list < <(files 'python/*.py' 'tests/python/*.py')
  ((${#list[@]})) || return 0
  export PYTHONPATH=$DEPS/python
  if ! python3 -m ruff --version >/dev/null 2>&1; then
    note "Python not checked: no ruff in build/deps/python"
    return 0
  fi
  ((fix)) || mode=(--diff)
  step ruff-format "ruff format over ${#list[@]} files" python3 -m ruff format ${mode[@]+"${mode[@]}"} "${list[@]}" &&
    step ruff "ruff check over ${#list[@]} files" python3 -m ruff check "${list[@]}"
}

run_tidy() {
  if [[ -z $TIDY ]]; then
    note "clang-tidy not run: no run-clang-tidy here"
    return 0
  fi
  configure_preset tidy || return 1 # no unity sources; no precompiled headers, which only their compiler can read
  local list
  mapfile -t list < <(files '*.cpp' | sed "s|^|^$ROOT/|; s|\$|\$|")
  ((${#list[@]})) || return 0
  # clang does not know every option of GCC; warnings are already errors in the build.
  step clang-tidy "clang-tidy over ${#list[@]} files" "$TIDY" -quiet -j "$JOBS" -p build/tidy \
    -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-unused-command-line-argument "${list[@]}"
}

status=0
if ((format)) && ! check_format; then status=1; fi
if ((format)) && ! check_words; then status=1; fi
if ((format)) && ! check_python; then status=1; fi
if ((tidy)) && ! run_tidy; then status=1; fi
exit "$status"
