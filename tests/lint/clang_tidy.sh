#!/usr/bin/env bash
# Runs clang-tidy with .clang-tidy on the named files and the C files in the named folders. BUILD_DIR has the
# compile_commands.json.
# Usage: clang_tidy.sh SOURCE_DIR BUILD_DIR FOLDER|FILE...
set -euo pipefail
cd "$1"
build=$2
folders=("${@:3}")

# One process for each file, because clang-tidy uses one CPU. Long files come first, so that the last process does not
# run alone for long. Findings go to standard output; standard error has lines such as "N warnings generated".
# Sources for Windows are checked only in a build for Windows, which names their files or folders.
excluded=()
if [[ ${folders[0]} == platform || ${folders[0]} == cli ]]; then
    excluded=(-not -path '*/windows/*' -not -name '*_windows.c')
fi
# The replacements of Windows' headers have Windows' names, which are reserved here.
[[ ${folders[0]} != examples ]] || excluded=(-not -name 'busy_*.c')
# clang's static analyzer takes nine tenths of the time, so it examines 50,000 of its usual 225,000 states per function,
# unless PERFBLOCK_ANALYZER_STATES says otherwise.
options=(--quiet -p "$build")
for argument in -Xclang -analyzer-config -Xclang "max-nodes=${PERFBLOCK_ANALYZER_STATES:-50000}"; do options+=("--extra-arg=$argument"); done
log="$build/clang_tidy_${folders[0]//\//_}.log"
if ! find "${folders[@]}" -name '*.c' "${excluded[@]}" -printf '%s\t%p\0' | sort -z -rn | cut -z -f 2 |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy "${options[@]}" 2>"$log"; then
    grep -v "warnings generated\.$" "$log" >&2 || true
    exit 1
fi
