/* SPDX-License-Identifier: Apache-2.0
 *
 * A payload stores each text once, then the records in the order of module and
 * offset; offsets are stored as differences. */
#include "trace/symbols/symbol_set.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/reading/vs_vec.h"
#include "base/vs_utf8.h"
#include "trace/read/reader_internal.h"

/* Record head of a module; other heads are the number of symbols + 1. */
#define HEAD_MODULE 0u
#define LEVEL_MAX VS_LEVEL_LINES
/* Memory per entry or text beyond its own bytes: map slots, arena rounding. */
#define OVERHEAD 64u

/* --- in memory --- */

static uint64_t key_of(uint32_t module, uint64_t offset)
{
    uint64_t both[2] = {module, offset};
    uint64_t key = XXH64(both, sizeof both, 0);
    return key ? key : 1;
}

/* NULL when the budget is spent. */
static void *take(struct vs_symbol_set *set, size_t bytes)
{
    if (set->budget < bytes + OVERHEAD)
        return NULL;
    set->budget -= bytes + OVERHEAD;
    return vs_xarena(&set->arena, bytes);
}

/* *text*, stored once; NULL likewise. */
static const char *intern(struct vs_symbol_set *set, const char *text, size_t length)
{
    uint64_t key = XXH64(text, length, 0) | 1;
    const uint64_t *known = vs_map_get(&set->texts, key);
    if (known) {
        const char *kept = (const char *)(uintptr_t)*known;
        if (strlen(kept) == length && !memcmp(kept, text, length))
            return kept;
    }
    char *copy = take(set, length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    vs_xmap_put(&set->texts, key, (uint64_t)(uintptr_t)copy);
    return copy;
}

/* Stores *entry*: replaces the one of its place, or goes after the last. */
static void place(struct vs_symbol_set *set, struct vs_symbol_entry *entry)
{
    uint64_t key = key_of(entry->module, entry->offset);
    const struct vs_symbol_entry *known = vs_symbol_set_find(set, entry->module, entry->offset);
    if (!known && vs_map_get(&set->places, key))
        return; /* two places with the same hash: the first one stays */
    vs_vec_room(&set->entries, &set->capacity, set->count + 1, sizeof(struct vs_symbol_entry *));
    vs_xmap_put(&set->places, key, (uint64_t)(uintptr_t)entry);
    set->sorted = false;
    if (!known) {
        entry->at = set->count;
        set->entries[set->count++] = entry;
        return;
    }
    entry->at = known->at;
    set->entries[entry->at] = entry;
}

/* An entry with *symbols*; reuses the place's own memory when it is large enough. */
static enum vs_err put_entry(struct vs_symbol_set *set, uint32_t module, uint64_t offset,
                             enum vs_symbol_level level, const struct vs_symbol *symbols,
                             size_t count)
{
    struct vs_symbol_entry *known =
        (struct vs_symbol_entry *)vs_symbol_set_find(set, module, offset);
    struct vs_symbol_entry *entry =
        known && known->count >= count
            ? known
            : take(set, sizeof *entry + count * sizeof entry->symbols[0]);
    if (!entry)
        return VS_ERR_LIMIT;
    entry->module = module;
    entry->offset = offset;
    entry->count = (uint32_t)count;
    if (entry != known)
        place(set, entry);
    entry->level = level;
    memcpy(entry->symbols, symbols, count * sizeof *symbols);
    return VS_OK;
}

static struct vs_symbol one_symbol(const char *function, const char *file, unsigned line,
                                   bool last)
{
    return (struct vs_symbol){.function = function, .file = *file ? file : NULL, .line = line,
                              .module = "", .inlined = !last, .known = *function != '\0'};
}

enum vs_err vs_symbol_set_put(struct vs_symbol_set *set, uint32_t module, uint64_t offset,
                              enum vs_symbol_level level, const struct vs_symbol *symbols,
                              size_t count)
{
    struct vs_symbol copies[VS_SYMBOL_INLINES_MAX];
    if (count > VS_SYMBOL_INLINES_MAX)
        return VS_ERR_ARG;
    for (size_t i = 0; i < count; i++) {
        const char *function = symbols[i].known ? symbols[i].function : "";
        const char *file = symbols[i].file ? symbols[i].file : "";
        function = intern(set, function, strnlen(function, VS_STRING_MAX));
        file = function ? intern(set, file, strnlen(file, VS_STRING_MAX)) : NULL;
        if (!file)
            return VS_ERR_LIMIT;
        copies[i] = one_symbol(function, file, symbols[i].line, i + 1 == count);
    }
    return put_entry(set, module, offset, level, copies, count);
}

const struct vs_symbol_entry *vs_symbol_set_find(const struct vs_symbol_set *set, uint32_t module,
                                                 uint64_t offset)
{
    const uint64_t *found = vs_map_get(&set->places, key_of(module, offset));
    if (!found)
        return NULL;
    const struct vs_symbol_entry *entry = (const struct vs_symbol_entry *)(uintptr_t)*found;
    return entry->module == module && entry->offset == offset ? entry : NULL;
}

void vs_symbol_set_free(struct vs_symbol_set *set)
{
    vs_arena_free_all(&set->arena);
    vs_map_free(&set->places);
    vs_map_free(&set->texts);
    free(set->entries);
    *set = (struct vs_symbol_set){.budget = 0};
}

/* --- to bytes --- */

static int compare_entries(const void *a, const void *b)
{
    const struct vs_symbol_entry *x = *(struct vs_symbol_entry *const *)a;
    const struct vs_symbol_entry *y = *(struct vs_symbol_entry *const *)b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A payload that is being written: texts grow in one buffer, records in another. */
struct encoder {
    unsigned char *texts, *records;
    size_t text_bytes, record_bytes, room;
    uint64_t text_count;
    struct vs_map ids; /* address of an interned text -> id */
    bool begun;
    uint32_t module;
    enum vs_symbol_level level;
    uint64_t offset;
};

static enum vs_err text_id(struct encoder *e, const char *text, uint64_t *id)
{
    *id = 0;
    if (!text || !*text)
        return VS_OK;
    const uint64_t *known = vs_map_get(&e->ids, (uint64_t)(uintptr_t)text);
    if (known) {
        *id = *known;
        return VS_OK;
    }
    size_t length = strlen(text);
    if (e->text_bytes + e->record_bytes + length + 4 * VS_VARINT_MAX > e->room)
        return VS_ERR_LIMIT;
    unsigned char *p = vs_put_varint(e->texts + e->text_bytes, length);
    memcpy(p, text, length);
    e->text_bytes = (size_t)(p + length - e->texts);
    *id = ++e->text_count;
    vs_xmap_put(&e->ids, (uint64_t)(uintptr_t)text, *id);
    return VS_OK;
}

static enum vs_err encode_entry(struct encoder *e, const struct vs_symbol_entry *entry)
{
    uint64_t ids[2 * VS_SYMBOL_INLINES_MAX];
    for (size_t i = 0; i < entry->count; i++) {
        enum vs_err err = text_id(e, entry->symbols[i].function, &ids[2 * i]);
        if (!err)
            err = text_id(e, entry->symbols[i].file, &ids[2 * i + 1]);
        if (err)
            return err;
    }
    size_t most = (5 + 3 * entry->count + 2) * VS_VARINT_MAX;
    if (e->text_bytes + e->record_bytes + most > e->room)
        return VS_ERR_LIMIT;
    unsigned char *p = e->records + e->record_bytes;
    if (!e->begun || e->module != entry->module || e->level != entry->level) {
        p = vs_put_varint(p, HEAD_MODULE);
        p = vs_put_varint(p, entry->module);
        p = vs_put_varint(p, entry->level);
        e->offset = 0;
    }
    e->begun = true;
    e->module = entry->module;
    e->level = entry->level;
    p = vs_put_varint(p, entry->count + 1);
    p = vs_put_varint(p, entry->offset - e->offset);
    e->offset = entry->offset;
    for (size_t i = 0; i < entry->count; i++) {
        p = vs_put_varint(p, ids[2 * i]);
        p = vs_put_varint(p, ids[2 * i + 1]);
        p = vs_put_varint(p, entry->symbols[i].line);
    }
    e->record_bytes = (size_t)(p - e->records);
    return VS_OK;
}

enum vs_err vs_symbol_set_encode(struct vs_symbol_set *set, size_t *next, unsigned char *out,
                                 size_t room, size_t *bytes)
{
    struct encoder e = {.room = room};
    if (room < 16 * VS_VARINT_MAX)
        return VS_ERR_LIMIT;
    if (!set->sorted)
        vs_vec_sort(set->entries, set->count, sizeof *set->entries, compare_entries);
    for (size_t k = 0; k < set->count; k++)
        set->entries[k]->at = k;
    set->sorted = true;
    e.texts = vs_xcalloc(1, room + 2 * VS_VARINT_MAX);
    e.records = vs_xcalloc(1, room + 2 * VS_VARINT_MAX);
    size_t first = *next, i = first;
    enum vs_err err = VS_OK;
    while (i < set->count && !(err = encode_entry(&e, set->entries[i])))
        i++;
    if (i > first)
        err = VS_OK; /* the rest goes into the next payload */
    if (!err) {
        unsigned char *p = vs_put_varint(out, e.text_count);
        memcpy(p, e.texts, e.text_bytes);
        memcpy(p + e.text_bytes, e.records, e.record_bytes);
        *bytes = (size_t)(p - out) + e.text_bytes + e.record_bytes;
        *next = i;
    }
    free(e.texts);
    free(e.records);
    vs_map_free(&e.ids);
    return err;
}

/* --- from bytes --- */

/* A text of an untrusted payload: control bytes and invalid UTF-8 become '?'. */
static const char *intern_foreign(struct vs_symbol_set *set, const unsigned char *text,
                                  size_t length)
{
    char *clean = vs_xcalloc(1, length + 1);
    for (size_t i = 0; i < length;) {
        size_t n = vs_utf8_length(text + i, length - i);
        if (n == 0 || text[i] < 0x20 || text[i] == 0x7f)
            clean[i++] = '?';
        else
            for (; n; n--, i++)
                clean[i] = (char)text[i];
    }
    const char *kept = intern(set, clean, length);
    free(clean);
    return kept;
}

struct decoder {
    struct vs_symbol_set *set;
    const unsigned char *next, *end;
    const char **texts; /* index: id - 1 */
    uint64_t text_count;
    uint32_t module;
    enum vs_symbol_level level;
    uint64_t offset;
};

static bool get(struct decoder *d, uint64_t *value)
{
    return vs_get_varint(&d->next, d->end, value);
}

static enum vs_err decode_texts(struct decoder *d)
{
    uint64_t length;
    if (!get(d, &d->text_count) || d->text_count > (uint64_t)(d->end - d->next))
        return VS_ERR_CORRUPT;
    d->texts = vs_xcalloc((size_t)(d->text_count + 1), sizeof *d->texts);
    for (uint64_t i = 0; i < d->text_count; i++) {
        if (!get(d, &length) || length > VS_STRING_MAX || length > (uint64_t)(d->end - d->next))
            return VS_ERR_CORRUPT;
        d->texts[i] = intern_foreign(d->set, d->next, (size_t)length);
        if (!d->texts[i])
            return VS_ERR_LIMIT;
        d->next += length;
    }
    return VS_OK;
}

static enum vs_err decode_module(struct decoder *d)
{
    uint64_t module, level;
    if (!get(d, &module) || !get(d, &level) || module >= VS_NO_MODULE)
        return VS_ERR_CORRUPT;
    d->module = (uint32_t)module;
    d->level = level > LEVEL_MAX ? LEVEL_MAX : (enum vs_symbol_level)level;
    d->offset = 0;
    return VS_OK;
}

static enum vs_err decode_place(struct decoder *d, uint64_t head)
{
    struct vs_symbol symbols[VS_SYMBOL_INLINES_MAX];
    uint64_t difference, count = head - 1, ids[2], line;
    if (count > VS_SYMBOL_INLINES_MAX || d->module == VS_NO_MODULE || !get(d, &difference))
        return VS_ERR_CORRUPT;
    d->offset += difference;
    for (uint64_t i = 0; i < count; i++) {
        if (!get(d, &ids[0]) || !get(d, &ids[1]) || !get(d, &line) || ids[0] > d->text_count ||
            ids[1] > d->text_count)
            return VS_ERR_CORRUPT;
        symbols[i] = one_symbol(ids[0] ? d->texts[ids[0] - 1] : "",
                                ids[1] ? d->texts[ids[1] - 1] : "",
                                line > UINT_MAX ? 0 : (unsigned)line, i + 1 == count);
    }
    return put_entry(d->set, d->module, d->offset, d->level, symbols, (size_t)count);
}

enum vs_err vs_symbol_set_decode(struct vs_symbol_set *set, const unsigned char *payload,
                                 size_t bytes)
{
    struct decoder d = {
        .set = set, .next = payload, .end = payload + bytes, .module = VS_NO_MODULE};
    uint64_t head;
    enum vs_err err = decode_texts(&d);
    while (!err && d.next < d.end) {
        if (!get(&d, &head))
            err = VS_ERR_CORRUPT;
        else
            err = head == HEAD_MODULE ? decode_module(&d) : decode_place(&d, head);
    }
    free(d.texts);
    return err;
}
