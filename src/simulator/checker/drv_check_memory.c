/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations in the checker. Each range of the registry (drv_range.c) is a block here: pending
 * until its position in stream order is reached, then the owner of its addresses, then freed but
 * remembered until its addresses are reused or too many blocks have been freed since. An access is
 * checked against the block that owns the address when the access happens. */
#include "simulator/checker/vs_sim_check_internal.h"
#include "simulator/memory/vs_sim_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/vs_treap.h"

#define FREED_MAX 65536 /* freed blocks remembered */

static struct vs_sim_owned *holders;                /* treap by base: live and freed */
static struct vs_sim_owned *pending;                /* list */
static struct vs_sim_owned *freed, **freed_end = &freed; /* oldest first */
static unsigned freed_count;
static uint64_t unknown_kernels;
atomic_uint vs_sim_owned_generation;

static _Thread_local struct vs_sim_op *deferred;
static _Thread_local struct vs_sim_clock *unsynced;
static _Thread_local bool unsynced_on;

/* ---- the map ---- */

VS_TREAP_BY(owned, struct vs_sim_owned, base)

static struct vs_sim_owned *floor_of(uintptr_t address)
{
    return owned_last_before(holders, (uint64_t)address + 1);
}

static struct vs_sim_owned *holder_of(uintptr_t address)
{
    struct vs_sim_owned *b = floor_of(address);
    return b && address - b->base < b->bytes ? b : NULL;
}

static void each(struct vs_sim_owned *tree, void (*fn)(void *, struct vs_sim_owned *), void *to)
{
    for (; tree; tree = tree->right) {
        each(tree->left, fn, to);
        if (tree->state == VS_SIM_OWNED_LIVE)
            fn(to, tree);
    }
}

static void unlink_from_list(struct vs_sim_owned *b)
{
    *b->link = b->next;
    if (b->next)
        b->next->link = b->link;
}

static void accesses_drop(struct vs_sim_owned *b)
{
    vs_sim_shadow_free(&b->shadow);
    for (unsigned i = 0; i < b->use_count; i++)
        vs_sim_actor_unref(b->uses[i]);
    b->use_count = 0;
}

static void block_free(struct vs_sim_owned *b)
{
    accesses_drop(b);
    vs_sim_alias_unref(b->alias);
    vs_sim_actor_unref(b->alloc);
    vs_sim_actor_unref(b->freed);
    vs_sim_actor_unref(b->ending);
    free(b);
}

static void take_out(struct vs_sim_owned *b)
{
    owned_remove(&holders, b, b->base);
    if (b->state == VS_SIM_OWNED_FREED) {
        unlink_from_list(b);
        if (!b->next)
            freed_end = b->link;
        freed_count--;
    }
    block_free(b);
}

/* ---- creation and reuse ---- */

bool vs_sim_owned_near(uintptr_t begin, uintptr_t end)
{
    struct vs_sim_owned *b = floor_of(end - 1);
    bool near = b && b->base + b->bytes > begin;
    for (b = pending; b && !near; b = b->next)
        near = b->base < end && b->base + b->bytes > begin;
    return near;
}

struct vs_sim_owned *vs_sim_owned_new(const struct vs_sim_range *range)
{
    struct vs_sim_owned *b = vs_sim_need(calloc(1, sizeof *b));
    b->kind = range->kind;
    b->base = range->base;
    b->bytes = range->bytes;
    b->id = range->id;
    b->ctx = range->ctx;
    b->device = range->device;
    b->born = unknown_kernels;
    b->variable = range->variable;
    if (range->physical)
        b->alias = vs_sim_alias_ref(range->physical);
    b->any_written = range->kind != VS_SIM_RANGE_DEVICE && range->kind != VS_SIM_RANGE_POOL &&
                     range->kind != VS_SIM_RANGE_GRAPH;
    return b;
}

void vs_sim_owned_begin(struct vs_sim_owned *b)
{
    struct vs_sim_owned *old;
    if (b->state == VS_SIM_OWNED_PENDING && b->link)
        unlink_from_list(b);
    while ((old = floor_of(b->base + b->bytes - 1)) && old->base + old->bytes > b->base)
        take_out(old);
    atomic_fetch_add(&vs_sim_owned_generation, 1); /* of graphs: not added like other ranges */
    bool ended = b->freed; /* freed in another stream before it began */
    b->state = VS_SIM_OWNED_LIVE;
    owned_insert(&holders, b, b->base);
    if (ended) {
        struct vs_sim_actor *actor = b->freed;
        b->freed = NULL;
        vs_sim_owned_end(b->base, b->id, actor, NULL);
        vs_sim_actor_unref(actor);
    }
}

