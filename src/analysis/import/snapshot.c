/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of an entry are looked up once for each distinct text: PyTorch stores
 * each key once, and a history has millions of entries. */
#include "analysis/import/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/core/placement.h"
#include "base/reading/vs_vec.h"
#include "base/vs_map.h"

enum entry_key {
    KEY_ACTION = 1, KEY_ADDR, KEY_SIZE, KEY_STREAM, KEY_TIME, KEY_FRAMES, KEY_METADATA,
    KEY_DEVICE_FREE, KEY_OTHER
};

static const char *const key_names[] = {
    [KEY_ACTION] = "action", [KEY_ADDR] = "addr", [KEY_SIZE] = "size", [KEY_STREAM] = "stream",
    [KEY_TIME] = "time_us", [KEY_FRAMES] = "frames", [KEY_METADATA] = "user_metadata",
    [KEY_DEVICE_FREE] = "device_free"};

static const char *const action_names[] = {
    [VS_SNAPSHOT_ALLOC] = "alloc", [VS_SNAPSHOT_FREE_REQUESTED] = "free_requested",
    [VS_SNAPSHOT_FREE_COMPLETED] = "free_completed", [VS_SNAPSHOT_SEGMENT_ALLOC] = "segment_alloc",
    [VS_SNAPSHOT_SEGMENT_FREE] = "segment_free", [VS_SNAPSHOT_SEGMENT_MAP] = "segment_map",
    [VS_SNAPSHOT_SEGMENT_UNMAP] = "segment_unmap", [VS_SNAPSHOT_OOM] = "oom"};

/* The place of *text* in *names* from *first* to *last* - 1; *last* for no place. */
static uint64_t place_of(const struct vs_pickle_text *text, const char *const *names, uint64_t first,
                         uint64_t last)
{
    uint64_t i = first;
    while (i < last && (strlen(names[i]) != text->length || memcmp(names[i], text->bytes, text->length)))
        i++;
    return i;
}

/* The meaning of a key; 0 for a key that is not a text. */
static uint64_t key_of(const struct vs_pickle_value *value)
{
    if (value->type != VS_PICKLE_TEXT)
        return 0;
    if (!value->text->key)
        value->text->key = place_of(value->text, key_names, KEY_ACTION, KEY_OTHER);
    return value->text->key;
}

/* The action that *value* names. The text's key is shared with key_of: the ranges differ. */
static enum vs_snapshot_action action_of(const struct vs_pickle_value *value)
{
    if (value->type != VS_PICKLE_TEXT)
        return VS_SNAPSHOT_OTHER;
    struct vs_pickle_text *text = value->text;
    if (text->key <= KEY_OTHER)
        text->key = KEY_OTHER + 1 + place_of(text, action_names, 0, VS_SNAPSHOT_OTHER);
    return (enum vs_snapshot_action)(text->key - KEY_OTHER - 1);
}

static enum vs_err refuse(char *why, const char *what, unsigned device, size_t index)
{
    snprintf(why, VS_PICKLE_WHY_MAX, "device %u, %s %zu: its address, size or time is missing or "
             "impossible", device, what, index);
    return VS_ERR_CORRUPT;
}

/* A whole number of 0 … *max*. */
static bool number(const struct vs_pickle_value *value, uint64_t max, uint64_t *out)
{
    if (!value || value->type != VS_PICKLE_INT || value->integer < 0 ||
        (uint64_t)value->integer > max)
        return false;
    *out = (uint64_t)value->integer;
    return true;
}

/* Whether the list in *value* is walked for the first time: a file may refer to one list many times,
 * and the work must stay in proportion to its size. */
static bool mark_walked(const struct vs_pickle_value *value)
{
    bool first = !value->list->cache;
    value->list->cache = 1;
    return first;
}

/* Any integer; streams are numbers of PyTorch, or pointers. */
static uint64_t stream_of(const struct vs_pickle_value *value)
{
    return value && value->type == VS_PICKLE_INT ? (uint64_t)value->integer : 0;
}

