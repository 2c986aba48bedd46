#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What standing in front costs: allocate-and-free pairs on the simulated GPU with
# its own latencies set to zero, alone and under each way of recording, and the
# start of a process that never uses CUDA. Medians, and ratios to the first line.
# Usage: bench_preload.sh BUILD_DIR
set -eu
build=${1:?usage: bench_preload.sh BUILD_DIR}
library=$build/lib/libvramscope.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH="$build/lib/vramscope/simulator" VRAMSCOPE_SIMULATE="h100-80g,malloc_us=0,free_us=0"
export VRAMSCOPE_OUTPUT="$work/%p.vst"

pairs() { "$build/tests/bench_pairs" 20000 16; }
row() { # NAME NS
    awk -v name="$1" -v ns="$2" -v base="$base" \
        'BEGIN { printf "%-44s %8.0f ns  %6.2fx\n", name, ns, ns / base }'
}
base=$(pairs)
echo "allocate-and-free pair of 1 MiB, 18 frames deep, one thread"
row "alone (the simulated driver's own cost)" "$base"
for stacks in none native; do
    for how in observe caching; do
        ns=$(LD_PRELOAD=$library VRAMSCOPE_ALLOCATOR=$how VRAMSCOPE_STACKS=$stacks pairs)
        row "$how, stacks=$stacks" "$ns"
    done
done

start() { # median of 21 runs of /bin/true, in microseconds
    for _ in $(seq 21); do
        a=$(date +%s%N); /bin/true; b=$(date +%s%N)
        echo $(((b - a) / 1000))
    done | sort -n | sed -n 11p
}
unset LD_LIBRARY_PATH
alone=$(start)
with=$(export LD_PRELOAD="$library"; start)
echo "a process that never uses CUDA: $alone us alone, $with us with the library preloaded" \
    "(the second includes preloading it into date)"
