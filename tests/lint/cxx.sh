#!/usr/bin/env bash
# Checks that every public header can be compiled as C++, and without including others first. Usage: cxx.sh SOURCE_DIR
set -euo pipefail
cd "$1"

find core/include core/cpi/include core/lwp/include platform/include -name '*.h' -print0 |
    while IFS= read -r -d '' header; do
        clang -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
            -I core/include -I core/cpi/include -I core/lwp/include -I platform/include "$header"
    done
