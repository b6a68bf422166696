#!/usr/bin/env bash
# Runs a command that runs the program under Wine many times. Usage: under_wine.sh PROGRAM COMMAND...
# Wine's services start with its first program, keep the output of that program open, and end with Wine's last program.
# If COMMAND started the first one, a pipe from it would stay open until a time limit. So this script starts a program
# first, with a file as its output. When that program has printed a line and waits for more input, COMMAND is started.
set -euo pipefail
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# About one start in a thousand fails before the program begins.
for _ in 1 2 3; do
    exec 3> >(exec wine "$program" eval >"$folder/answer" 2>/dev/null)
    waiting=$!
    echo id,type >&3
    while [[ ! -s "$folder/answer" ]] && kill -0 "$waiting" 2>/dev/null; do
        sleep 0.05
    done
    [[ ! -s "$folder/answer" ]] || break
done
if [[ ! -s "$folder/answer" ]]; then
    echo "$program does not start under Wine" >&2
    exit 1
fi

# A query for V1 data starts the first window of the session, whose process keeps the output of the program as well.
wine "$program" countersets >/dev/null 2>&1 3>&- || true

status=0
"$@" 3>&- || status=$?
exec 3>&-
wait "$waiting" || true
exit "$status"
