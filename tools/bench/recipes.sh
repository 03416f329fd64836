#!/usr/bin/env bash
# Measures the moves of docs/recipes.md on a GPU. Prints a row of the page's table for each of its commands.
#
#   tools/bench/recipes.sh [JITC]    JITC is the program; default: that of build/release
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

jitc=${1:-$ROOT/build/release/bin/jitc}
while read -r command; do
  eval "words=($command)" # the page's text, which quotes expressions
  report=$("$jitc" "${words[@]:1}" --device gpu --check --json)
  python3 -c '
import json, sys
run = json.loads(sys.argv[2])["run"]
speed, copy = run["gb_per_s"], run["driver_copy"]["gb_per_s"]
print(f"| `{sys.argv[1]}` | {speed:.0f} | {speed / copy:.3f} |")' "$command" "$report"
done < <(sed -nE 's/^`(jitc run .*)`$/\1/p' "$ROOT/docs/recipes.md")
