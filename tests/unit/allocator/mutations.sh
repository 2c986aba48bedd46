#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that the differential test finds bugs. Each line below is one: a file of
# src/allocator and a substitution that changes exactly one line of it. The changed
# allocator is compiled beside the tree and run against the reference model; the
# test must find a difference, or crash, within STEPS steps of each configuration.
#
#   tests/unit/allocator/mutations.sh [BUILD_DIR [STEPS [PATTERN]]]
#
# BUILD_DIR (build/dev) gives libvs_base.a. Ends with 1 when a mutation was not
# found or when its line is not there any more: then change it here.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
build=${1:-build/dev} steps=${2:-40000} pattern=${3:-.}
[ -f "$build/lib/libvs_base.a" ] || { echo "mutations: build $build first" >&2; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
seed=20260101

# name | file | substitution
mutations='
a rest of 1 MiB is split off              | placement.h      | s/rest > VS_SMALL_MAX/rest >= VS_SMALL_MAX/
a rest of 512 B stays in a small block    | placement.h      | s/return rest >= VS_BLOCK_MIN/return rest > VS_BLOCK_MIN/
1 MiB is a large request                  | allocator_internal.h | s/rounded <= policy->small_max/rounded < policy->small_max/
divisions of the next slot                | placement.h      | s/log < 20 ? 0 : log - 20/log < 20 ? 0 : log - 19/
oversize slack includes its bound         | placement.h      | s/return size < rounded + non_split_rounding/return size <= rounded + non_split_rounding/
oversize blocks serve small requests      | placement.h      | s/return size < max_split;/return size <= max_split;/
a fraction refuses at its bound           | segments.c       | s/a->reserved_bytes + size > a->allowed_bytes/a->reserved_bytes + size >= a->allowed_bytes/
segments of the mean age stay             | segments.c       | s/(double)age >= mean_age/(double)age > mean_age/
a collection has one round                | segments.c       | s/while (a->reserved_bytes > threshold) {/for (int round = 0; !round++ \&\& a->reserved_bytes > threshold;) {/
too few oversize bytes are enough         | segments.c       | s/return released >= size;/return true;/
the retry is not counted                  | segments.c       | s/a->counters.num_alloc_retries++;//
ages are not renewed                      | allocator.c      | s/block->segment->idle_since = a->searches\[pool->kind\];//
a used block is cached at once            | allocator.c      | s/if (block->used.has_uses)$/if (false)/
a free counts as covered by a running sync | allocator.c     | s/VS_REUSE_AFTER_SYNC ? a->sync_started + 1 : 0/VS_REUSE_AFTER_SYNC ? a->sync_started : 0/
the same, on the fast path                | fast_path.c      | s/VS_REUSE_AFTER_SYNC ? a->sync_started + 1 : 0/VS_REUSE_AFTER_SYNC ? a->sync_started : 0/
a merge keeps the older mark              | block_ops.h      | s/if (other->idle.safe_after > block->idle.safe_after)/if (other->idle.safe_after < block->idle.safe_after)/
an event counts as complete               | stream_events.c  | s/\&ready) \&\& ready)/\&ready))/
uses of a capture get events              | stream_events.c  | s/if (note->captured) {/if (false) {/
a use stays part of the graph             | stream_events.c  | s/n->captured = n->captured \&\& captured;/n->captured = n->captured;/
events are recorded during captures       | stream_events.c  | s/a->captures ? \&a->held_tail : \&a->deferred_tail/false ? \&a->held_tail : \&a->deferred_tail/
the peak of both pools is one pool'"'"'s       | statistics.h     | s/if (all > counter->peak\[VS_STAT_ALL\])/if (level > counter->peak[VS_STAT_ALL])/
an expandable best fit that can grow as far is passed over | policy_expandable.c | s/reach(next) >= reach(block)/reach(next) > reach(block)/
growing ignores the free block before     | policy_expandable.c | s/available(block->prev) ? block->prev : block/block/
address space given back stays in pieces   | ranges.c         | s/merge_unmapped(block, block->prev);//
a request maps more than it misses         | policy_expandable.c | s/uint64_t missing = size - block->size;/uint64_t missing = size;/
inactive splits miss one neighbour        | fast_path.c      | s/if (prev || next)/if (prev)/
an open pool is no capture                | private_pools.c  | s/^    a->captures++;//
any stream uses the pool                  | private_pools.c  | s/if (!scope->filter || scope->filter(scope->ctx, stream))/if (true)/
large memory of a pool goes first         | private_pools.c  | s/enum vs_err small = vs_segment_release_kind_locked(a, \&pool->streams, VS_POOL_SMALL, released);/(void)vs_segment_release_kind_locked(a, \&pool->streams, VS_POOL_LARGE, released); &/
the highest of equal blocks is taken      | free_index.c     | s/return block->addr < at.addr;/return block->addr > at.addr;/
ties go by the address alone              | free_index.c     | s/expect(at.by_age, false)/expect(false, false)/
the newest segment of ties is taken       | free_index.c     | s/return block->segment->number < segment->number;/return block->segment->number > segment->number;/
ages are the reverse                      | segments.c       | s/.number = a->segments_made++/.number = ~a->segments_made++/
'

flags=(-std=gnu11 -O1 -g -w -Itests -Itests/unit/allocator)
compile() { "${CC:-cc}" "${flags[@]}" "${@:3}" -c "$1" -o "$2" || { echo "mutations: $1 does not compile" >&2; return 1; }; }

mkdir "$work/test" "$work/plain"
for source in tests/unit/allocator/differential/{differential_*,reference_*,test_allocator_differential}.c \
              tests/support/fake_{device,memory}.c; do
    compile "$source" "$work/test/$(basename "${source%.c}").o" -Isrc || exit 1
done
for source in src/allocator/*/*.c; do
    compile "$source" "$work/plain/$(basename "${source%.c}").o" -Isrc || exit 1
done

# run DIR: the test with the objects of DIR; its output is in $work/out
run() {
    "${CC:-cc}" "$work"/test/*.o "$1"/*.o "$build/lib/libvs_base.a" -lcmocka -lpthread \
        -o "$work/run" || return 2
    timeout 120 "$work/run" "$steps" "$seed" '*' brief > "$work/out" 2>&1
}

run "$work/plain" || { tail -3 "$work/out"; echo "mutations: it fails without any" >&2; exit 1; }

found=0 missed=0 stale=0
while IFS='|' read -r name file change; do
    file=$(echo $file)
    change=${change# }
    [ -n "$file" ] && [[ "$name" =~ $pattern ]] || continue
    rm -rf "$work/src" "$work/mutant"
    mkdir -p "$work/src" && cp -r src/allocator "$work/src/" && cp -r "$work/plain" "$work/mutant"
    file=$(cd src/allocator && ls */"$file")
    sed -i "$change" "$work/src/allocator/$file"
    if [ "$(diff "src/allocator/$file" "$work/src/allocator/$file" | grep -c '^>')" != 1 ]; then
        printf 'stale   %s\n' "$name"
        stale=$((stale + 1))
        continue
    fi
    case $file in
    *.c) changed=("$work/src/allocator/$file") ;;
    *) changed=("$work"/src/allocator/*/*.c) ;;
    esac
    for source in "${changed[@]}"; do
        compile "$source" "$work/mutant/$(basename "${source%.c}").o" "-I$work/src" -Isrc || exit 1
    done
    if run "$work/mutant"; then
        printf 'MISSED  %s\n' "$name"
        missed=$((missed + 1))
    else
        printf 'found   %s: %s\n' "$name" \
            "$(grep -aoE 'found after.*|signal.*|[a-z_]+ never ran' "$work/out" | head -1 | cut -c1-140)"
        found=$((found + 1))
    fi
done <<< "$mutations"
echo "$found found, $missed missed, $stale stale"
[ $missed = 0 ] && [ $stale = 0 ]
