#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the benchmark runs: few pairs, no figures compared. Every load allocates and
# frees everything, in every table, and an unknown argument is rejected.
# Usage: check_smoke.sh BENCH_ALLOCATOR
set -eu
out=$("$1" --quick)
for row in "1 thread: pairs" "2 threads, one stream: pairs" "2 threads, a stream each: calls" \
    "4 threads, a stream each: pairs" "1 GiB" "program serving" "program varlen" \
    "given back by another thread" "alloc, p99.9"; do
    echo "$out" | grep -q "$row" || { echo "no row '$row' in:"; echo "$out"; exit 1; }
done
# a figure in every row of pairs is a number above zero
echo "$out" | awk '/pairs/ { pairs = 1; next } /calls/ || NF == 0 { pairs = 0 }
    pairs && $(NF - 2) + 0 <= 0 { print "not a figure: " $0; bad = 1 } END { exit bad }'
test "$("$1" --laps ours serving 2)" -gt 1000
if "$1" --no-such-option 2>/dev/null; then echo "an unknown option was taken"; exit 1; fi
if "$1" --laps nobody serving 1 2>/dev/null; then echo "an unknown contender ran"; exit 1; fi
