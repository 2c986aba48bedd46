#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The library stays within 32 MiB + 64 bytes of the host's memory per live allocation,
# and grows by at most an entry and its slot in a table that has just doubled.
# Sizes, not times, and only memory of its own: the same on any machine. How much of a library's
# pages counts in PSS depends on how many other processes use it.
# Usage: check_footprint.sh LIBRARY SIMULATOR_DIR BENCH_LIVE
set -eu
library=$1 simulator=$2 program=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH="$simulator" VRAMSCOPE_SIMULATE=h200-141g,malloc_us=0,free_us=0
export VRAMSCOPE_OUTPUT="$work/%p.vst"

memory() { # COUNT ALLOCATOR
    if [ "$2" = alone ]; then
        "$program" "$1"
    else
        LD_PRELOAD=$library VRAMSCOPE_ALLOCATOR=$2 "$program" "$1"
    fi | cut -d' ' -f2
    rm -f "$work"/*.vst*
}
hold() { # WHAT IS AT_MOST
    [ "$2" -le "$3" ] || { echo "$1: $2 KiB, more than $3" && exit 1; }
    echo "$1: $2 KiB of at most $3"
}

few=50000 many=200000
none=$(memory 0 alone) alone_few=$(memory $few alone) alone_many=$(memory $many alone)
at_most=$((32 * 1024 + 64 * many / 1024)) grows=$((88 * (many - few) / 1024))
observe_few=$(($(memory $few observe) - alone_few)) observe_many=$(($(memory $many observe) - alone_many))
hold "observe, nothing live" $(($(memory 0 observe) - none)) 4096
hold "observe, $many live" $observe_many $at_most
hold "observe, from $few to $many" $((observe_many - observe_few)) $grows
caching_few=$(($(memory $few caching) - none)) caching_many=$(($(memory $many caching) - none))
hold "caching, nothing live" $(($(memory 0 caching) - none)) 4096
hold "caching, $many live" $caching_many $at_most
hold "caching, from $few to $many" $((caching_many - caching_few)) $grows
