/* SPDX-License-Identifier: Apache-2.0
 *
 * One struct object per build: its cached names, the
 * places looked up since, and the problems with its files. Answers are made once and live, with all
 * texts, until close. */
#define _GNU_SOURCE
#include "trace/symbols/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_arena.h"
#include "base/vs_map.h"
#include "base/vs_text.h"
#include "trace/format/format.h"
#include "trace/symbols/elf_object.h"
#include "trace/symbols/symbol_cache.h"

#define OBJECT_BUDGET ((uint64_t)512 << 20) /* memory for the names of one build */
#define NOTE_NAMES 3

struct object {
    const char *path, *name, *build_id; /* the first module's; name is path's last part */
    uint32_t number;
    bool asked;   /* the worker opened it: facts are valid */
    bool broken;  /* the worker crashed on it */
    bool slow;    /* it took so long that no time would be left for others */
    bool unnamed; /* some place has no name because a file is missing */
    bool grown;   /* names were added that the cache does not have */
    struct vs_elf_facts facts;
    struct vs_symbol_set names;
    struct vs_symbol_set older; /* cached, but made from files other than the present ones */
    struct vs_symbol_source source;
    struct object *next;
};

/* The result for one pc; allocated from the arena. */
struct symbols_answer {
    uint64_t pc;
    uint32_t module;
    uint32_t count;
    struct vs_symbol *symbols;
};

struct vs_symbols {
    const struct vs_reader *reader;
    struct vs_symbols_options options;
    struct vs_symbol_set own; /* the trace's own names, by its module numbers */
    struct vs_symbol_worker worker;
    struct object *objects;
    struct vs_map by_build; /* hash -> struct object * */
    uint32_t object_count;
    struct vs_map answers; /* key_of(pc, module) -> struct symbols_answer * */
    struct vs_arena arena;
    size_t late; /* places not looked up: no time left */
};

static struct vs_symbols_options configured;

void vs_symbols_configure(const struct vs_symbols_options *options)
{
    configured = *options;
}

/* --- objects --- */

static struct vs_debug_query query_of(const struct vs_symbols *s, const struct object *object)
{
    return (struct vs_debug_query){object->path, object->build_id, object->source.link,
                                   &s->options};
}

/* Loads the cached names. They are stale when better ones may be available: the module or a debug
 * file exists, and is not the one they were made from. */
static void load_cached(struct vs_symbols *s, struct object *object)
{
    if (!s->options.cache_dir || !*object->build_id ||
        vs_symbol_cache_load(s->options.cache_dir, object->build_id, &object->names,
                             &object->source)) {
        vs_symbol_set_free(&object->names);
        object->names.budget = OBJECT_BUDGET;
        object->source = (struct vs_symbol_source){.link = ""};
        return;
    }
    struct vs_debug_query query = query_of(s, object);
    struct vs_debug_signature now = vs_debug_files_sign(&query);
    struct vs_debug_signature then = object->source.signature;
    if ((now.module && now.module != then.module) ||
        (now.separate && now.separate != then.separate)) {
        object->older = object->names;
        object->names = (struct vs_symbol_set){.budget = OBJECT_BUDGET};
    }
}

static struct object *get_object(struct vs_symbols *s, const struct vs_module *module)
{
    uint64_t key = XXH64(module->build_id, strlen(module->build_id),
                         XXH64(module->path, strlen(module->path), 0)) | 1;
    const uint64_t *known = vs_map_get(&s->by_build, key);
    if (known)
        return (struct object *)(uintptr_t)*known;
    struct object *object = vs_xarena(&s->arena, sizeof *object);
    vs_xmap_put(&s->by_build, key, (uint64_t)(uintptr_t)object);
    object->path = module->path;
    object->name = vs_text_base_name(module->path);
    object->build_id = module->build_id;
    object->number = s->object_count++;
    object->names.budget = OBJECT_BUDGET;
    object->next = s->objects;
    s->objects = object;
    load_cached(s, object);
    return object;
}

/* Has the worker look *offset* up; the answer is then in object->names. */
static void ask(struct vs_symbols *s, struct object *object, uint64_t offset)
{
    struct vs_debug_query query = query_of(s, object);
    if (object->broken || (object->asked && !object->facts.found))
        return;
    if (object->slow) {
        s->late++;
        return;
    }
    size_t before = object->names.count;
    switch (vs_symbol_worker_request(&s->worker, &query, object->number, offset, &object->names,
                                 &object->facts)) {
    case VS_WORKER_ANSWERED:
        object->asked = true;
        object->grown |= object->facts.found && object->names.count != before;
        break;
    case VS_WORKER_CRASHED:
        object->broken = true;
        break;
    case VS_WORKER_SLOW:
        object->slow = true;
        __attribute__((fallthrough));
    case VS_WORKER_LATE:
        s->late++;
        break;
    }
}