/* The system may now give the addresses to another user, whose accesses are not accesses to freed
 * memory. */
void vs_sim_check_unreserved(uintptr_t base, size_t bytes)
{
    struct vs_sim_owned *old;
    vs_sim_check_lock();
    while ((old = floor_of(base + bytes - 1)) && old->base + old->bytes > base)
        take_out(old);
    vs_sim_check_unlock();
}

void vs_sim_owned_drop(struct vs_sim_owned *b)
{
    if (b->link)
        unlink_from_list(b);
    block_free(b);
}

void vs_sim_check_range_added(const struct vs_sim_range *range)
{
    if (range->kind == VS_SIM_RANGE_GRAPH)
        return; /* begins with each launch */
    uint32_t stack = deferred ? 0 : vs_sim_stack_here();
    vs_sim_check_lock();
    atomic_fetch_add(&vs_sim_owned_generation, 1);
    struct vs_sim_owned *b = vs_sim_owned_new(range);
    if (deferred) {
        b->state = VS_SIM_OWNED_PENDING;
        b->alloc = vs_sim_check_host_actor(VS_SIM_WHAT_ALLOC, deferred->check->stack);
        b->next = pending;
        if (pending)
            pending->link = &b->next;
        b->link = &pending;
        pending = b;
        deferred->check->begins = b;
    } else {
        b->alloc = vs_sim_check_host_actor(VS_SIM_WHAT_ALLOC, stack);
        vs_sim_owned_begin(b);
    }
    vs_sim_check_unlock();
}

static struct vs_sim_owned *pending_of(uint64_t id)
{
    struct vs_sim_owned *b = pending;
    while (b && b->id != id)
        b = b->next;
    return b;
}

static void note_ending(const struct vs_sim_range *range, uint32_t stack)
{
    vs_sim_check_lock();
    struct vs_sim_owned *b = holder_of(range->base);
    if (!b || b->id != range->id)
        b = pending_of(range->id);
    if (b && !b->ending)
        b->ending = vs_sim_check_host_actor(VS_SIM_WHAT_FREE, stack);
    vs_sim_check_unlock();
}

void vs_sim_check_ending(const struct vs_sim_range *range)
{
    note_ending(range, vs_sim_stack_here());
}

void vs_sim_check_range_removed(const struct vs_sim_range *range)
{
    if (deferred) {
        deferred->check->ends_base = range->base;
        deferred->check->ends_id = range->id;
        note_ending(range, deferred->check->stack);
        return;
    }
    uint32_t stack = vs_sim_stack_here();
    vs_sim_check_lock();
    struct vs_sim_actor *actor = vs_sim_check_host_actor(VS_SIM_WHAT_FREE, stack);
    vs_sim_owned_end(range->base, range->id, actor,
                     unsynced_on ? unsynced : vs_sim_check_host_clock());
    vs_sim_actor_unref(actor);
    vs_sim_check_unlock();
}

void vs_sim_check_defer(struct vs_sim_op *op) { deferred = op; }

void vs_sim_check_unsynced(bool on)
{
    vs_sim_check_lock();
    vs_sim_clock_unref(unsynced);
    unsynced = on ? vs_sim_clock_ref(vs_sim_check_host_clock()) : NULL;
    unsynced_on = on;
    vs_sim_check_unlock();
}

/* ---- conflicts ---- */

static void found_pair(enum vs_sim_report_kind kind, const struct vs_sim_owned *block,
                       const struct vs_sim_access *access, struct vs_sim_actor *earlier,
                       enum vs_sim_how how, uintptr_t begin, uintptr_t end)
{
    struct vs_sim_found found = {.kind = kind,
                                 .address = begin,
                                 .bytes = end - begin,
                                 .block = block,
                                 .first = earlier,
                                 .second = access->actor,
                                 .first_how = how,
                                 .second_how = kind == VS_SIM_REPORT_RACE ? access->how : 0};
    vs_sim_check_found(&found);
}

