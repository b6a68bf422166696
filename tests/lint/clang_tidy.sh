#!/usr/bin/env bash
# clang-tidy with .clang-tidy over sources and those of folders. Usage: clang_tidy.sh SOURCE_DIR BUILD_DIR FOLDER|FILE...
# BUILD_DIR has the compile_commands.json.
set -euo pipefail
cd "$1"
build=$2
folders=("${@:3}")

# A file per process: clang-tidy uses one CPU. Long files first, so that none is left alone at the end. "N warnings
# generated" and the like go to standard error; findings do not.
# Sources of Windows are read in a build for it, which names them.
passed_over=()
if [[ ${folders[0]} == platform || ${folders[0]} == cli ]]; then
    passed_over=(-not -path '*/windows/*' -not -name '*_windows.c')
fi
log="$build/clang_tidy_${folders[0]//\//_}.log"
if ! find "${folders[@]}" -name '*.c' "${passed_over[@]}" -printf '%s\t%p\0' | sort -z -rn | cut -z -f 2 |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "$build" 2>"$log"; then
    grep -v "warnings generated\.$" "$log" >&2 || true
    exit 1
fi
