#!/usr/bin/env bash
# clang-format finds nothing to change in any C or C++ file. Usage: clang_format.sh SOURCE_DIR
set -euo pipefail
cd "$1"

# Named folders instead of the version control's list: an unpacked release is checked as well.
find core platform cli fuzz tests bench examples \( -name '*.[ch]' -o -name '*.cc' \) -print0 | xargs -0 clang-format --dry-run --Werror
