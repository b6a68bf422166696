#!/usr/bin/env bash
# Checks that clang-format would change no C or C++ file. Usage: clang_format.sh SOURCE_DIR
set -euo pipefail
cd "$1"

# Lists the files without Git, so that an unpacked release can be checked as well.
find core platform cli fuzz tests bench examples \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp' \) -print0 | xargs -0 clang-format --dry-run --Werror
