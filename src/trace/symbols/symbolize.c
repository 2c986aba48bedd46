/* SPDX-License-Identifier: Apache-2.0
 *
 * The places are those of the stack nodes, each once; they are looked up module by
 * module, in the order of their offsets, because libdw then reads least. */
#include "trace/symbols/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_text.h"
#include "trace/read/reader_internal.h"
#include "trace/read/rewrite.h"
#include "trace/symbols/symbol_cache.h"

#define SET_BUDGET ((uint64_t)8 << 30)

struct symbolize_place {
    uint32_t module;
    uint64_t offset;
};

static int compare_places(const void *a, const void *b)
{
    const struct symbolize_place *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Lists every place in a module of the trace, which has been read; sorted, each once. */
static void list_places(const struct vs_reader *reader, struct symbolize_place **out, size_t *count)
{
    const struct vs_reader_table *table = &reader->table;
    struct symbolize_place *places = vs_xcalloc(1, table->node_count * sizeof *places + 1);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < table->node_count; i++) {
        const struct vs_module *module = vs_reader_module(reader, table->nodes[i].module);
        if (module && !*module->function)
            places[n++] = (struct symbolize_place){table->nodes[i].module,
                                         table->nodes[i].pc - module->base};
    }
    vs_vec_sort(places, n, sizeof *places, compare_places);
    for (size_t i = 0; i < n; i++)
        if (!kept || compare_places(&places[kept - 1], &places[i]))
            places[kept++] = places[i];
    *out = places;
    *count = kept;
}

static enum vs_err name_places(const struct vs_reader *reader, struct vs_symbols *symbols,
                               const struct symbolize_place *places, size_t count,
                               struct vs_symbol_set *set, struct vs_symbolize_result *out)
{
    size_t first = 0, named = 0;
    enum vs_err err = VS_OK;
    for (size_t i = 0; i < count && !err; i++) {
        const struct vs_symbol_entry *entry =
            vs_symbols_place(symbols, places[i].module, places[i].offset);
        if (entry && entry->count) {
            named += entry->symbols[entry->count - 1].known != 0;
            out->with_lines += entry->symbols[0].line != 0;
            err = vs_symbol_set_put(set, places[i].module, places[i].offset, entry->level,
                                    entry->symbols, entry->count);
        }
        if (err || (i + 1 < count && places[i + 1].module == places[i].module))
            continue;
        size_t of_module = i + 1 - first; /* places of the module that ends here */
        out->modules++;
        out->places += of_module;
        out->named += named;
        if (named != of_module) {
            const char *path = vs_reader_module(reader, places[i].module)->path;
            out->unnamed = vs_xrealloc(out->unnamed, out->unnamed_count + 1, sizeof *out->unnamed);
            out->unnamed[out->unnamed_count++] = (struct vs_symbolize_module){
                vs_xstrdup(vs_text_base_name(path)), of_module, named};
        }
        first = i + 1;
        named = 0;
    }
    return err;
}

static int most_unnamed_first(const void *a, const void *b)
{
    const struct vs_symbolize_module *x = a, *y = b;
    size_t left = x->places - x->named, right = y->places - y->named;
    return left > right ? -1 : left < right;
}

/* A truncated trace is left unchanged: the rest may still be found. */
static enum vs_err check_whole(const struct vs_reader *reader, const char *path, const char *to,
                               char *why)
{
    char text[VS_READER_WHY_MAX];
    enum vs_condition condition = vs_reader_condition(reader, text);
    if (to || condition == VS_TRACE_COMPLETE || condition == VS_TRACE_LIVE)
        return VS_OK;
    snprintf(why, VS_READER_WHY_MAX, "%.200s: %.200s; add -o FILE to write the readable events", path,
             text);
    return VS_ERR_CORRUPT;
}

static enum vs_err collect(const char *path, const char *to, struct vs_symbol_set *set,
                           struct vs_symbolize_result *out, char *why)
{
    struct vs_reader *reader;
    struct vs_symbols *symbols = NULL;
    struct vs_event event;
    struct symbolize_place *places = NULL;
    size_t count = 0;
    enum vs_err err = vs_reader_open(path, &reader, why);
    if (err)
        return err;
    while (!(err = vs_reader_next(reader, &event)))
        continue;
    if (err == VS_ERR_END && (err = check_whole(reader, path, to, why))) {
        vs_reader_close(reader);
        return err;
    }
    if (!err)
        list_places(reader, &places, &count);
    if (!err)
        symbols = vs_symbols_open(reader);
    if (!err)
        err = name_places(reader, symbols, places, count, set, out);
    if (!err)
        vs_symbols_note(symbols, out->note);
    if (err)
        snprintf(why, VS_READER_WHY_MAX, "%s: cannot look up its call stacks: %s", path, vs_err_text(err));
    vs_vec_sort(out->unnamed, out->unnamed_count, sizeof *out->unnamed, most_unnamed_first);
    vs_symbols_close(symbols);
    vs_reader_close(reader);
    free(places);
    return err;
}

enum vs_err vs_symbolize(const char *path, const char *to, struct vs_symbolize_result *out,
                         char *why)
{
    struct vs_symbol_set set = {.budget = SET_BUDGET};
    struct vs_rewrite *rewrite = NULL;
    *out = (struct vs_symbolize_result){.places = 0};
    enum vs_err err = collect(path, to, &set, out, why);
    if (!err)
        err = vs_rewrite_open(path, to, 1u << VS_FRAME_SYMBOLS, &rewrite, why);
    if (!err) {
        out->recovered = vs_rewrite_recovered(rewrite);
        unsigned char *payload = vs_xcalloc(1, VS_FRAME_RAW_MAX);
        size_t next = 0, bytes;
        while (!err && next < set.count) {
            err = vs_symbol_set_encode(&set, &next, payload, VS_FRAME_RAW_MAX, &bytes);
            if (!err)
                err = vs_rewrite_add(rewrite, VS_FRAME_SYMBOLS, 0, 0, payload, bytes);
            out->frame_bytes += err ? 0 : bytes;
        }
        free(payload);
        if (err == VS_OK || err == VS_ERR_IO) {
            err = vs_rewrite_commit(rewrite, why); /* reports why an added frame was not written */
        } else {
            snprintf(why, VS_READER_WHY_MAX, "%s: cannot write its function names: %s", path,
                     vs_err_text(err));
            vs_rewrite_cancel(rewrite);
        }
    }
    vs_symbol_set_free(&set);
    return err;
}

void vs_symbolize_free(struct vs_symbolize_result *result)
{
    for (size_t i = 0; i < result->unnamed_count; i++)
        free((char *)result->unnamed[i].name);
    free(result->unnamed);
    *result = (struct vs_symbolize_result){.places = 0};
}
