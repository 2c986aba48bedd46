/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the random programs of this folder: draws, blocks, the steps of a program, and the one
 * kernel. A program brings its ways to allocate, use and free (struct memory). The kernel
 * checks its block before it writes: the value of the last kernel, at both ends and in between,
 * unless the block is new. The programs are correct: when a block moves to another stream, that
 * stream waits. So every report of the simulated GPU's checker, and every changed value that a
 * kernel finds, is a bug of the allocator. */
#ifndef SAFETY_H
#define SAFETY_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vramscope_simulator.h"

#define MIB ((uint64_t)1 << 20)
#define STREAMS 4
#define BLOCKS_MAX 48
#define STEPS 160
#define SAMPLES 24
#define SAMPLE_WORDS 16

/* --- failures --- */

static inline void must(CUresult e, const char *call, int line)
{
    if (e) {
        fprintf(stderr, "safety: line %d: %s: %d\n", line, call, (int)e);
        exit(3);
    }
}
#define OK(call) must((call), #call, __LINE__)

static inline void require(int holds, const char *what, int line)
{
    if (!holds) {
        fprintf(stderr, "safety: line %d: %s\n", line, what);
        exit(3);
    }
}
#define REQUIRE(what) require((what), #what, __LINE__)

static uint64_t random_state;

static inline uint64_t draw(uint64_t below)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t z = random_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

/* --- the kernel --- */

static atomic_uint changed; /* words that differed from the last kernel's value */

/* touch(uint64 *block, uint64 words, uint64 was, uint64 is, unsigned us): *was* 0: new */
static inline void touch(const struct vramscope_sim_launch *l, unsigned long first, unsigned long last)
{
    uint64_t *block = *(uint64_t **)l->args[0], words = *(uint64_t *)l->args[1],
             was = *(uint64_t *)l->args[2], is = *(uint64_t *)l->args[3];
    unsigned us = *(unsigned *)l->args[4];
    (void)first, (void)last;
    if (us)
        usleep(us);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        uint64_t at = (words - SAMPLE_WORDS) / (SAMPLES - 1) * i;
        if (i == SAMPLES - 1)
            at = words - SAMPLE_WORDS;
        if (was)
            vramscope_sim_read(&block[at], SAMPLE_WORDS * sizeof *block);
        vramscope_sim_write(&block[at], SAMPLE_WORDS * sizeof *block);
        for (uint64_t k = 0; k < SAMPLE_WORDS; k++) {
            if (was && block[at + k] != was)
                atomic_fetch_add(&changed, 1);
            block[at + k] = is;
        }
    }
}

static CUfunction touch_function;

static inline void kernels(void)
{
    static const size_t args[] = {8, 8, 8, 8, 4};
    CUmodule module;
    REQUIRE(vramscope_sim_register("touch", touch, args, 5) == 1);
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&touch_function, module, "touch"));
}

/* --- streams and blocks --- */

static CUstream streams[STREAMS];

struct block {
    uint64_t addr, words;
    uint64_t home, at; /* streams: of its allocation, of its last kernel */
    uint64_t value;    /* of the last kernel; 0: none yet */
};

static struct block blocks[BLOCKS_MAX];
static unsigned block_count;
static uint64_t next_value;

static inline void launch(struct block *b, uint64_t stream)
{
    uint64_t is = ++next_value;
    unsigned us = draw(4) ? 0 : (unsigned)draw(150);
    void *args[] = {&b->addr, &b->words, &b->value, &is, &us};
    OK(cuLaunchKernel(touch_function, 1, 1, 1, 1, 1, 1, 0, streams[stream], args, NULL));
    b->value = is;
    b->at = stream;
}

static inline uint64_t draw_bytes(void)
{
    switch (draw(5)) {
    case 0: return SAMPLE_WORDS * SAMPLES * 8 + draw(64 << 10);
    case 1: return 4096 + draw(MIB);
    case 2: return MIB + draw(9 * MIB);
    case 3: return (1 + draw(8)) * 2 * MIB;
    default: return 10 * MIB + draw(40 * MIB);
    }
}

/* A kernel on the block, on its last stream or on another that waits for it. */
static inline void use(struct block *b)
{
    uint64_t stream = draw(3) ? b->at : draw(STREAMS);
    if (stream != b->at) {
        CUevent done;
        OK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
        OK(cuEventRecord(done, streams[b->at]));
        OK(cuStreamWaitEvent(streams[stream], done, 0));
        OK(cuEventDestroy(done));
    }
    launch(b, stream);
}

static inline void start(void)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    kernels();
    for (int i = 0; i < STREAMS; i++)
        OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
}

/* The program's ways to memory. */
struct memory {
    uint64_t (*allocate)(uint64_t bytes, uint64_t stream); /* 0: none available */
    void (*use)(unsigned block); /* a kernel by use(), and its record; NULL: use() alone */
    void (*free)(unsigned block);
    void (*other)(unsigned what); /* 92 and above: now and then */
};

static inline void release(const struct memory *memory, unsigned i)
{
    memory->free(i);
    blocks[i] = blocks[--block_count];
}

static inline void step(const struct memory *memory)
{
    unsigned what = (unsigned)draw(100);
    if (what < 42) {
        uint64_t bytes = draw_bytes(), stream = draw(STREAMS);
        uint64_t addr = block_count < BLOCKS_MAX ? memory->allocate(bytes, stream) : 0;
        if (!addr)
            return;
        blocks[block_count] =
            (struct block){.addr = addr, .words = bytes / 8, .home = stream, .at = stream};
        launch(&blocks[block_count++], stream);
    } else if (what < 66 && block_count) {
        unsigned i = (unsigned)draw(block_count);
        if (memory->use)
            memory->use(i);
        else
            use(&blocks[i]);
    } else if (what < 92 && block_count) {
        release(memory, (unsigned)draw(block_count));
    } else if (what == 92) {
        OK(cuStreamSynchronize(streams[draw(STREAMS)]));
    } else if (what > 92) {
        memory->other(what);
    }
}

/* The steps of a program; then all is freed, and ends the process if a kernel found a changed
 * value. */
static inline void run(const struct memory *memory, uint64_t seed)
{
    for (int i = 0; i < STEPS; i++)
        step(memory);
    while (block_count)
        release(memory, block_count - 1);
    OK(cuCtxSynchronize());
    if (!atomic_load(&changed))
        return;
    fprintf(stderr, "safety: seed %llu: %u words changed under their owner\n",
            (unsigned long long)seed, atomic_load(&changed));
    exit(4);
}

/* Calls *run_seed* with the seeds FIRST-SEED COUNT of the last two arguments. */
static inline void run_seeds(int argc, char **argv, int arguments, void (*run_seed)(uint64_t seed))
{
    if (argc != arguments + 1) {
        fprintf(stderr, "usage: %s [...] FIRST-SEED COUNT\n", argv[0]);
        exit(2);
    }
    start();
    uint64_t first = strtoull(argv[argc - 2], NULL, 10), count = strtoull(argv[argc - 1], NULL, 10);
    for (uint64_t seed = first; seed < first + count; seed++) {
        random_state = seed;
        run_seed(seed);
    }
    printf("%llu seeds\n", (unsigned long long)count);
}

#endif
