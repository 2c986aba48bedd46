/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan reader and the follower on any bytes. Input: a byte of flags, a byte of seed, the rest
 * is the file. Flag 1 first corrects length and checksum, so that the code after these checks is
 * reached. An accepted plan is followed with its own requests and deviations drawn from the seed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "allocator/plan/plan_follow.h"

#define MAKE_RIGHT 1u
#define REQUESTS 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool right)
{
    if (!right)
        abort();
}

static void make_right(uint8_t *file, size_t size)
{
    struct vs_plan_header h;
    if (size < sizeof h)
        return;
    memcpy(&h, file, sizeof h);
    h.file_bytes = size;
    h.checksum = 0;
    memcpy(file, &h, sizeof h);
    h.checksum = XXH64(file, size, 0);
    memcpy(file, &h, sizeof h);
}

static void follow(const struct vs_plan *plan, uint32_t stream, uint64_t seed)
{
    const struct vs_plan_stream *s = &plan->streams[stream];
    struct vs_follow f;
    uint64_t seen = 0;
    check(vs_follow_init(&f, plan, stream) == VS_OK);
    for (uint32_t i = 0; i < REQUESTS && f.count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t granules = seed >> 60 ? f.entries[i % f.count].granules : seed >> 40;
        const struct vs_plan_entry *e = vs_follow_request(&f, granules * VS_PLAN_GRANULE - (granules > 0));
        seen++;
        check(f.followed + f.deviated == seen);
        if (e) {
            check(e >= f.entries && e < f.entries + f.count && e->granules);
            check(e->offset == VS_PLAN_NONE ||
                  (uint64_t)e->offset + e->granules <= s->granules);
        }
    }
    vs_follow_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_plan plan;
    char why[VS_PLAN_WHY_MAX];
    if (size < 2)
        return 0;
    uint8_t *file = malloc(size);
    check(file != NULL);
    memcpy(file, data + 2, size - 2);
    if (data[0] & MAKE_RIGHT)
        make_right(file, size - 2);
    if (vs_plan_open_bytes(file, size - 2, &plan, why) == VS_OK) {
        for (uint32_t i = 0; i < plan.header->stream_count; i++)
            follow(&plan, i, data[1]);
        vs_plan_close(&plan);
    }
    free(file);
    return 0;
}
