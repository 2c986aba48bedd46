/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses by kernels. A host function can declare each access with vramscope_sim_read,
 * vramscope_sim_write and vramscope_sim_atomic; each thread joins neighbouring accesses and passes
 * them on in batches. For a kernel that declares nothing, pointers among its arguments count as
 * uses of the allocations they point into. The same functions called outside a kernel declare
 * accesses of the host. */
#include "simulator/checker/vs_sim_check_internal.h"
#include "simulator/memory/vs_sim_memory.h"

#include <string.h>

#define OPEN_MAX 8     /* runs of neighbouring accesses that may still grow */
#define CLOSED_MAX 512 /* accesses in one batch */
#define PAGE_SHIFT 12
#define PAGES 256 /* pages for which the result of the CUDA check is cached */

struct check_kernel_span {
    uintptr_t begin, end;
    enum vs_sim_how how;
};

static _Thread_local struct {
    struct vs_sim_op *op; /* NULL: not in a kernel */
    unsigned open_count, oldest, closed_count;
    struct check_kernel_span open[OPEN_MAX], closed[CLOSED_MAX];
    unsigned generation; /* of pages */
    uintptr_t pages[PAGES]; /* page number * 2 + whether it is CUDA's */
} mine;

struct vs_sim_op *vs_sim_check_kernel(void) { return mine.op; }

/* ---- hand-over to another tool ---- */

/* Nothing is printed from inside a kernel: it may run on a small stack of its own. */
static void hand_over(void)
{
    struct vs_sim_check_op *check = mine.op->check;
    vs_sim_check_lock();
    check->many_threads |= check->thread && check->thread != &mine;
    check->thread = &mine;
    vs_sim_check_unwritten_to(check);
    for (unsigned i = 0; i < mine.closed_count; i++) {
        struct vs_sim_access a = {mine.closed[i].begin, mine.closed[i].end, mine.closed[i].how,
                                  check->actor, check->clock};
        vs_sim_check_access(&a, VS_SIM_ACCESS_PAGEABLE);
    }
    vs_sim_check_unwritten_to(NULL);
    mine.closed_count = 0;
    vs_sim_check_release();
}

static void close_span(const struct check_kernel_span *span)
{
    mine.closed[mine.closed_count++] = *span;
    if (mine.closed_count == CLOSED_MAX)
        hand_over();
}

static void flush(void)
{
    for (unsigned i = 0; i < mine.open_count; i++) /* the oldest first */
        close_span(&mine.open[(mine.oldest + i) % mine.open_count]);
    mine.open_count = mine.oldest = 0;
    if (mine.closed_count)
        hand_over();
}

struct vs_sim_op *vs_sim_check_kernel_enter(struct vs_sim_op *op)
{
    struct vs_sim_op *before = mine.op;
    mine.op = op;
    return before;
}

void vs_sim_check_kernel_leave(struct vs_sim_op *before)
{
    flush();
    mine.op = before;
    vs_sim_check_print();
}

/* ---- declared accesses ---- */

static void host_access(uintptr_t begin, size_t bytes, enum vs_sim_how how)
{
    uint32_t stack = vs_sim_stack_here();
    vs_sim_check_lock();
    struct vs_sim_actor *actor = vs_sim_check_host_actor(VS_SIM_WHAT_HOST, stack);
    struct vs_sim_access a = {begin, begin + bytes, how, actor, vs_sim_check_host_clock()};
    vs_sim_check_access(&a, VS_SIM_ACCESS_PAGEABLE);
    vs_sim_actor_unref(actor);
    vs_sim_check_unlock();
}

int vramscopeSimChecking(void);
void vramscopeSimAccess(const void *address, size_t bytes, int how);

/* -1: not known before cuInit. */
VS_SIM_EXPORT int vramscopeSimChecking(void)
{
    bool asked = !vs_sim_spec.preset || vs_sim_spec.check != VS_SIM_CHECK_OFF;
    return vs_sim_checking ? 1 : asked ? -1 : 0;
}

