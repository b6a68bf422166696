#!/usr/bin/env bash
# Runs COMMAND, which runs the program under Wine many times. Usage: under_wine.sh PROGRAM COMMAND...
# The first program that runs under Wine starts Wine's services. They inherit its standard output and end only after the
# last program. If COMMAND started the first program with a pipe as its output, the services would keep the pipe open,
# and the reader would wait until a time limit. So this script first starts PROGRAM with a file as its output, lets it
# wait for input until the end, and runs COMMAND meanwhile.
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

# A query for V1 data starts another process of Wine, which owns the window of the desktop. It inherits the output as
# well, so the first such query is made here.
wine "$program" countersets >/dev/null 2>&1 3>&- || true

status=0
"$@" 3>&- || status=$?
exec 3>&-
wait "$waiting" || true
exit "$status"