static bool better(const struct vs_symbol_entry *a, const struct vs_symbol_entry *b)
{
    if (!a || !a->count)
        return false;
    return !b || !b->count || a->level > b->level;
}

/* The names of a place from files: cache, module and debug files, older cache. */
static const struct vs_symbol_entry *look_up(struct vs_symbols *s, struct object *object,
                                             uint64_t offset)
{
    const struct vs_symbol_entry *entry = vs_symbol_set_find(&object->names, 0, offset);
    if (!entry) {
        ask(s, object, offset);
        entry = vs_symbol_set_find(&object->names, 0, offset);
    }
    const struct vs_symbol_entry *older = vs_symbol_set_find(&object->older, 0, offset);
    entry = better(older, entry) || !entry ? older : entry;
    if ((!entry || !entry->count) && strchr(object->path, '/'))
        object->unnamed |= object->broken || (object->asked && !object->facts.found);
    return entry;
}

static const struct vs_symbol_entry *find_entry(struct vs_symbols *s, struct object *object,
                                                uint32_t module, uint64_t offset)
{
    const struct vs_symbol_entry *own = vs_symbol_set_find(&s->own, module, offset);
    if (own && own->count && !s->options.prefer_files)
        return own;
    const struct vs_symbol_entry *entry = look_up(s, object, offset);
    return better(own, entry) ? own : entry;
}

const struct vs_symbol_entry *vs_symbols_place(struct vs_symbols *s, uint32_t module,
                                               uint64_t offset)
{
    const struct vs_module *recorded = vs_reader_module(s->reader, module);
    bool native = recorded && !*recorded->function;
    return native ? find_entry(s, get_object(s, recorded), module, offset) : NULL;
}

/* --- answers --- */

static size_t resolve(struct vs_symbols *s, const struct vs_frame *frame, struct vs_symbol *out)
{
    const struct vs_module *module =
        frame->module == VS_NO_MODULE ? NULL : vs_reader_module(s->reader, frame->module);
    struct object *object = module ? get_object(s, module) : NULL;
    if (!object) {
        *out = (struct vs_symbol){
            .function = vs_xarena_printf(&s->arena, "0x%" PRIx64, frame->pc), .module = "?"};
        return 1;
    }
    uint64_t offset = frame->pc - module->base;
    const struct vs_symbol_entry *entry = find_entry(s, object, frame->module, offset);
    size_t count = entry ? entry->count : 0;
    for (size_t i = 0; i < count; i++)
        out[i] = entry->symbols[i];
    if (!count) {
        out[0] = (struct vs_symbol){.known = 0};
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        out[i].module = object->name;
        if (!out[i].known)
            out[i].function =
                vs_xarena_printf(&s->arena, "%s+0x%" PRIx64, object->name, offset);
    }
    return count;
}

static uint64_t key_of(const struct vs_frame *frame)
{
    uint64_t key = frame->pc ^ ((uint64_t)frame->module << 48);
    return key ? key : 1;
}

/* The cached answer; computed now if needed. */
static const struct symbols_answer *get_answer(struct vs_symbols *s, const struct vs_frame *frame)
{
    const uint64_t *kept = vs_map_get(&s->answers, key_of(frame));
    if (kept) {
        const struct symbols_answer *answer = (const struct symbols_answer *)(uintptr_t)*kept;
        if (answer->pc == frame->pc && answer->module == frame->module)
            return answer;
    }
    struct vs_symbol symbols[VS_SYMBOL_INLINES_MAX];
    size_t count = resolve(s, frame, symbols);
    struct symbols_answer *answer = vs_xarena(&s->arena, sizeof *answer + count * sizeof symbols[0]);
    *answer = (struct symbols_answer){frame->pc, frame->module, (uint32_t)count,
                              (struct vs_symbol *)(answer + 1)};
    memcpy(answer->symbols, symbols, count * sizeof symbols[0]);
    vs_xmap_put(&s->answers, key_of(frame), (uint64_t)(uintptr_t)answer);
    return answer;
}

struct vs_symbols *vs_symbols_open(const struct vs_reader *reader)
{
    struct vs_symbols *s = vs_xcalloc(1, sizeof *s);
    s->reader = reader;
    s->options = configured;
    s->worker.fd = -1;
    s->worker.options = s->options;
    vs_trace_symbols_load(reader, &s->own);
    return s;
}

