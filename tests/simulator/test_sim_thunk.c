/* SPDX-License-Identifier: Apache-2.0
 *
 * Observable functions (vs_sim_thunk.h): arguments in registers, on the stack, in structures and as
 * floating-point numbers arrive, observed or not. No CUDA. */
#include <stdbool.h>

#include "support/cmocka_test.h"

#include "simulator/driver/vs_sim_thunk.h"

struct extent { /* like cudaExtent: too large for registers */
    long width, height, depth;
};
struct dimensions { /* like dim3: two registers, if they are free */
    unsigned x, y, z;
};

extern unsigned test_watch_word;
unsigned test_watch_word;
static unsigned last_cbid;
static uint64_t last_caller;

int test_impl_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, int j,
                   long k);
int test_impl_mixed(float x, const char *p, struct extent e, struct dimensions g,
                    struct dimensions b, long q, long s, const char *t, float y);

int test_impl_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, int j,
                   long k)
{
    return (int)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j +
                 11 * k);
}

int test_impl_mixed(float x, const char *p, struct extent e, struct dimensions g,
                    struct dimensions b, long q, long s, const char *t, float y)
{
    return (int)(x * 10 + y * 100) + *p + (int)(e.width + 2 * e.height + 3 * e.depth) +
           (int)(g.x + 2 * g.y + 3 * g.z + 4 * b.x + 5 * b.y + 6 * b.z) + (int)(q + s) + *t;
}

#if defined(__x86_64__)
#define WATCH "testl $1, test_watch_word(%rip)\n"
#else
#define WATCH                                                                                      \
    "adrp x16, test_watch_word\n"                                                                  \
    "ldr w17, [x16, :lo12:test_watch_word]\n"                                                      \
    "tst w17, #1\n"
#endif

extern const struct vs_thunk test_thunk_many, test_thunk_mixed;
const struct vs_thunk test_thunk_many = {(void (*)(void))test_impl_many, "many", 7};
const struct vs_thunk test_thunk_mixed = {(void (*)(void))test_impl_mixed, "mixed", 8};
VS_THUNK("test_many", "test_impl_many", "test_thunk_many", WATCH)
VS_THUNK("test_mixed", "test_impl_mixed", "test_thunk_mixed", WATCH)
VS_THUNK_COMMON

int test_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, int j,
              long k);
int test_mixed(float x, const char *p, struct extent e, struct dimensions g, struct dimensions b,
               long q, long s, const char *t, float y);

static int wanted = 1, asked;

int vs_thunk_wanted(void)
{
    asked++;
    return wanted;
}

int vs_thunk_watched(const struct vs_thunk *thunk, const struct vs_thunk_args *args)
{
    last_cbid = thunk->cbid;
    last_caller = args->caller;
    return vs_thunk_call(thunk->function, args);
}

static void call_both(void)
{
    struct extent e = {100, 200, 300};
    struct dimensions g = {1, 2, 3}, b = {4, 5, 6};
    assert_int_equal(test_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 506);
    assert_int_equal(test_mixed(1.5f, "A", e, g, b, 10, 20, "B", 2.5f),
                     15 + 250 + 'A' + 1400 + 14 + 77 + 30 + 'B');
}

TEST(arguments_arrive_when_nobody_watches)
{
    test_watch_word = 2; /* another bit */
    last_cbid = 0;
    call_both();
    assert_int_equal(last_cbid, 0);
}

TEST(arguments_arrive_when_the_call_is_not_wanted_after_all)
{
    test_watch_word = 1;
    last_cbid = 0;
    wanted = asked = 0;
    call_both();
    wanted = 1;
    assert_int_equal(asked, 2);
    assert_int_equal(last_cbid, 0);
}

TEST(arguments_arrive_when_somebody_watches)
{
    test_watch_word = 1;
    call_both();
    assert_int_equal(last_cbid, 8);
    uint64_t here = (uintptr_t)call_both;
    assert_true(last_caller > here && last_caller < here + 4096);
}
