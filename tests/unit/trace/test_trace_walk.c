/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks by frame rules against libunwind, frame by frame, and the cache of stacks already seen:
 * one id for each stack and never for two, over random call trees. */
#include "unit/trace/trace_test.h"

#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "support/scratch_folder.h"
#include "trace/record/recorder_internal.h"
#include "trace/stacks/walk.h"

#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
#define IN_USE(room) __asm__ volatile("" ::"r"(room) : "memory") /* keeps it in the frame */
#define FRAMES 128
#define OWN_STACK ((size_t)1 << 20)

#if defined(__x86_64__)

static const struct vs_walk_owner owner = {UINT32_MAX, 0};

struct stack {
    void *pcs[FRAMES];
    size_t count;
};

/* libunwind's frames from the caller of this function's caller on. */
static void by_libunwind(struct stack *s, const void *first)
{
    void *all[FRAMES];
    size_t n = vs_unwind_capture(all, FRAMES), from = 0;
    while (from < n && all[from] != first)
        from++;
    s->count = n - from;
    memcpy(s->pcs, all + from, s->count * sizeof *all);
}

static volatile unsigned compared, walked; /* prevents the compiler from assuming that raise does
                                            * not call us */

/* Compares the two ways, from this function's caller on. */
__attribute__((noinline)) static void compare(bool must_walk)
{
    struct stack truth, ours;
    struct vs_trail *trail;
    enum vs_walk_end end;
    const uint64_t *frame = __builtin_frame_address(0);
    struct vs_walk_start start = {.pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
                                  .sp = (uint64_t)(uintptr_t)(frame + 2),
                                  .fp = frame[0]};
    by_libunwind(&truth, __builtin_return_address(0));
    truth.count = vs_walk_check(truth.pcs, truth.count, &end);
    ours.count = vs_walk_stack(owner, &start, ours.pcs, NULL, FRAMES, &end, &trail);
    compared++;
    if (!ours.count) {
        assert_false(must_walk);
        return;
    }
    walked++;
    assert_non_null(trail);
    if (truth.count < FRAMES - 8)
        assert_int_equal(ours.count, truth.count);
    for (size_t i = 0; i < truth.count; i++)
        assert_ptr_equal(ours.pcs[i], truth.pcs[i]);
}

__attribute__((noinline)) static void plain(int left)
{
    if (left)
        plain(left - 1);
    else
        compare(true);
    NO_TAIL_CALL();
}

__attribute__((noinline)) static void of_changing_size(unsigned bytes)
{
    char *room = alloca(bytes);
    IN_USE(room);
    compare(true);
    IN_USE(room);
}

__attribute__((noinline)) static void realigned(unsigned bytes)
{
    _Alignas(128) char room[256];
    char *more = alloca(bytes);
    IN_USE(room);
    IN_USE(more);
    compare(true);
    of_changing_size(bytes);
    IN_USE(room);
    IN_USE(more);
}

static int from_the_c_library(const void *a, const void *b)
{
    compare(true);
    return *(const int *)a - *(const int *)b;
}

static void *on_a_thread(void *arg)
{
    plain(3);
    of_changing_size(5000);
    return arg;
}