static void found_conflict(void *to, const struct vs_sim_access *access,
                           struct vs_sim_actor *earlier, enum vs_sim_how how,
                           uintptr_t begin, uintptr_t end)
{
    found_pair(VS_SIM_REPORT_RACE, to, access, earlier, how, begin, end);
}

static void found_in_use(void *to, const struct vs_sim_access *access,
                         struct vs_sim_actor *earlier, enum vs_sim_how how, uintptr_t begin,
                         uintptr_t end)
{
    found_pair(VS_SIM_REPORT_FREED_IN_USE, to, access, earlier, how, begin, end);
}

void vs_sim_owned_end(uintptr_t base, uint64_t id, struct vs_sim_actor *actor,
                      const struct vs_sim_clock *clock)
{
    struct vs_sim_owned *b = holder_of(base);
    if (!b || b->id != id || b->state != VS_SIM_OWNED_LIVE) {
        b = pending_of(id);
        if (b && !b->freed) /* its end is checked and reported when it begins */
            b->freed = vs_sim_actor_ref(actor);
        return;
    }
    struct vs_sim_access all = {b->base, b->base + b->bytes, VS_SIM_WRITES, actor, clock};
    if (!vs_sim_ordered(b->alloc, actor, clock))
        found_in_use(b, &all, b->alloc, VS_SIM_WRITES, b->base, b->base + b->bytes);
    vs_sim_shadow_end(&b->shadow, &all, found_in_use, b);
    for (unsigned i = 0; i < b->use_count; i++)
        if (!vs_sim_ordered(b->uses[i], actor, clock))
            found_in_use(b, &all, b->uses[i], VS_SIM_READS, b->base, b->base + b->bytes);
    accesses_drop(b);
    b->freed = vs_sim_actor_ref(actor);
    b->state = VS_SIM_OWNED_FREED;
    b->next = NULL;
    b->link = freed_end;
    *freed_end = b;
    freed_end = &b->next;
    if (++freed_count > FREED_MAX)
        take_out(freed);
}

/* ---- accesses ---- */

static bool of_device(const struct vs_sim_owned *b)
{
    return b->kind == VS_SIM_RANGE_DEVICE || b->kind == VS_SIM_RANGE_POOL ||
           b->kind == VS_SIM_RANGE_GLOBAL || b->kind == VS_SIM_RANGE_ARRAY ||
           b->kind == VS_SIM_RANGE_MAPPED || b->kind == VS_SIM_RANGE_GRAPH ||
           b->kind == VS_SIM_RANGE_OPENED;
}

/* May *actor* use the memory at an address? Reports it if not. */
static bool usable(struct vs_sim_owned *b, uintptr_t address, size_t bytes, enum vs_sim_how how,
                   struct vs_sim_actor *actor, const struct vs_sim_clock *clock)
{
    struct vs_sim_found found = {.address = address,
                                 .bytes = bytes,
                                 .block = b,
                                 .second = actor,
                                 .second_how = how};
    if (b->state == VS_SIM_OWNED_FREED) {
        found.kind = VS_SIM_REPORT_FREED;
        found.first = b->freed;
    } else if (!vs_sim_ordered(b->alloc, actor, clock)) {
        found.kind = VS_SIM_REPORT_EARLY;
        found.first = b->alloc;
    } else {
        return true;
    }
    vs_sim_check_found(&found);
    return false;
}

static bool watches_unwritten(const struct vs_sim_owned *b)
{
    struct vs_sim_range range; /* writes by other processes are not visible */
    return vs_sim_spec.check_unwritten && !b->any_written && b->born == unknown_kernels &&
           !(vs_sim_range_find(b->base, &range) && range.exported);
}

static struct vs_sim_check_op *unwritten_to;

void vs_sim_check_unwritten_to(struct vs_sim_check_op *check) { unwritten_to = check; }

static void found_unwritten(const struct vs_sim_owned *b, const struct vs_sim_unwritten *what,
                            struct vs_sim_actor *actor)
{
    struct vs_sim_found found = {.kind = VS_SIM_REPORT_UNWRITTEN,
                                 .address = what->first,
                                 .bytes = what->bytes,
                                 .block = b,
                                 .first = b->alloc,
                                 .second = actor};
    vs_sim_check_found(&found);
}

