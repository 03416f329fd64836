# Code that all scripts share: paths, messages, and steps with a log. To be sourced.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DEPS=$ROOT/build/deps
LOGS=$ROOT/build/logs
JOBS=${TMAJIT_JOBS:-$(nproc)}
mkdir -p "$DEPS" "$LOGS"

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' GREEN=$'\e[32m' YELLOW=$'\e[33m' PLAIN=$'\e[0m'
else
  BOLD='' DIM='' RED='' GREEN='' YELLOW='' PLAIN=''
fi

heading() { printf '\n%s%s%s\n' "$BOLD" "$*" "$PLAIN"; }
note() { printf '  %s%s%s\n' "$DIM" "$*" "$PLAIN"; }
warn() { printf '  %s%s%s\n' "$YELLOW" "$*" "$PLAIN" >&2; }
die() {
  printf '%serror:%s %s\n' "$RED" "$PLAIN" "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# seconds_since START: elapsed time since an earlier $EPOCHREALTIME, in tenths of a second.
seconds_since() {
  local us=$((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
  printf '%d.%d' $((us / 1000000)) $((us / 100000 % 10))
}

# Shows the last line of a growing log: continuously on a terminal, and every half minute in a CI log, to show that a
# long build makes progress.
watch_log() {
  local log=$1 tick=0 line
  while sleep 0.5 && kill -0 "$$" 2>/dev/null; do
    tick=$((tick + 1))
    line=$(tail -c 400 "$log" 2>/dev/null | tr '\r\0' '\n\n' | tail -n 1)
    [[ -n $line ]] || continue
    if [[ -t 1 ]]; then
      printf '\r\e[K    %s%s%s' "$DIM" "${line:0:$((${COLUMNS:-100} - 6))}" "$PLAIN"
    elif ((tick % 60 == 0)); then
      printf '    %s\n' "${line:0:110}"
    fi
  done
}

WATCHER=''
stop_watching() {
  [[ -n $WATCHER ]] || return 0
  kill "$WATCHER" 2>/dev/null || true
  wait "$WATCHER" 2>/dev/null || true
  WATCHER=''
  if [[ -t 1 ]]; then printf '\r\e[K'; fi
}
trap stop_watching EXIT

# step NAME TEXT COMMAND…: runs the command with its output in build/logs/NAME.log, and shows the end of that log
# if the command fails. Returns the command's exit status.
step() {
  local log=$LOGS/$1.log text=$2 start=$EPOCHREALTIME status=0
  shift 2
  printf '  %s …\n' "$text"
  : >"$log"
  watch_log "$log" &
  WATCHER=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  stop_watching
  if ((status == 0)); then
    printf '  %sdone%s in %s s\n' "$GREEN" "$PLAIN" "$(seconds_since "$start")"
  else
    printf '  %sfailed%s (exit status %d); the end of %s:\n' "$RED" "$PLAIN" "$status" "${log#"$ROOT"/}" >&2
    tail -n 40 "$log" | sed 's/^/    /' >&2
  fi
  return "$status"
}
