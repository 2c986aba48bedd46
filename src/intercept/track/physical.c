/* SPDX-License-Identifier: Apache-2.0
 *
 * References to physical memory. A memory has as many users as references; each reference is in one
 * place: the table of handles (with a count, as the same handle may be returned several times), the
 * table of mappings, or the list held by arrays and multicast objects. A reference that is being
 * released is in none of them and keeps its memory's struct in `leaving` until the driver has
 * returned. */
#include "intercept/track/physical.h"

#include "base/vs_arena.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "base/vs_map.h"
#include "intercept/process/process.h"
#include "intercept/track/limit.h"

struct physical_memory {
    struct vs_tracked live;
    enum vs_physical_kind kind;
    unsigned users;    /* references in their places */
    unsigned leaving;  /* references being released */
    uint64_t identity; /* of the last export; 0: never */
    struct physical_memory *next, *previous; /* all existing ones */
};

struct vs_reference {
    struct physical_memory *memory;
    uint64_t key;   /* handle; address; owner */
    uint64_t at;    /* size of a mapping; place within the owner */
    uint64_t offset;
    unsigned count; /* of a handle */
    struct vs_reference *next;
};

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_PHYSICAL, "physical memory");
static struct vs_items memory_items, reference_items; /* guarded by lock, as all below */
static struct vs_map handles, mappings;        /* -> struct vs_reference * */
static struct vs_reference *held;              /* by arrays and multicast objects */
static struct physical_memory *memories;
static uint64_t serial;

static void memory_drop_locked(struct physical_memory *m)
{
    if (m->previous)
        m->previous->next = m->next;
    else
        memories = m->next;
    if (m->next)
        m->next->previous = m->previous;
    if (m->live.family == VS_FAMILY_VMM)
        vs_limit_give(m->live.device, m->live.size);
    vs_items_give(&memory_items, m);
}

static struct vs_reference *reference_take_locked(struct physical_memory *m, uint64_t key, uint64_t at)
{
    struct vs_reference *ref = vs_items_take(&reference_items, sizeof *ref);
    if (!ref) {
        vs_log_once(VS_LOG_WARN, "out of host memory for cuMemCreate memory: its frees are missing from the trace");
        return NULL;
    }
    *ref = (struct vs_reference){.memory = m, .key = key, .at = at, .count = 1};
    return ref;
}

static void detach_locked(uint64_t owner, uint64_t at, const char *api);

/* Adds or removes one user; the first creates the memory, the last ends it. */
static uint64_t use_locked(struct physical_memory *m, const char *api)
{
    return !m->users++ && m->kind == VS_PHYSICAL_OWN ? vs_track_alloc(&m->live, 0, api) : 0;
}

static void unuse_locked(struct physical_memory *m, const char *api)
{
    if (--m->users)
        return;
    if (m->kind == VS_PHYSICAL_OWN)
        vs_track_free(m->live.addr, 0, api, NULL);
    else /* a multicast object, created here or imported */
        detach_locked(m->live.addr, UINT64_MAX, api);
    if (!m->leaving)
        memory_drop_locked(m);
}

static void leave_locked(struct physical_memory *m, const char *api)
{
    m->leaving++;
    unuse_locked(m, api);
}

static void left_locked(struct physical_memory *m)
{
    if (!--m->leaving && !m->users)
        memory_drop_locked(m);
}

/* ---- handles ---- */

/* A handle that now names another memory was released without being seen. */
static void forget_handle_locked(uint64_t handle, const char *api)
{
    struct vs_reference *old = vs_map_pointer(&handles, handle);
    if (!old)
        return;
    vs_map_remove(&handles, handle, NULL);
    unuse_locked(old->memory, api);
    vs_items_give(&reference_items, old);
}

static uint64_t add_handle_locked(struct physical_memory *m, uint64_t handle, const char *api)
{
    struct vs_reference *ref = reference_take_locked(m, handle, 0);
    if (!ref || vs_map_put_pointer(&handles, handle, ref))
        return 0;
    return use_locked(m, api);
}