TEST(every_kind_of_frame_is_walked_as_libunwind_does)
{
    int numbers[] = {5, 3, 8, 1, 9, 2};
    pthread_t thread;
    assert_true(vs_unwind_load());
    compared = walked = 0;
    for (int depth = 0; depth < 100; depth += 9)
        plain(depth);
    for (unsigned bytes = 16; bytes < 5000; bytes += 333) {
        of_changing_size(bytes);
        realigned(bytes);
    }
    qsort(numbers, 6, sizeof *numbers, from_the_c_library);
    if (THREADS_UNWIND) {
        assert_int_equal(pthread_create(&thread, NULL, on_a_thread, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_true(compared > 50);
    assert_int_equal(walked, compared);
}

/* The list of mappings is read in small pieces: a line may be longer than one. */
TEST(a_stack_is_found_behind_a_mapping_with_a_long_name)
{
    char path[3200];
    pthread_t thread;
    if (!THREADS_UNWIND)
        skip();
    assert_true(vs_unwind_load());
    int length = snprintf(path, sizeof path, "%s", scratch_folder());
    for (int i = 0; i < 12; i++) {
        length += snprintf(path + length, sizeof path - (size_t)length, "/%0250d", i);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path + length, sizeof path - (size_t)length, "/file");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && ftruncate(fd, 4096) == 0);
    void *first = mmap((void *)0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    assert_ptr_not_equal(first, MAP_FAILED); /* before all stacks */
    void *stack = mmap(NULL, OWN_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attr; /* a stack that no thread before had, so that it is looked for */
    assert_ptr_not_equal(stack, MAP_FAILED);
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstack(&attr, stack, OWN_STACK), 0);
    compared = walked = 0;
    assert_int_equal(pthread_create(&thread, &attr, on_a_thread, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    munmap(stack, OWN_STACK);
    munmap(first, 4096);
    close(fd);
    assert_int_equal(compared, 2);
    assert_int_equal(walked, compared);
}

static void on_signal(int number)
{
    (void)number;
    compare(false);
    NO_TAIL_CALL();
}

static void raise_with(int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags}, before;
    sigaction(SIGUSR1, &action, &before);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &before, NULL);
}

TEST(a_signal_is_walked_on_one_stack_and_left_to_libunwind_on_two)
{
    static char other[65536];
    stack_t alternate = {.ss_sp = other, .ss_size = sizeof other}, before;
    compared = walked = 0;
    raise_with(0);
    assert_int_equal(compared, 1);
    assert_int_equal(walked, 1);
    sigaltstack(&alternate, &before);
    raise_with(SA_ONSTACK);
    sigaltstack(&before, NULL);
    assert_int_equal(compared, 2);
    assert_int_equal(walked, 1);
}

/* --- trails --- */

#define DISTINCT_MAX 4096

static struct vs_recorder *recorder;
static struct {
    struct stack stack;
    uint64_t id;
} seen[DISTINCT_MAX];
static unsigned seen_count, leaves;
static uint64_t state_of_random;

static unsigned random_below(unsigned n)
{
    return (unsigned)(vs_random(&state_of_random) % n);
}

__attribute__((noinline)) static void leaf(void)
{
    struct stack truth;
    uint64_t id = vs_recorder_stack(recorder, 0);
    by_libunwind(&truth, __builtin_return_address(0));
    unsigned i = 0;
    leaves++;
    assert_true(id != 0);
    for (; i < seen_count; i++) {
        bool same = seen[i].stack.count == truth.count &&
                    !memcmp(seen[i].stack.pcs, truth.pcs, truth.count * sizeof *truth.pcs);
        assert_int_equal(same, seen[i].id == id);
        if (same)
            return;
    }
    assert_true(seen_count < DISTINCT_MAX);
    seen[seen_count].stack = truth;
    seen[seen_count++].id = id;
}

static void grow(unsigned left);

/* Functions with equal and different frame sizes, so that one stack pointer occurs in many
 * stacks. */
#define FUNCTION(name, bytes)                                \
    __attribute__((noinline)) static void name(unsigned left) \
    {                                                        \
        char room[bytes];                                    \
        IN_USE(room);                                        \
        if (random_below(2))                                 \
            grow(left);                                      \
        else                                                 \
            grow(left);                                      \
        IN_USE(room);                                        \
    }
FUNCTION(red, 16)
FUNCTION(green, 16)
FUNCTION(blue, 100)

__attribute__((noinline)) static void moving(unsigned left)
{
    unsigned bytes = 16 + 16 * random_below(3);
    char *room = alloca(bytes);
    IN_USE(room);
    grow(left);
    IN_USE(room);
}

__attribute__((noinline)) static void grow(unsigned left)
{
    static void (*const ways[])(unsigned) = {red, green, blue, moving};
    if (left)
        ways[random_below(4)](left - 1);
    else
        leaf();
    NO_TAIL_CALL();
}

/* Stacks that differ only in their outer frames. */
__attribute__((noinline)) static void chain(unsigned left)
{
    if (left)
        chain(left - 1);
    else
        leaf();
    NO_TAIL_CALL();
}

__attribute__((noinline)) static void from_one_of_four(unsigned which)
{
    switch (which) {
#define PLACE(n)        \
    case n:             \
        chain(20);      \
        IN_USE(&which); \
        break;
        PLACE(0) PLACE(1) PLACE(2) PLACE(3)
    }
}

TEST(one_stack_has_one_id_and_no_other_stack_has_it)
{
    recorder = open_recorder(scratch("walk.vst"), 1, FRAMES);
    seen_count = leaves = 0;
    state_of_random = 7;
    for (int i = 0; i < 20000 && seen_count < DISTINCT_MAX / 2; i++) {
        grow(1 + random_below(4));
        from_one_of_four(random_below(4));
    }
    print_message("%u stacks in %u captures\n", seen_count, leaves);
    assert_true(seen_count > 100);
    assert_true(leaves > 4 * seen_count);
    vs_recorder_close(recorder, VS_END_EXIT, 0);
}

#else

int main(void)
{
    return 77; /* only libunwind is available here */
}

#endif
