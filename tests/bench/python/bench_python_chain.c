/* SPDX-License-Identifier: Apache-2.0
 *
 * Native frames between Python and the recorder: a chain of calls from one of eight call
 * sites, in no fixed order. */
#include <stdint.h>

typedef uint64_t (*leaf_function)(void *argument);

#define EXPORTED __attribute__((visibility("default"), noinline))
uint64_t bench_chain(int depth, leaf_function leaf, void *argument);

__attribute__((noinline)) static uint64_t below(int depth, leaf_function leaf, void *argument)
{
    uint64_t result = depth > 0 ? below(depth - 1, leaf, argument) : leaf(argument);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return result;
}

EXPORTED uint64_t bench_chain(int depth, leaf_function leaf, void *argument)
{
    static unsigned random = 1;
    random = random * 1664525u + 1013904223u;
    uint64_t result = 0;
    switch (random >> 29) {
#define SITE(i)                                \
    case i:                                    \
        result = below(depth, leaf, argument); \
        __asm__ volatile("" ::: "memory");     \
        break;
        SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7)
#undef SITE
    }
    return result;
}
