/* SPDX-License-Identifier: Apache-2.0
 *
 * make_ranks_page RANKS STEPS: the page of `vramscope merge` of so many ranks, without their traces. Rank 3 holds
 * more from the middle on and runs out of memory first; in steps 6 to 8 all ranks but one do less. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "viewer/merge/merge_output.h"

#define MIB (UINT64_C(1) << 20)

int main(int argc, char **argv)
{
    size_t count = argc == 3 ? strtoul(argv[1], NULL, 10) : 0, steps = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    struct vs_rank *ranks = calloc(count + 1, sizeof *ranks);
    if (count < 5 || steps < 10 || !ranks)
        return 2;
    for (size_t i = 0; i < count; i++) {
        struct vs_rank *rank = &ranks[i];
        char text[64];
        *rank = (struct vs_rank){.program = "train", .host = "node", .boot = "boot", .total_bytes = 8192 * MIB, .steps_done = steps,
                                 .step_ns = 5000000 + i, .ended = true, .end_reason = VS_END_EXIT, .condition = VS_TRACE_COMPLETE,
                                 .condition_text = "complete", .failed = i == 3, .failed_bytes = 64 * MIB, .failed_ns = 1000};
        snprintf(text, sizeof text, "rank %zu", i);
        rank->name = strdup(text);
        snprintf(text, sizeof text, "job/node.%zu.vst", i);
        rank->path = strdup(text);
        rank->steps = (struct vs_meetings){calloc(steps, sizeof *rank->steps.items), i == 3 ? steps - 2 : steps, steps, 1};
        for (size_t s = 0; s < rank->steps.count; s++) {
            uint64_t peak = 4096 * MIB + (i * 7 + s * 3) % 11 * MIB;
            peak += i == 3 && s > steps / 2 ? 2048 * MIB : 0;
            peak -= s / 3 == 2 && i != 4 ? 3000 * MIB : 0;
            rank->steps.items[s] = (struct vs_meeting){.number = s, .peak_bytes = peak};
            rank->peak_bytes = peak > rank->peak_bytes ? peak : rank->peak_bytes;
        }
        rank->reserved_bytes = rank->peak_bytes + 100 * MIB;
    }
    struct vs_merge merge = {.ranks = ranks, .count = count, .machines = 1, .length_ns = 1000000000, .straggler = VS_RANK_NONE,
                             .first_failed = 3, .failed_first_sure = true, .failed_count = 1,
                             .peak = {(uint32_t)count, 4090 * MIB, 4106 * MIB, ranks[3].peak_bytes, 3, 4090 * MIB, 4106 * MIB},
                             .reserved = {.outlier = VS_RANK_NONE}, .step = {.outlier = VS_RANK_NONE}};
    vs_merge_page(&merge, stdout);
    return 0; /* the process frees its memory by ending */
}