void vs_sim_check_unwritten_end(struct vs_sim_check_op *check)
{
    for (unsigned i = 0; i < check->unwritten_count; i++) {
        const struct vs_sim_unwritten *what = &check->unwritten[i].what;
        uintptr_t end = check->unwritten[i].end;
        struct vs_sim_owned *b = holder_of(what->first);
        if (!b || b->state != VS_SIM_OWNED_LIVE || end > b->base + b->bytes)
            continue;
        if (!check->many_threads || vs_sim_shadow_unwritten(&b->shadow, what->first, end))
            found_unwritten(b, what, check->actor);
    }
    check->unwritten_count = 0;
}

static void access_block(struct vs_sim_owned *b, const struct vs_sim_access *access, unsigned flags)
{
    struct vs_sim_unwritten unwritten = {0};
    if (!usable(b, access->begin, access->end - access->begin, access->how, access->actor,
                access->clock))
        return;
    vs_sim_shadow_access(&b->shadow, access, found_conflict, b, &unwritten);
    if (b->alias)
        vs_sim_alias_access(b->alias, b->base, access, found_conflict, b);
    if (!unwritten.bytes || (flags & VS_SIM_ACCESS_CARRIES) || !watches_unwritten(b))
        return;
    if (!unwritten_to || access->how == VS_SIM_CHANGES) {
        found_unwritten(b, &unwritten, access->actor);
    } else if (unwritten_to->unwritten_count < VS_SIM_CHECK_UNWRITTEN_MAX) {
        unwritten_to->unwritten[unwritten_to->unwritten_count].end = access->end;
        unwritten_to->unwritten[unwritten_to->unwritten_count++].what = unwritten;
    }
}

static struct vs_sim_owned *pending_at(uintptr_t address)
{
    struct vs_sim_owned *b = pending;
    while (b && address - b->base >= b->bytes)
        b = b->next;
    return b;
}

void vs_sim_check_access(const struct vs_sim_access *access, unsigned flags)
{
    uintptr_t at = access->begin;
    while (at < access->end) {
        struct vs_sim_owned *b = holder_of(at);
        if (!b) { /* nothing there, at most up to the next block */
            struct vs_sim_owned *early = pending_at(at);
            struct vs_sim_found found = {.kind = VS_SIM_REPORT_EARLY,
                                         .address = at,
                                         .bytes = access->end - at,
                                         .block = early,
                                         .second = access->actor,
                                         .second_how = access->how};
            if (early)
                vs_sim_check_found(&found);
            return;
        }
        struct vs_sim_access part = *access;
        part.begin = at;
        if (part.end > b->base + b->bytes)
            part.end = b->base + b->bytes;
        bool own = b->state == VS_SIM_OWNED_FREED && !of_device(b);
        if (!own || !(flags & VS_SIM_ACCESS_PAGEABLE))
            access_block(b, &part, flags);
        at = part.end;
    }
}

void vs_sim_check_copy_unwritten(uintptr_t from, uintptr_t to, size_t bytes)
{
    struct vs_sim_owned *a = holder_of(from), *b = holder_of(to);
    if (!a || !b || a->state != VS_SIM_OWNED_LIVE || b->state != VS_SIM_OWNED_LIVE ||
        !watches_unwritten(a) || bytes > a->base + a->bytes - from || bytes > b->base + b->bytes - to)
        return;
    vs_sim_shadow_copy_unwritten(&a->shadow, from, bytes, &b->shadow, to);
}

void vs_sim_check_unknown_kernel(void) { unknown_kernels++; }

/* ---- uses of whole allocations ---- */

void vs_sim_owned_use(uintptr_t address, uint64_t id, struct vs_sim_actor *actor,
                      const struct vs_sim_clock *clock)
{
    struct vs_sim_owned *b = holder_of(address);
    if (!b || b->id != id) {
        struct vs_sim_owned *early = pending_of(id);
        struct vs_sim_found found = {.kind = VS_SIM_REPORT_EARLY,
                                     .address = address,
                                     .block = early,
                                     .second = actor};
        if (early)
            vs_sim_check_found(&found);
        /* freed, and its addresses belong to another block: not ordered after that one */
        else if (b)
            usable(b, address, 0, VS_SIM_READS, actor, clock);
        return;
    }
    if (!usable(b, address, 0, VS_SIM_READS, actor, clock))
        return;
    unsigned kept = 0;
    for (unsigned i = 0; i < b->use_count; i++)
        if (vs_sim_ordered(b->uses[i], actor, clock))
            vs_sim_actor_unref(b->uses[i]);
        else
            b->uses[kept++] = b->uses[i];
    if (kept == VS_SIM_USES_MAX) {
        vs_sim_actor_unref(b->uses[0]);
        memmove(b->uses, b->uses + 1, --kept * sizeof b->uses[0]);
    }
    b->uses[kept++] = vs_sim_actor_ref(actor);
    b->use_count = kept;
}

