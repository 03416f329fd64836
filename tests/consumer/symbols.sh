#!/usr/bin/env bash
# symbols.sh PREFIX PROGRAM…: the installed libraries export only public symbols of tmajit, do not both define the same
# variable, and the programs call every exported function.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1
shift
libraries=$(find "$prefix" -name 'libtmajit.so' -o -name 'libtmajit_sim.so')
[[ $(wc -l <<<"$libraries") -eq 2 ]] || { echo "not two libraries in $prefix: $libraries"; exit 1; }
failed=0
# none TEXT LINES: fails with TEXT and LINES unless LINES is empty.
none() {
  [[ -z $2 ]] && return
  printf '%s:\n%s\n' "$1" "$2"
  failed=1
}
# plain: symbol names without addresses and kinds.
plain() { sed -E 's/^[0-9a-f ]*[A-Za-z] //' | sort -u; }

exported=$(for library in $libraries; do nm -DC --defined-only "$library"; done | plain)
inside='^((vtable|typeinfo|typeinfo name) for )?tmajit::v[0-9]+_[0-9]+::'
none "exported, but not of namespace tmajit" "$(grep -vE "$inside" <<<"$exported" || true)"

# Variables of tmajit that a library defines. Both libraries may define the same constants.
state() { nm -C --defined-only "$1" | grep -E ' [bBdD] (guard variable for )?tmajit::' | plain; }
none "state that both libraries hold" "$(comm -12 <(state "$(head -1 <<<"$libraries")") <(state "$(tail -1 <<<"$libraries")"))"

functions=$(grep '^tmajit::' <<<"$exported")
called=$(for program; do nm -DC --undefined-only "$program"; done | plain)
# Names without the namespace.
excused=$(sed -E 's/ *#.*//; /^$/d' "$here/not_called.txt" | sort -u)
uncalled=$(comm -23 <(echo "$functions") <(echo "$called"))
names=$(sed -E "s/tmajit::v[0-9_]+:://g" <<<"$uncalled" | sort -u)
none "exported, but the project in tests/consumer does not call it" "$(comm -23 <(echo "$names") <(echo "$excused"))"
none "in not_called.txt, but called or not exported" "$(comm -13 <(echo "$names") <(echo "$excused"))"
echo "$(wc -l <<<"$functions") functions, $(wc -l <<<"$excused") of them not for callers"
exit $failed
