/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope's allocator in the benchmark, on the tests' fake device: measures the allocator alone.
 * Also the contender that does nothing. */
#include <stdlib.h>

#include "bench_contender.h"
#include "support/fake_device.h"

struct ours {
    struct fake_device device;
    struct vs_allocator *allocator;
};

static void *open_with(const struct vs_allocator_config *config)
{
    struct ours *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    fake_device_init(&o->device, UINT64_C(1) << 42);
    if (!vs_allocator_create(config, &fake_device_ops, &o->device, NULL, NULL, &o->allocator))
        return o;
    fake_device_free(&o->device);
    free(o);
    return NULL;
}

static void ours_close(void *self)
{
    struct ours *o = self;
    vs_allocator_destroy(o->allocator);
    fake_device_free(&o->device);
    free(o);
}

static uint64_t ours_take(void *self, uint64_t bytes, unsigned stream)
{
    struct ours *o = self;
    struct vs_allocation got;
    return vs_allocator_malloc(o->allocator, bytes, stream, &got) ? 0 : got.addr;
}

static void ours_give(void *self, uint64_t addr, uint64_t bytes, unsigned stream)
{
    struct ours *o = self;
    (void)bytes, (void)stream;
    if (vs_allocator_free(o->allocator, addr))
        abort(); /* the benchmark frees each block exactly once */
}

#define VS_POLICY(ID, row, option)                                                             \
    static void *row##_open(void)                                                              \
    {                                                                                          \
        static const struct vs_allocator_config config = {.policy = VS_POLICY_##ID,            \
                                                          .reuse = VS_REUSE_STREAM_ORDERED};   \
        return open_with(&config);                                                             \
    }                                                                                          \
    static const struct bench_contender row##_contender = {                                    \
        #row, "vramscope's allocator, policy " #row, row##_open, ours_close, ours_take,        \
        ours_give};
#include "base/vs_policy_table.h"
#undef VS_POLICY

const struct bench_contender *const bench_policies[] = {
#define VS_POLICY(ID, row, option) &row##_contender,
#include "base/vs_policy_table.h"
#undef VS_POLICY
    NULL};

const struct bench_contender bench_ours = {
    "ours", "vramscope's allocator, policy pytorch, on a device that answers at once", pytorch_open,
    ours_close, ours_take, ours_give};

static void *nothing_open(void)
{
    static char self;
    return &self;
}

static void nothing_close(void *self) { (void)self; }

static uint64_t nothing_take(void *self, uint64_t bytes, unsigned stream)
{
    (void)self, (void)stream;
    return bytes;
}

static void nothing_give(void *self, uint64_t addr, uint64_t bytes, unsigned stream)
{
    (void)self, (void)addr, (void)bytes, (void)stream;
}

const struct bench_contender bench_nothing = {"nothing",    "two calls that return at once",
                                              nothing_open, nothing_close,
                                              nothing_take, nothing_give};