void vs_sim_owned_written(uintptr_t address, uint64_t id)
{
    struct vs_sim_owned *b = holder_of(address);
    if (b && (!id || b->id == id))
        b->any_written = true;
}

/* ---- calls that fail immediately ---- */

static void found_call(enum vs_sim_report_kind kind, uintptr_t address, size_t bytes,
                       const struct vs_sim_owned *b, enum vs_sim_check_what what, uint32_t stack)
{
    struct vs_sim_actor *actor = vs_sim_check_host_actor(what, stack);
    struct vs_sim_found found = {.kind = kind,
                                 .address = address,
                                 .bytes = bytes,
                                 .block = b,
                                 .first = !b ? NULL : b->freed ? b->freed : b->ending,
                                 .second = actor};
    vs_sim_check_found(&found);
    vs_sim_actor_unref(actor);
}

/* The block that owns *address*, or a pending one that will. */
static struct vs_sim_owned *owner_at(uintptr_t address)
{
    struct vs_sim_owned *b = pending_at(address);
    return b ? b : holder_of(address);
}

static bool is_freed(const struct vs_sim_owned *b)
{
    return b->state == VS_SIM_OWNED_FREED || b->ending;
}

void vs_sim_check_pointer(uintptr_t address, size_t bytes)
{
    uint32_t stack = vs_sim_stack_here();
    vs_sim_check_lock();
    struct vs_sim_owned *b = owner_at(address);
    if (b && of_device(b) && is_freed(b))
        found_call(VS_SIM_REPORT_FREED_POINTER, address, bytes, b, VS_SIM_WHAT_CALL, stack);
    vs_sim_check_unlock();
}

void vs_sim_check_bad_free(uintptr_t address)
{
    uint32_t stack = vs_sim_stack_here();
    vs_sim_check_lock();
    struct vs_sim_owned *b = owner_at(address);
    bool twice = b && b->base == address && is_freed(b);
    if (!b)
        b = floor_of(address); /* the nearest block below, to print the distance to it */
    found_call(twice ? VS_SIM_REPORT_DOUBLE_FREE : VS_SIM_REPORT_FOREIGN_FREE, address, 0, b,
               VS_SIM_WHAT_FREE, stack);
    vs_sim_check_unlock();
}

#define LEAK_SITES 64 /* further sites are counted with the last */

struct leaks {
    const struct vs_sim_context *ctx; /* NULL: all */
    unsigned count;
    struct vs_sim_found sites[LEAK_SITES];
};

static void leak(void *to, struct vs_sim_owned *b)
{
    struct leaks *leaks = to;
    if (b->variable ||
        (leaks->ctx && (b->ctx != leaks->ctx || b->kind == VS_SIM_RANGE_POOL ||
                        b->kind == VS_SIM_RANGE_GRAPH || b->kind == VS_SIM_RANGE_OPENED)))
        return; /* memory of pools, graphs and other processes does not belong to the context */
    unsigned i = 0;
    while (i < leaks->count && leaks->sites[i].first->stack != b->alloc->stack)
        i++;
    if (i == LEAK_SITES)
        i--;
    struct vs_sim_found *site = &leaks->sites[i];
    if (i == leaks->count) {
        leaks->count++;
        *site = (struct vs_sim_found){.kind = VS_SIM_REPORT_LEAK,
                                      .address = b->base,
                                      .block = b,
                                      .first = b->alloc};
    }
    site->bytes += b->bytes;
    site->count++;
}

void vs_sim_check_leaks(const struct vs_sim_context *ctx)
{
    struct leaks leaks = {.ctx = ctx};
    vs_sim_check_lock();
    each(holders, leak, &leaks);
    for (unsigned i = 0; i < leaks.count; i++)
        vs_sim_check_found(&leaks.sites[i]);
    vs_sim_check_unlock();
}