static struct vs_pickle_list *frames_of(const struct vs_pickle_value *value)
{
    return value && value->type == VS_PICKLE_LIST && value->list->count ? value->list : NULL;
}

/* --- history --- */

/* Fills *entry* from *dict*; *found*: bit of each key. */
static bool read_entry(const struct vs_pickle_list *dict, struct vs_snapshot_entry *entry,
                       unsigned *found)
{
    bool valid = dict->count <= 2 * VS_PICKLE_KEYS_MAX;
    *entry = (struct vs_snapshot_entry){.action = VS_SNAPSHOT_OTHER};
    *found = 0;
    for (size_t i = 0; valid && i + 1 < dict->count; i += 2) {
        const struct vs_pickle_value *value = &dict->items[i + 1];
        uint64_t key = key_of(&dict->items[i]);
        *found |= 1u << key;
        switch (key) {
        case KEY_ACTION: entry->action = action_of(value); break;
        case KEY_ADDR:
        case KEY_DEVICE_FREE:
            valid &= number(value, VS_SNAPSHOT_ADDRESS_MAX - 1, &entry->addr);
            break;
        case KEY_SIZE: valid &= number(value, VS_SNAPSHOT_SIZE_MAX, &entry->size); break;
        case KEY_STREAM: entry->stream = stream_of(value); break;
        case KEY_TIME: valid &= number(value, INT64_MAX / 1000, &entry->time_us); break;
        case KEY_FRAMES: entry->frames = frames_of(value); break;
        case KEY_METADATA:
            if (value->type == VS_PICKLE_TEXT && value->text->length)
                entry->metadata = value->text;
            break;
        default: break;
        }
    }
    return valid;
}

static bool is_complete(const struct vs_snapshot_entry *entry, unsigned found)
{
    unsigned where = 1u << (entry->action == VS_SNAPSHOT_OOM ? KEY_DEVICE_FREE : KEY_ADDR);
    if (entry->action == VS_SNAPSHOT_OTHER)
        return found & 1u << KEY_ACTION;
    if (!(found & 1u << KEY_SIZE) || (entry->action != VS_SNAPSHOT_OOM && !(found & where)))
        return false;
    return entry->action == VS_SNAPSHOT_OOM || (entry->addr && entry->size);
}

static enum vs_err take_history(struct vs_snapshot *s, unsigned device,
                                const struct vs_pickle_list *trace, char *why)
{
    struct vs_snapshot_device *d = &s->devices[device];
    unsigned found;
    uint64_t last_us = 0;
    d->entries = vs_xcalloc(trace->count + 1, sizeof *d->entries);
    for (size_t i = 0; i < trace->count; i++) {
        struct vs_snapshot_entry *entry = &d->entries[i];
        const struct vs_pickle_list *dict = vs_pickle_items(&trace->items[i], VS_PICKLE_DICT);
        if (!read_entry(dict, entry, &found) || !is_complete(entry, found))
            return refuse(why, "entry", device, i);
        if (!(found & 1u << KEY_TIME))
            s->timed = false;
        s->steps |= entry->metadata != NULL;
        if (entry->time_us < last_us) /* the order of the entries is that of the allocator's lock */
            entry->time_us = last_us;
        last_us = entry->time_us;
    }
    d->count = trace->count;
    return VS_OK;
}

static enum vs_err take_histories(struct vs_snapshot *s, const struct vs_pickle_value *root, char *why)
{
    const struct vs_pickle_list *traces =
        vs_pickle_items(vs_pickle_get(root, "device_traces"), VS_PICKLE_LIST);
    s->timed = true;
    for (size_t i = 0; i < traces->count; i++) {
        const struct vs_pickle_list *trace = vs_pickle_items(&traces->items[i], VS_PICKLE_LIST);
        if (!trace->count)
            continue;
        if (!mark_walked(&traces->items[i]))
            return refuse(why, "history", (unsigned)i, i);
        if (i >= VS_DEVICES_MAX) {
            snprintf(why, VS_PICKLE_WHY_MAX, "a history of device %zu; devices 0 to %d are read", i,
                     VS_DEVICES_MAX - 1);
            return VS_ERR_CORRUPT;
        }
        if (s->device_count <= i)
            s->device_count = (unsigned)i + 1;
        enum vs_err err = take_history(s, (unsigned)i, trace, why);
        if (err)
            return err;
    }
    return VS_OK;
}

