/* SPDX-License-Identifier: Apache-2.0
 *
 * Strings and stacks are written once and referred to by number afterwards. A stack is a path in a
 * prefix tree of (parent, module, pc) nodes, so that the outer frames that most stacks share are
 * written once. Texts, stacks and nodes are identified by 64-bit hashes alone (XXH3): with a
 * million of them the odds of one collision are one in 37 million.
 *
 * Everything here runs under the recorder's lock. */
#define _GNU_SOURCE
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/record/recorder_internal.h"
#include "trace/stacks/python.h"

static uint64_t key_of(uint64_t hash)
{
    return hash ? hash : 1; /* 0 is not a valid key of vs_map */
}

/* The definition between the cursor and *end* is complete. */
static void publish_definition_locked(struct vs_recorder *r, unsigned char *end)
{
    r->active->definitions++;
    r->active->definition_bytes += (size_t)(end - r->cursor);
    vs_window_publish_locked(r, end);
}

uint64_t vs_intern_string_locked(struct vs_recorder *r, const char *text, size_t length)
{
    /* Small windows do not hold the longest texts: those are truncated. */
    size_t most = r->window_bytes - VS_WINDOW_TAIL - 1 - VS_VARINT_MAX;
    length = length < most ? length : most;
    uint64_t key = key_of(XXH3_64bits(text, length));
    const uint64_t *known = vs_map_get(&r->string_ids, key);
    if (known)
        return *known;
    if (atomic_load_explicit(&r->selection.stage, memory_order_relaxed) == VS_RECORDING_TOTALS)
        return 0; /* for events that are left out */
    if (!vs_window_reserve_locked(r, 1 + VS_VARINT_MAX + length))
        return 0;
    known = vs_map_get(&r->string_ids, key); /* reserving may have released the lock */
    if (known)
        return *known;
    if (vs_map_put(&r->string_ids, key, r->strings + 1)) {
        vs_recorder_out_of_memory_locked(r);
        return 0;
    }
    unsigned char *p = r->cursor;
    *p++ = VS_DEFINE_STRING;
    p = vs_put_varint(p, length);
    memcpy(p, text, length);
    publish_definition_locked(r, p + length);
    return ++r->strings;
}

uint64_t vs_intern_stack_hash(void *const *pcs, size_t count)
{
    return key_of(XXH3_64bits(pcs, count * sizeof *pcs));
}

uint64_t vs_intern_stack_find_locked(struct vs_recorder *r, uint64_t hash)
{
    const uint64_t *known = vs_map_get(&r->stack_ids, hash);
    return known ? *known : VS_STACK_MISS;
}

uint64_t vs_intern_node_locked(struct vs_recorder *r, uint64_t parent, uint64_t module_code,
                               uint64_t offset)
{
    uint64_t identity[3] = {parent, offset, module_code};
    uint64_t key = key_of(XXH3_64bits(identity, sizeof identity));
    const uint64_t *known = vs_map_get(&r->node_ids, key);
    if (known)
        return *known;
    uint64_t id = r->stack_nodes + 1;
    if (vs_map_put(&r->node_ids, key, id)) {
        vs_recorder_out_of_memory_locked(r);
        return 0;
    }
    unsigned char *p = r->cursor;
    *p++ = VS_DEFINE_STACK;
    p = vs_put_varint(p, id - parent);
    p = vs_put_varint(p, module_code);
    p = vs_put_varint(p, offset);
    publish_definition_locked(r, p);
    r->stack_nodes = id;
    return id;
}

/* The node of a return address or of a Python frame's key. */
static uint64_t add_frame_locked(struct vs_recorder *r, uint64_t parent, uint64_t frame)
{
    if (frame & VS_PYTHON_KEY_BIT) {
        const uint64_t *known = vs_map_get(&r->python_places, frame);
        return known ? vs_intern_node_locked(r, parent, (*known >> 32) + 1, *known & UINT32_MAX)
                     : vs_intern_node_locked(r, parent, 0, 0);
    }
    uint64_t pc = frame - 1;
    const struct vs_loaded_module *module = vs_module_list_find_locked(r, pc);
    return module ? vs_intern_node_locked(r, parent, (uint64_t)module->index + 1,
                                          pc - module->base)
                  : vs_intern_node_locked(r, parent, 0, pc);
}

uint64_t vs_intern_stack_add_locked(struct vs_recorder *r, uint64_t hash, void *const *pcs,
                                    size_t count)
{
    if (vs_selection_stacks_stopped(&r->selection))
        return 0;
    if (!vs_window_reserve_locked(r, count * VS_STACK_NODE_BYTES_MAX))
        return 0;
    uint64_t id = 0;
    for (size_t i = count; i-- > 0;) {
        id = add_frame_locked(r, id, (uint64_t)(uintptr_t)pcs[i]);
        if (!id)
            return 0;
    }
    if (vs_map_put(&r->stack_ids, hash, id))
        vs_recorder_out_of_memory_locked(r);
    return id;
}

static unsigned char *put_text(unsigned char *p, const char *text)
{
    size_t length = strlen(text);
    p = vs_put_varint(p, length);
    memcpy(p, text, length);
    return p + length;
}

void vs_intern_kinds_locked(struct vs_recorder *r)
{
    for (uint32_t kind = 1; kind <= VS_EVENT_CODE_MAX; kind++) {
        const struct vs_event_info *info = vs_event_describe(kind);
        if (!info)
            continue;
        size_t bytes = 4 + 2 * VS_VARINT_MAX + strlen(info->name);
        for (unsigned i = 0; i < info->field_count; i++)
            bytes += 1 + VS_VARINT_MAX + strlen(info->fields[i].name);
        if (!vs_window_reserve_locked(r, bytes))
            return;
        unsigned char *p = r->cursor;
        *p++ = VS_DEFINE_KIND;
        p = vs_put_varint(p, kind);
        p = vs_put_varint(p, info->field_count);
        for (unsigned i = 0; i < info->field_count; i++)
            *p++ = (unsigned char)info->fields[i].codec;
        p = put_text(p, info->name);
        for (unsigned i = 0; i < info->field_count; i++)
            p = put_text(p, info->fields[i].name);
        publish_definition_locked(r, p);
    }
}
