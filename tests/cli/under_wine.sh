#!/usr/bin/env bash
# Runs a command that runs the program under Wine again and again. Usage: under_wine.sh PROGRAM COMMAND...
# Wine's services end soon after its last program and start with the next one, whose output they then hold open until
# they end: its reader waits for seconds. So the first program here writes to no pipe, and one lasts as long as the
# command: it waits for its input.
set -euo pipefail
program=$1
shift

wine "$program" --version >/dev/null 2>&1
exec 3> >(exec wine "$program" eval >/dev/null 2>&1)
waiting=$!
status=0
"$@" 3>&- || status=$?
exec 3>&-
wait "$waiting" || true
exit "$status"