uint64_t vs_physical_made(uint64_t handle, enum vs_physical_kind kind, const struct vs_tracked *live,
                          const char *api)
{
    uint64_t time_ns = 0;
    if (!handle)
        return 0;
    VS_LOCK_SCOPE(&lock);
    forget_handle_locked(handle, api);
    struct physical_memory *m = vs_items_take(&memory_items, sizeof *m);
    if (m) {
        *m = (struct physical_memory){.live = *live, .kind = kind, .next = memories};
        m->live.addr = VS_ADDR_MEMORY | ++serial;
        if (memories)
            memories->previous = m;
        memories = m;
        time_ns = add_handle_locked(m, handle, api);
    }
    return time_ns;
}

static struct vs_reference *mapping_around_locked(uint64_t addr)
{
    struct vs_reference *exact = vs_map_pointer(&mappings, addr);
    size_t cursor = 0;
    if (exact)
        return exact;
    for (const struct vs_map_slot *s; (s = vs_map_next(&mappings, &cursor));) {
        struct vs_reference *ref = (struct vs_reference *)(uintptr_t)s->value;
        if (addr >= ref->key && addr - ref->key < ref->at)
            return ref;
    }
    return NULL;
}

void vs_physical_retained(uint64_t handle, uint64_t addr)
{
    VS_LOCK_SCOPE(&lock);
    struct vs_reference *ref = vs_map_pointer(&handles, handle), *mapping;
    if (ref)
        ref->count++;
    else if (handle && (mapping = mapping_around_locked(addr)))
        add_handle_locked(mapping->memory, handle, "cuMemRetainAllocationHandle");
}

struct vs_reference *vs_physical_releasing(uint64_t handle, const char *api)
{
    VS_LOCK_SCOPE(&lock);
    struct vs_reference *ref = vs_map_pointer(&handles, handle);
    if (ref && !--ref->count) {
        vs_map_remove(&handles, handle, NULL);
        leave_locked(ref->memory, api);
    } else {
        ref = NULL; /* another reference keeps the handle: only the count changes */
    }
    return ref;
}

void vs_physical_released(struct vs_reference *ref, bool done, const char *api)
{
    if (!ref)
        return;
    VS_LOCK_SCOPE(&lock);
    struct physical_memory *m = ref->memory;
    if (!done)
        add_handle_locked(m, ref->key, api);
    left_locked(m);
    vs_items_give(&reference_items, ref);
}

uint64_t vs_physical_key(uint64_t handle)
{
    VS_LOCK_SCOPE(&lock);
    const struct vs_reference *ref = vs_map_pointer(&handles, handle);
    return ref ? ref->memory->live.addr : 0;
}

/* ---- mappings ---- */

static void record_mapping_locked(const struct vs_reference *ref, bool mapped, const char *api)
{
    const struct physical_memory *m = ref->memory;
    uint64_t number = m->live.addr & ~VS_ADDR_MEMORY;
    if (mapped && m->kind == VS_PHYSICAL_IMPORTED) {
        struct vs_tracked live = m->live;
        live.addr = ref->key;
        live.requested = live.size = ref->at;
        vs_track_alloc(&live, 0, api);
    } else if (!mapped && m->kind == VS_PHYSICAL_IMPORTED) {
        vs_track_free(ref->key, 0, api, NULL);
    }
    if (!vs_process_recorder())
        return;
    if (mapped)
        VS_RECORD(vmm_map, .addr = ref->key,
                  .size = ref->at,
                  .memory = number,
                  .offset = ref->offset,
                  .device = m->live.device,
                  .imported = m->kind == VS_PHYSICAL_IMPORTED,
                  .stack = vs_process_stack());
    else
        VS_RECORD(vmm_unmap, .addr = ref->key, .size = ref->at, .memory = number,
                  .device = m->live.device);
}

static void enter_mapping_locked(struct vs_reference *ref, const char *api)
{
    struct vs_reference *old = vs_map_pointer(&mappings, ref->key);
    if (vs_map_put_pointer(&mappings, ref->key, ref))
        return;
    if (old) { /* its release was not seen */
        record_mapping_locked(old, false, api);
        unuse_locked(old->memory, api);
        vs_items_give(&reference_items, old);
    }
    use_locked(ref->memory, api);
    record_mapping_locked(ref, true, api);
}

void vs_physical_mapped(uint64_t addr, uint64_t bytes, uint64_t offset, uint64_t handle,
                        const char *api)
{
    VS_LOCK_SCOPE(&lock);
    const struct vs_reference *ref = vs_map_pointer(&handles, handle);
    struct vs_reference *mapping = ref ? reference_take_locked(ref->memory, addr, bytes) : NULL;
    if (mapping) {
        mapping->offset = offset;
        enter_mapping_locked(mapping, api);
    }
}

