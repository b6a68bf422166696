#!/usr/bin/env bash
# cppcheck over all sources that are neither tests nor benchmarks. Usage: cppcheck.sh SOURCE_DIR
set -euo pipefail
cd "$1"

# The check uninitvar is disabled: it reports structs as uninitialised whose array was filled by memcpy. clang-analyzer
# and -Wall find uninitialised variables, too.
# Each system's code is read once; without -D, cppcheck would read each file once for each macro in its conditions.
for system in __linux__ _WIN32; do
    cppcheck --quiet --error-exitcode=2 --std=c11 --enable=warning,portability,performance --suppress=uninitvar \
        -D"$system" -j "$(nproc)" -I core/include -I core/cpi/include -I core/lwp/include -I core/src -I platform/include \
        -I platform -I cli core platform cli fuzz examples
done
