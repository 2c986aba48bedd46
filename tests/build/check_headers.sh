#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every header compiles alone, public ones also as C99 and, where there is a C++
# compiler, as C++; the build has compiled those that a source includes before anything else. Tables
# (*_table.h) hold rows for a macro that the includer defines: they must include nothing, and some
# header or source must include them.
#
#   check_headers.sh ROOT CC CUDA-INCLUDE-DIRS TABLES
#
# CUDA-INCLUDE-DIRS: separated by ';', may be empty. TABLES: the folder above
# simulator/generated/ and intercept/generated/, which cmake/*_tables.py wrote; headers of the simulator are skipped where
# there is none.
set -u
root=$1 cc=$2
IFS=';' read -r -a cuda <<<"${3:-}"
tables=${4:-}
cd "$root" || exit 2

flags=(-fsyntax-only -Wall -Wextra -Werror -Isrc -Iinclude -I.)
cuda_flags=()
for dir in "${cuda[@]}"; do cuda_flags+=(-isystem "$dir"); done
cuda_flags+=(${cuda_flags:+-I"$tables/simulator" -I"$tables/intercept"})
first=$'\n'$(grep -rhm1 --include='*.c' '^#' src tools examples)$'\n' # line of each source that is not a comment
failed=0 checked=0 skipped=0 built=0

fail() {
    echo "$*"
    failed=$((failed + 1))
}

# compile HEADER FLAG...: as a file with this one include
compile() {
    local header=$1 why
    shift
    why=$(printf '#include "%s"\n' "$PWD/$header" | "$cc" "${flags[@]}" "$@" - 2>&1) ||
        fail "$header does not compile alone ($*):"$'\n'"$why"
}

check_table() {
    ! grep -nE '^[ \t]*#[ \t]*include' "$1" || fail "$1: a table includes nothing itself"
    grep -rqF --include='*.[ch]' "#include \"${1#src/}\"" src tools ||
        fail "$1: no file includes this table as \"${1#src/}\""
}

while IFS= read -r header; do
    if [[ $header != *_table.h && $first == *$'\n#include "'"${header#src/}"$'"\n'* ]]; then
        built=$((built + 1))
        continue
    fi
    case $header in
    *_table.h)
        check_table "$header"
        ;;
    src/intercept/* | src/simulator/* | examples/*)
        if [ ${#cuda_flags[@]} -eq 0 ] || [[ $header == src/simulator/* && ! -d $tables/simulator/generated ]]; then
            skipped=$((skipped + 1))
            continue
        fi
        compile "$header" -x c -std=gnu11 -Wstrict-prototypes "${cuda_flags[@]}"
        ;;
    include/*)
        compile "$header" -x c -std=c99 -pedantic -Wstrict-prototypes
        if echo | "$cc" -fsyntax-only -x c++ - 2>/dev/null; then
            compile "$header" -x c++ -std=c++11
        fi
        ;;
    *)
        compile "$header" -x c -std=gnu11 -Wstrict-prototypes
        ;;
    esac
    checked=$((checked + 1))
done < <(find src include tools examples -name '*.h' | sort)

echo "$checked headers checked, $built in the build, $failed failures, $skipped skipped for want of CUDA headers"
[ "$checked" -gt 0 ] && [ "$failed" -eq 0 ]
