#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Instructions per alloc+free pair, counted by valgrind: repeatable to a fraction of
# a per cent however busy the machine is. Each load runs for 1 and for 1 + LAPS laps;
# the difference, minus the benchmark's own instructions, is the steady state's.
# Usage: count_instructions.sh BUILD_DIR [BENCH-ARG...]
#   scripts/bench-peers --count    the peers on the simulated device too
set -eu
build=${1:?usage: count_instructions.sh BUILD_DIR [BENCH-ARG...]}
shift
command -v valgrind >/dev/null || { echo "count_instructions: needs valgrind" >&2; exit 1; }
names=${BENCH_CONTENDERS:-ours host}
laps=4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
traces=$(find "$build/tests/bench/allocator" -name '*.events' | sort)

# count CONTENDER LOAD LAPS BENCH-ARG...: instructions of the whole run; the pairs of
# a lap go to $work/pairs
count() {
    contender=$1 load=$2 n=$3
    shift 3
    # shellcheck disable=SC2086  # the traces are a list
    valgrind --tool=callgrind --callgrind-out-file="$work/out" \
        "$build/tests/bench_allocator" "$@" --laps "$contender" "$load" "$n" $traces \
        >"$work/pairs" 2>"$work/log" || { cat "$work/log" >&2; return 1; }
    sed -n 's/^\(totals\|summary\): *//p' "$work/out" | head -n 1
}

per_pair() { # CONTENDER LOAD BENCH-ARG...
    who=$1 what=$2
    shift 2
    few=$(count "$who" "$what" 1 "$@") && many=$(count "$who" "$what" $((1 + laps)) "$@") || return 1
    awk -v d=$((many - few)) -v laps=$laps -v pairs="$(tail -n 1 "$work/pairs")" \
        'BEGIN { printf "%.1f", d / laps / pairs }'
}

printf '%-34s' "instructions per alloc+free pair"
for name in $names; do printf ' %9s' "$name"; done
echo
status=0
for load in "4 KiB" "1 GiB" "replace one" serving variable-length ctx1024_inf ctx128_train; do
    case $load in ctx*) [ -n "$traces" ] || continue ;; esac
    base=$(per_pair nothing "$load" "$@")
    printf '  %-32s' "$load"
    for name in $names; do
        if all=$(per_pair "$name" "$load" "$@"); then
            printf ' %9.0f' "$(awk -v a="$all" -v b="$base" 'BEGIN { print a - b }')"
        else
            printf ' %9s' failed && status=1
        fi
    done
    echo
done
exit $status
