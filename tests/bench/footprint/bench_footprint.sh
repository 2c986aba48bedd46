#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The library's cost on the host: its memory with a number of live allocations, and
# the time that preloading it adds to a process that never uses CUDA. The memory is
# Pss of the whole process, minus that of the same program without the library; with
# the cache the driver itself has almost no allocations, so that the program without
# allocations is subtracted. The target is 32 MiB + 64 bytes per live allocation,
# and 1 ms.
# Usage: bench_footprint.sh BUILD_DIR [COUNT...]
set -eu
build=${1:?usage: bench_footprint.sh BUILD_DIR [COUNT...]}
shift
[ $# -gt 0 ] || set -- 0 1000 100000 1000000
library=$(realpath "$build/lib/libvramscope.so")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

live() { # MEDIAN OF THREE: COUNT [VARIABLE=VALUE...]
    n=$1
    shift
    for _ in 1 2 3; do
        env LD_LIBRARY_PATH="$build/lib/vramscope/simulator" \
            VRAMSCOPE_SIMULATE=h200-141g,malloc_us=0,free_us=0 VRAMSCOPE_OUTPUT="$work/%p.vst" \
            "$@" "$build/tests/bench_live" "$n"
        rm -f "$work"/*.vst*
    done | sort -n | sed -n 2p
}
row() { # NAME COUNT "PSS DIRTY" "PSS DIRTY taken off"
    echo "$3 $4" | awk -v name="$1" -v n="$2" '{
        more = $1 - $3
        target = 32 * 1024 + 64 * n / 1024
        printf "  %-26s %9d live  %8.1f MiB of at most %6.1f  %s\n", name, n, more / 1024,
               target / 1024, more <= target ? "" : "TOO MUCH" }'
}

echo "memory of the host, by /proc/self/smaps_rollup:"
none=$(live 0)
for n in "$@"; do
    alone=$(live "$n")
    row "observe" "$n" "$(live "$n" LD_PRELOAD="$library" VRAMSCOPE_ALLOCATOR=observe)" "$alone"
    row "observe, stacks=none" "$n" \
        "$(live "$n" LD_PRELOAD="$library" VRAMSCOPE_ALLOCATOR=observe VRAMSCOPE_STACKS=none)" "$alone"
    row "caching" "$n" "$(live "$n" LD_PRELOAD="$library" VRAMSCOPE_ALLOCATOR=caching)" "$none"
    row "caching, policy=compact" "$n" \
        "$(live "$n" LD_PRELOAD="$library" VRAMSCOPE_ALLOCATOR=caching VRAMSCOPE_POLICY=compact)" "$none"
done

echo "the start of a process that never uses CUDA, 500 runs of each in turn:"
printf '  /bin/true: '
"$build/tests/bench_start" 500 "$library" /bin/true || true
echo "  the library: $(size "$library" | awk 'NR == 2 { print $1 + $2 }') bytes of text and data," \
    "$(readelf -rW "$library" | grep -c R_) relocations, needs" \
    "$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')"
