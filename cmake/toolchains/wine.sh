#!/usr/bin/env bash
# Runs a program under Wine. Usage: wine.sh PROGRAM [ARGUMENT...]
# Wine's services start with its first program and keep the output of that open until they end, minutes later where
# other programs follow: so it goes to files, and from there to those who wait for its end.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# About one start in a thousand fails before the program begins, without a word: then once more.
for _ in 1 2; do
    status=0
    wine "$@" >"$folder/out" 2>"$folder/err" || status=$?
    [[ $status -ne 0 && ! -s "$folder/out" && ! -s "$folder/err" ]] || break
done
cat "$folder/out"
cat "$folder/err" >&2
exit "$status"