size_t vs_symbols_frame(struct vs_symbols *s, const struct vs_frame *frame, struct vs_symbol *out,
                        size_t max)
{
    if (!max)
        return 0;
    if (frame->module == VS_NO_MODULE && frame->pc <= VS_STACK_LOST) { /* missing at the end of a stack */
        const char *mark = frame->pc == VS_STACK_MORE ? "(more frames)" : "(caller unknown)";
        *out = (struct vs_symbol){.function = mark, .module = "", .known = 1};
        return 1;
    }
    const struct vs_module *module = vs_reader_module(s->reader, frame->module);
    if (module && *module->function) { /* a Python frame has its name and line in the trace */
        *out = (struct vs_symbol){.function = module->function,
                                  .file = *module->path ? module->path : NULL,
                                  .line = (unsigned)(frame->pc - module->base),
                                  .module = vs_text_base_name(module->path),
                                  .known = 1};
        return 1;
    }
    const struct symbols_answer *answer = get_answer(s, frame);
    size_t count = answer->count < max ? answer->count : max;
    memcpy(out, answer->symbols, count * sizeof *out);
    return count;
}

/* --- missing names --- */

size_t vs_symbols_missing(const struct vs_symbols *s)
{
    size_t missing = 0;
    for (const struct object *o = s->objects; o; o = o->next)
        missing += o->unnamed;
    return missing;
}

enum trouble { CHANGED, GONE, BROKEN };

static bool has_trouble(const struct object *o, enum trouble trouble)
{
    if (!o->unnamed)
        return false;
    return trouble == (o->broken ? BROKEN : o->facts.changed ? CHANGED : GONE);
}

static void add(char *text, const char *fmt, ...) VS_PRINTF(2, 3);
static void add(char *text, const char *fmt, ...)
{
    size_t n = strlen(text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + n, VS_SYMBOLS_NOTE_MAX - n, fmt, ap);
    va_end(ap);
}

static void note_trouble(const struct vs_symbols *s, enum trouble trouble, const char *one,
                         const char *many, char *text)
{
    size_t count = 0, named = 0;
    for (const struct object *o = s->objects; o; o = o->next)
        count += has_trouble(o, trouble);
    if (!count)
        return;
    add(text, "%s%zu module%s %s: ", *text ? "; " : "", count, count == 1 ? "" : "s",
        count == 1 ? one : many);
    for (const struct object *o = s->objects; o && named < NOTE_NAMES; o = o->next)
        if (has_trouble(o, trouble))
            add(text, "%s%.120s", named++ ? ", " : "", o->name);
    if (count > named)
        add(text, " and %zu more", count - named);
}

void vs_symbols_note(const struct vs_symbols *s, char *text)
{
    *text = '\0';
    note_trouble(s, CHANGED, "changed since the recording", "changed since the recording", text);
    note_trouble(s, GONE, "is not on this machine", "are not on this machine", text);
    note_trouble(s, BROKEN, "cannot be read", "cannot be read", text);
    if (*text)
        add(text, "; function names may be missing");
    if (s->late)
        add(text, "%s%zu address%s not looked up within %u s; raise --symbol-seconds",
            *text ? "; " : "", s->late, s->late == 1 ? "" : "es", s->options.budget_ms / 1000);
}

/* --- closing --- */

void vs_symbols_close(struct vs_symbols *s)
{
    if (!s)
        return;
    bool stored = false;
    int saved_errno = errno; /* of an export that could not be written */
    vs_symbol_worker_stop(&s->worker);
    for (struct object *o = s->objects; o; o = o->next) {
        stored |= o->grown;
        const char *dir = s->options.cache_dir;
        if (dir && o->grown && vs_debug_files_is_build_id(o->build_id)) {
            /* Older names of the same build that are better stay: the present file may be a
             * stripped copy. */
            enum vs_err err = VS_OK;
            for (size_t i = 0; !err && i < o->older.count; i++) {
                const struct vs_symbol_entry *older = o->older.entries[i];
                if (better(older, vs_symbol_set_find(&o->names, older->module, older->offset)))
                    err = vs_symbol_set_put(&o->names, older->module, older->offset, older->level,
                                            older->symbols, older->count);
            }
            snprintf(o->source.link, sizeof o->source.link, "%s", o->facts.link);
            struct vs_debug_query query = query_of(s, o);
            o->source.signature = vs_debug_files_sign(&query);
            (void)vs_symbol_cache_store(dir, o->build_id, &o->names, &o->source);
        }
        vs_symbol_set_free(&o->names);
        vs_symbol_set_free(&o->older);
    }
    if (stored && s->options.cache_dir)
        vs_symbol_cache_trim(s->options.cache_dir, VS_SYMBOL_CACHE_BYTES_MAX);
    vs_map_free(&s->by_build);
    vs_map_free(&s->answers);
    vs_symbol_set_free(&s->own);
    vs_arena_free_all(&s->arena);
    free(s);
    errno = saved_errno;
}