struct vs_reference *vs_physical_unmapping(uint64_t addr, uint64_t bytes, const char *api)
{
    struct vs_reference *list = NULL;
    VS_LOCK_SCOPE(&lock);
    const struct vs_reference *next;
    uint64_t end = addr;
    while (end - addr < bytes && (next = vs_map_pointer(&mappings, end)))
        end += next->at;
    for (uint64_t at = addr; end - addr == bytes && at - addr < bytes;) {
        struct vs_reference *ref = vs_map_pointer(&mappings, at);
        vs_map_remove(&mappings, at, NULL);
        record_mapping_locked(ref, false, api);
        leave_locked(ref->memory, api);
        ref->next = list;
        list = ref;
        at += ref->at;
    }
    return list;
}

void vs_physical_unmapped(struct vs_reference *list, bool done, const char *api)
{
    if (!list)
        return;
    VS_LOCK_SCOPE(&lock);
    while (list) {
        struct vs_reference *ref = list;
        struct physical_memory *m = ref->memory;
        list = ref->next;
        if (!done)
            enter_mapping_locked(ref, api);
        else
            vs_items_give(&reference_items, ref);
        left_locked(m);
    }
}

/* ---- what arrays and multicast objects hold ---- */

static void detach_locked(uint64_t owner, uint64_t at, const char *api)
{
    for (struct vs_reference **link = &held, *ref; (ref = *link);) {
        if (ref->key != owner || (at != UINT64_MAX && ref->at != at)) {
            link = &ref->next;
            continue;
        }
        *link = ref->next;
        /* the held memory holds nothing itself: no recursion here */
        unuse_locked(ref->memory, api);
        vs_items_give(&reference_items, ref);
    }
}

/* By handle, or by the mapping at *addr*. */
static struct physical_memory *memory_of_locked(uint64_t handle, uint64_t addr)
{
    const struct vs_reference *ref = handle ? vs_map_pointer(&handles, handle) : mapping_around_locked(addr);
    return ref ? ref->memory : NULL;
}

uint32_t vs_physical_device(uint64_t handle, uint64_t addr)
{
    VS_LOCK_SCOPE(&lock);
    const struct physical_memory *m = memory_of_locked(handle, addr);
    return m ? m->live.device : 0;
}

void vs_physical_attach(uint64_t owner, uint64_t at, uint64_t handle, uint64_t addr,
                        const char *api)
{
    VS_LOCK_SCOPE(&lock);
    struct physical_memory *m = memory_of_locked(handle, addr);
    struct vs_reference *ref = NULL;
    if (m && m->kind != VS_PHYSICAL_MULTICAST)
        ref = reference_take_locked(m, owner, at);
    if (ref) {
        use_locked(m, api); /* before the old one goes: it may be the same memory */
        detach_locked(owner, at, api);
        ref->next = held;
        held = ref;
    }
}

void vs_physical_detach(uint64_t owner, uint64_t at, const char *api)
{
    VS_LOCK_SCOPE(&lock);
    detach_locked(owner, at, api);
}

/* ---- the same memory by another name ---- */

void vs_physical_exported(uint64_t handle, uint64_t identity)
{
    VS_LOCK_SCOPE(&lock);
    const struct vs_reference *ref = vs_map_pointer(&handles, handle);
    for (struct physical_memory *m = memories; ref && m; m = m->next) {
        if (m->identity == identity)
            m->identity = 0; /* a descriptor with that number was closed since */
    }
    if (ref)
        ref->memory->identity = identity;
}

bool vs_physical_imported(uint64_t handle, uint64_t identity)
{
    bool found = false;
    VS_LOCK_SCOPE(&lock);
    for (struct physical_memory *m = memories; m && !found; m = m->next) {
        found = m->identity == identity && m->users;
        if (!found)
            continue;
        struct vs_reference *ref = vs_map_pointer(&handles, handle);
        if (ref && ref->memory == m) {
            ref->count++;
        } else {
            forget_handle_locked(handle, "cuMemImportFromShareableHandle");
            add_handle_locked(m, handle, "cuMemImportFromShareableHandle");
        }
    }
    return found;
}
