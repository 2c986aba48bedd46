#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The cost of the preloaded library: allocate-and-free pairs on the simulated GPU with
# its latencies set to zero, alone and with each kind of recording. Best and median of
# 400 short rounds; ratios of the best to the simulated driver's own pair and to the C
# library's malloc and free in the same run. The program's own calls before an
# allocation, and the reading of the clock, are measured too and subtracted.
# Usage: bench_preload.sh BUILD_DIR
set -eu
build=${1:?usage: bench_preload.sh BUILD_DIR}
library=$build/lib/libvramscope.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH="$build/lib/vramscope/simulator" VRAMSCOPE_SIMULATE="h100-80g,malloc_us=0,free_us=0"
export VRAMSCOPE_OUTPUT="$work/%p.vst"

figures() { # NAME OFF "BEST MEDIAN"
    echo "$3" | awk -v name="$1" -v off="$2" -v bare="${bare%% *}" -v libc="${libc%% *}" \
        '{ b = $1 - off; m = $2 - off
           printf "  %-46s %8.0f %8.0f ns  %8.3fx %7.1fx\n", name, b, m, b / bare, b / libc }'
}
pairs() { "$build/tests/bench_pairs" "$@"; }
under() { # ALLOCATOR STACKS ARGUMENTS...
    how=$1 stacks=$2
    shift 2
    LD_PRELOAD=$library VRAMSCOPE_ALLOCATOR=$how VRAMSCOPE_STACKS=$stacks pairs "$@"
    rm -f "$work"/*.vst*
}
untraced() { VRAMSCOPE_RECORD=off under caching none "$@"; }

large=20971520
libc=$(pairs malloc)
calls=$(pairs calls 20) calls=${calls%% *}
short=$(pairs calls 2) short=${short%% *}
few=$(pairs calls 2 1 0 16) few=${few%% *}
fewdeep=$(pairs calls 20 1 0 16) fewdeep=${fewdeep%% *}
bare=$(pairs hit 2)
deep="recorded, stacks=native, 20 frames, 8 sites"
echo "one allocate-and-free pair; the program's own calls and the clock ($calls ns at 20 frames) taken off"
printf '  %-46s %8s %8s     %9s %8s\n' "" best median "/ driver" "/ malloc"
figures "malloc and free of 512 bytes" 0 "$libc"
figures "the simulated driver alone" "$short" "$bare"
echo "cache hit, 16 blocks of 20 MiB, the program synchronises now and then (untimed):"
figures "untraced (record=off)" "$few" "$(untraced hit 2 1 $large 16)"
figures "recorded, stacks=none" "$few" "$(under caching none hit 2 1 $large 16)"
figures "$deep" "$fewdeep" "$(under caching native hit 20 1 $large 16)"
echo "the same with 256 blocks:"
figures "untraced (record=off)" "$short" "$(untraced hit 2 1 $large 256)"
figures "recorded, stacks=none" "$short" "$(under caching none hit 2 1 $large 256)"
figures "$deep" "$calls" "$(under caching native hit 20 1 $large 256)"
echo "64 blocks of 512 bytes, which are split and merged:"
figures "untraced (record=off)" "$short" "$(untraced hit 2 1 512)"
figures "recorded, stacks=none" "$short" "$(under caching none hit 2 1 512)"
figures "$deep" "$calls" "$(under caching native hit 20 1 512)"
echo "one block freed and asked for at once, the device synchronised at each reuse:"
figures "untraced (record=off)" "$short" "$(untraced resync 2)"
figures "recorded, stacks=none" "$short" "$(under caching none resync 2)"
figures "$deep" "$calls" "$(under caching native resync 20)"
echo "the stream-ordered entry points, cache hit, 64 blocks of 20 MiB of one stream:"
figures "untraced (record=off)" "$short" "$(untraced entry 2)"
figures "recorded, stacks=none" "$short" "$(under caching none entry 2)"
figures "$deep" "$calls" "$(under caching native entry 20)"
echo "wall time over all pairs of several threads in one context, cache hit, 64 blocks each:"
for threads in 1 2 4; do
    figures "untraced, $threads thread(s)" 0 "$(untraced hit 2 $threads)"
    figures "recorded, stacks=none, $threads thread(s)" 0 "$(under caching none hit 2 $threads)"
    figures "recorded, stacks=native, 20 frames, $threads thread(s)" 0 "$(under caching native hit 20 $threads)"
done
echo "allocator=observe, the driver's own work included:"
figures "stacks=none" "$short" "$(under observe none hit 2)"
figures "stacks=native, 20 frames" "$calls" "$(under observe native hit 20)"