/* --- segments --- */

/* Before PyTorch 2.1 a block lists the allocations that were in it, the last one first, with their
 * requested size and stack. */
static void take_block_history(const struct vs_pickle_value *block, struct vs_snapshot_block *out)
{
    const struct vs_pickle_list *history =
        vs_pickle_items(vs_pickle_get(block, "history"), VS_PICKLE_LIST);
    uint64_t size;
    if (!history->count)
        return;
    if (number(vs_pickle_get(&history->items[0], "real_size"), out->size, &size))
        out->requested = size;
    if (!out->frames)
        out->frames = frames_of(vs_pickle_get(&history->items[0], "frames"));
}

static bool take_block(struct vs_snapshot_device *d, const struct vs_pickle_value *block,
                       uint64_t *at, uint64_t end)
{
    const struct vs_pickle_value *state = vs_pickle_get(block, "state");
    struct vs_snapshot_block out = {.addr = *at};
    if (!number(vs_pickle_get(block, "size"), end - *at, &out.size) || !out.size)
        return false;
    *at += out.size;
    out.allocated = vs_pickle_is_text(state, "active_allocated");
    if (!out.allocated && !vs_pickle_is_text(state, "active_pending_free") &&
        !vs_pickle_is_text(state, "active_awaiting_free"))
        return true;
    if (!number(vs_pickle_get(block, "requested_size"), out.size, &out.requested))
        out.requested = out.size;
    out.frames = frames_of(vs_pickle_get(block, "frames"));
    take_block_history(block, &out);
    *(struct vs_snapshot_block *)vs_vec_push(&d->blocks, &d->block_count, &d->block_capacity,
                                             sizeof out) = out;
    return true;
}

static enum vs_err take_segment(struct vs_snapshot *s, const struct vs_pickle_value *segment,
                                size_t index, struct vs_map *known, char *why)
{
    struct vs_snapshot_segment out = {.addr = 0};
    uint64_t device = 0;
    if (!number(vs_pickle_get(segment, "device"), VS_DEVICES_MAX - 1, &device) ||
        !number(vs_pickle_get(segment, "address"), VS_SNAPSHOT_ADDRESS_MAX - 1, &out.addr) ||
        !number(vs_pickle_get(segment, "total_size"), VS_SNAPSHOT_SIZE_MAX, &out.size) ||
        !out.addr || vs_map_get(known, out.addr))
        return refuse(why, "segment", (unsigned)device, index);
    const struct vs_pickle_value *expandable = vs_pickle_get(segment, "is_expandable");
    out.stream = stream_of(vs_pickle_get(segment, "stream"));
    out.expandable = expandable && expandable->type == VS_PICKLE_BOOL && expandable->integer;
    out.frames = frames_of(vs_pickle_get(segment, "frames"));
    struct vs_snapshot_device *d = &s->devices[device];
    vs_xmap_put(known, out.addr, 1);
    *(struct vs_snapshot_segment *)vs_vec_push(&d->segments, &d->segment_count,
                                               &d->segment_capacity, sizeof out) = out;
    if (s->device_count <= device)
        s->device_count = (unsigned)device + 1;
    const struct vs_pickle_list *blocks =
        vs_pickle_items(vs_pickle_get(segment, "blocks"), VS_PICKLE_LIST);
    uint64_t at = out.addr;
    if (blocks->count && !mark_walked(vs_pickle_get(segment, "blocks")))
        return refuse(why, "segment", (unsigned)device, index);
    for (size_t i = 0; i < blocks->count; i++)
        if (!take_block(d, &blocks->items[i], &at, out.addr + out.size))
            return refuse(why, "segment", (unsigned)device, index);
    return VS_OK;
}

