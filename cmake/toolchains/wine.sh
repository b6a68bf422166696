#!/usr/bin/env bash
# Runs a program under Wine. Usage: wine.sh PROGRAM [ARGUMENT...]
# Wine's services start with its first program and keep the output of that program open, for minutes if other programs
# follow. A reader that waits for the end of the output would wait as long. Therefore the output goes to files, which
# are printed when the program has ended.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# About one start in a thousand fails before the program begins, without a message. So a program that fails without any
# output is run once more.
for _ in 1 2; do
    status=0
    wine "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [[ $status -ne 0 && ! -s "$folder/out" && ! -s "$folder/err" ]] || break
done
cat "$folder/out"
cat "$folder/err" >&2
exit "$status"
