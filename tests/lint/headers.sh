#!/usr/bin/env bash
# Checks that every public header can be compiled as C and as C++, and without including others first. Replacements of
# Windows' headers need C99 or C++11, with the system's extensions.
# Usage: headers.sh SOURCE_DIR
set -euo pipefail
cd "$1"

include=(-I core/include -I core/cpi/include -I core/lwp/include -I platform/include)
find core/include core/cpi/include core/lwp/include platform/include -name '*.h' -print0 |
    while IFS= read -r -d '' header; do
        for language in 'gcc -x c -std=c11' 'clang -x c -std=c11' 'clang -x c++ -std=c++11'; do
            $language -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only "${include[@]}" -include "$header" - <<<"typedef int unit;"
        done
    done

for header in platform/compat/*.h; do
    for language in 'gcc -x c -std=gnu99' 'gcc -x c -std=gnu99 -DUNICODE -fshort-wchar' 'clang -x c -std=gnu11 -fshort-wchar' \
        'gcc -x c++ -std=gnu++11 -fshort-wchar' 'clang -x c++ -std=gnu++11 -DUNICODE -fshort-wchar'; do
        $language -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -I platform/compat "${include[@]}" -include "$header" - <<<"typedef int unit;"
    done
done