/* Cached, because kernels access their stacks and shared memory more often than the device's. */
static bool is_cudas(uintptr_t address)
{
    uintptr_t page = address >> PAGE_SHIFT, *known = &mine.pages[page % PAGES];
    unsigned generation = atomic_load_explicit(&vs_sim_owned_generation, memory_order_relaxed);
    if (mine.generation != generation) {
        memset(mine.pages, 0, sizeof mine.pages);
        mine.generation = generation;
    }
    if (*known >> 1 != page) {
        vs_sim_check_lock();
        bool near = vs_sim_owned_near(page << PAGE_SHIFT, (page + 1) << PAGE_SHIFT);
        vs_sim_check_release();
        *known = page << 1 | near;
    }
    return *known & 1;
}

static unsigned age_of(const struct check_kernel_span *s)
{
    return (unsigned)(s - mine.open + OPEN_MAX - mine.oldest) % OPEN_MAX;
}

/* Spans are passed on in the order in which they were opened. An access may therefore grow an older
 * span only while no other span in between has touched its bytes in another way: a read before a
 * write must stay before it. */
static void kernel_access(struct check_kernel_span now)
{
    struct check_kernel_span *grow = NULL;
    unsigned newest = 0; /* age + 1 of the newest span that touches the same bytes in another way */
    for (unsigned i = 0; i < mine.open_count; i++) {
        struct check_kernel_span *s = &mine.open[i];
        if (s->how == now.how) {
            if (now.begin <= s->end && now.end >= s->begin)
                grow = s;
        } else if (s->begin < now.end && now.begin < s->end) {
            if (now.how == VS_SIM_READS && s->how == VS_SIM_WRITES && now.begin >= s->begin &&
                now.end <= s->end)
                return; /* reads bytes that this thread has written */
            newest = age_of(s) + 1 > newest ? age_of(s) + 1 : newest;
        }
    }
    if (grow && age_of(grow) + 1 < newest) {
        flush();
        grow = NULL;
    }
    if (grow) {
        grow->begin = now.begin < grow->begin ? now.begin : grow->begin;
        grow->end = now.end > grow->end ? now.end : grow->end;
    } else if (mine.open_count < OPEN_MAX) {
        mine.open[mine.open_count++] = now;
    } else {
        close_span(&mine.open[mine.oldest]);
        mine.open[mine.oldest] = now;
        mine.oldest = (mine.oldest + 1) % OPEN_MAX;
    }
}

VS_SIM_EXPORT void vramscopeSimAccess(const void *address, size_t bytes, int how)
{
    uintptr_t begin = (uintptr_t)address;
    if (!vs_sim_checking || !bytes || how < VS_SIM_READS || how > VS_SIM_CHANGES)
        return;
    if (!mine.op) {
        host_access(begin, bytes, (enum vs_sim_how)how);
        return;
    }
    struct vs_sim_host_kernel *host = mine.op->u.launch.host;
    if (!atomic_load_explicit(&host->declares, memory_order_relaxed))
        atomic_store(&host->declares, true);
    if (is_cudas(begin))
        kernel_access((struct check_kernel_span){begin, begin + bytes, (enum vs_sim_how)how});
}

/* ---- arguments ---- */

static void argument(struct vs_sim_op *op, uintptr_t word)
{
    struct vs_sim_check_op *check = op->check;
    struct vs_sim_range range;
    if (word < 4096 || check->use_count == VS_SIM_CHECK_USES_MAX)
        return;
    if (!vs_sim_range_find(word, &range)) {
        vs_sim_check_pointer(word, 0);
        return;
    }
    for (unsigned i = 0; i < check->use_count; i++)
        if (check->uses[i].id == range.id)
            return;
    check->uses[check->use_count].address = word;
    check->uses[check->use_count++].id = range.id;
}

void vs_sim_check_launch(struct vs_sim_op *op)
{
    const struct vs_sim_launch_op *launch = &op->u.launch;
    if (!launch->host || atomic_load(&launch->host->declares))
        return;
    for (unsigned i = 0; i < launch->host->arg_count; i++)
        for (uint32_t at = 0; at + sizeof(uintptr_t) <= launch->host->bytes[i]; at += 8) {
            uintptr_t word;
            memcpy(&word, launch->args + launch->host->offset[i] + at, sizeof word);
            argument(op, word);
        }
}