static enum vs_err take_segments(struct vs_snapshot *s, const struct vs_pickle_list *segments,
                                 char *why)
{
    struct vs_map known = {0};
    enum vs_err err = VS_OK;
    for (size_t i = 0; i < segments->count && !err; i++)
        err = take_segment(s, &segments->items[i], i, &known, why);
    vs_map_free(&known);
    return err;
}

/* --- settings and annotations --- */

static void take_settings(struct vs_snapshot *s, const struct vs_pickle_value *settings)
{
    const struct vs_pickle_value *conf = vs_pickle_get(settings, "PYTORCH_CUDA_ALLOC_CONF");
    const struct vs_pickle_value *divisions = vs_pickle_get(settings, "roundup_power2_divisions");
    uint64_t value;
    if (conf && conf->type == VS_PICKLE_TEXT && conf->text->length)
        s->conf = conf->text;
    if (number(vs_pickle_get(settings, "max_split_size"), INT64_MAX, &value) && value)
        s->config.max_split_size = value;
    for (unsigned slot = 0; slot < VS_ROUNDUP_SLOTS; slot++) {
        char name[16];
        snprintf(name, sizeof name, "%u", 1u << slot);
        if (number(vs_pickle_get(divisions, name), 1u << 16, &value) && !(value & (value - 1)))
            s->config.roundup_power2_divisions[slot] = (uint32_t)value;
    }
}

static void take_annotations(struct vs_snapshot *s, const struct vs_pickle_list *list)
{
    s->annotations = vs_xcalloc(list->count + 1, sizeof *s->annotations);
    uint64_t last_us = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct vs_pickle_value *name = vs_pickle_get(&list->items[i], "name");
        const struct vs_pickle_value *stage = vs_pickle_get(&list->items[i], "stage");
        struct vs_snapshot_annotation one = {.start = vs_pickle_is_text(stage, "START")};
        if (!name || name->type != VS_PICKLE_TEXT || !name->text->length ||
            (!one.start && !vs_pickle_is_text(stage, "END")) ||
            !number(vs_pickle_get(&list->items[i], "time_us"), INT64_MAX / 1000, &one.time_us))
            continue;
        one.name = name->text;
        s->steps |= strncmp(one.name->bytes, "ProfilerStep", 12) == 0;
        if (!s->optimizer && strncmp(one.name->bytes, "Optimizer.step#", 15) == 0)
            s->optimizer = one.name;
        last_us = one.time_us = one.time_us > last_us ? one.time_us : last_us;
        s->annotations[s->annotation_count++] = one;
    }
}

enum vs_err vs_snapshot_take(const struct vs_pickle_value *root, struct vs_snapshot *s, char *why)
{
    const struct vs_pickle_value *segments = vs_pickle_get(root, "segments");
    if (root->type == VS_PICKLE_LIST) /* torch.cuda.memory_snapshot(): segments only */
        segments = root;
    if (!segments || segments->type != VS_PICKLE_LIST) {
        snprintf(why, VS_PICKLE_WHY_MAX, "a pickle, but not a PyTorch memory snapshot: it has no "
                 "list \"segments\"");
        return VS_ERR_FORMAT;
    }
    take_settings(s, vs_pickle_get(root, "allocator_settings"));
    enum vs_err err = take_segments(s, segments->list, why);
    if (!err)
        err = take_histories(s, root, why);
    if (!err)
        take_annotations(s, vs_pickle_items(vs_pickle_get(root, "external_annotations"),
                                            VS_PICKLE_LIST));
    if (!err && !s->device_count) {
        snprintf(why, VS_PICKLE_WHY_MAX, "a PyTorch memory snapshot without segments and history: "
                 "PyTorch had allocated nothing");
        err = VS_ERR_FORMAT;
    }
    return err;
}

void vs_snapshot_free(struct vs_snapshot *s)
{
    for (unsigned i = 0; i < VS_DEVICES_MAX; i++) {
        free(s->devices[i].entries);
        free(s->devices[i].segments);
        free(s->devices[i].blocks);
    }
    free(s->annotations);
}
