/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kinds/modules.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/kinds/kinds.h"
#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"
#include "base/vs_text.h"

const char *vs_torch_pass_name(enum vs_torch_pass pass)
{
    static const char *const names[VS_TORCH_PASS_COUNT] = {NULL, "forward", "backward", "recomputed"};
    return names[pass];
}

void vs_modules_init(struct vs_modules *modules)
{
    VS_VEC_ADD(modules->items, modules->count, modules->capacity, ((struct vs_module_scope){.text = ""}));
}

void vs_modules_free(struct vs_modules *modules)
{
    free(modules->items);
    vs_map_free(&modules->by_key);
    vs_map_free(&modules->threads);
}

static uint32_t scope_of(struct vs_modules *modules, const char *text, size_t length, enum vs_torch_pass pass)
{
    if (!length && pass == VS_TORCH_NONE)
        return 0;
    uint64_t key = vs_text_hash_bytes(VS_TEXT_HASH_START, text, length) * VS_TORCH_PASS_COUNT + (uint64_t)pass;
    for (;; key++) { /* until the one that has this text */
        uint64_t index = vs_xmap_number(&modules->by_key, key | UINT64_C(1) << 63, modules->count);
        if (index == modules->count)
            VS_VEC_ADD(modules->items, modules->count, modules->capacity,
                       ((struct vs_module_scope){.text = text, .length = (uint32_t)length, .pass = pass}));
        const struct vs_module_scope *scope = &modules->items[index];
        if (scope->length == length && scope->pass == pass && memcmp(scope->text, text, length) == 0)
            return (uint32_t)index;
    }
}

void vs_modules_run(struct vs_modules *modules, const struct vs_reader *reader, const struct vs_event *event)
{
    const struct vs_event_torch_module *now = &event->torch_module;
    const char *path = vs_reader_string(reader, now->path);
    enum vs_torch_pass pass = now->pass < VS_TORCH_PASS_COUNT ? (enum vs_torch_pass)now->pass : VS_TORCH_NONE;
    vs_xmap_put(&modules->threads, (uint64_t)event->tid + 1,
                path && *path ? scope_of(modules, path, strlen(path), pass) : 0);
}

uint32_t vs_modules_now(const struct vs_modules *modules, uint32_t tid)
{
    const uint64_t *scope = vs_map_get(&modules->threads, (uint64_t)tid + 1);
    return scope ? (uint32_t)*scope : 0;
}

/* The length of the module's path in "GPT:layers.0.attn.weight". */
static size_t module_length(const char *name)
{
    const char *dot = strrchr(name, '.'), *colon = strchr(name, ':');
    if (colon && (!dot || dot < colon))
        return (size_t)(colon + 1 - name);
    return dot ? (size_t)(dot - name) : 0;
}

uint32_t vs_modules_own(struct vs_modules *modules, uint32_t before, const char *name, bool first)
{
    struct vs_module_scope old = modules->items[before];
    size_t length = module_length(name), same = 0;
    if (!first) {
        while (same < length && same < old.length && name[same] == old.text[same])
            same++;
        bool whole = (same == length || name[same] == '.') && (same == old.length || old.text[same] == '.');
        while (!whole && same && name[same - 1] != ':' && name[same] != '.')
            same--;
        length = same;
    }
    return scope_of(modules, name, length, old.pass);
}

/* A module before those in it, and these before its next sibling: a point is less than other characters. */
static int path_order(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    int x = (unsigned char)*a, y = (unsigned char)*b;
    return (x == '.' ? 1 : x ? x + 1 : 0) - (y == '.' ? 1 : y ? y + 1 : 0);
}

static int by_path(const void *a, const void *b)
{
    const struct vs_module_row *x = a, *y = b;
    int order = strcmp(x->model, y->model);
    order = order ? order : path_order(x->path, y->path);
    return order ? order : vs_then(VS_ORDER(x->kind, y->kind), VS_ORDER(x->pass, y->pass));
}

void vs_module_rows(struct vs_arena *memory, const struct vs_kinds_table *table, struct vs_module_rows *out)
{
    *out = (struct vs_module_rows){.known = table->scope_count > 1};
    if (!out->known || !table->block_count)
        return;
    struct vs_kind_sum *sums = vs_xcalloc(table->scope_count * VS_KIND_COUNT, sizeof *sums);
    size_t used = 0;
    for (size_t i = 0; i < table->block_count; i++) {
        const struct vs_kind_block *block = &table->blocks[i];
        size_t module = block->kind == VS_KIND_WORKSPACES ? 0 : block->module; /* they serve all modules */
        struct vs_kind_sum *sum = &sums[module * VS_KIND_COUNT + block->kind];
        used += !sum->count++;
        sum->bytes += block->size;
        out->bytes += block->size;
    }
    struct vs_module_row *rows = vs_xarena(memory, (used + 1) * sizeof *rows);
    for (size_t scope = 0; scope < table->scope_count; scope++) {
        const struct vs_module_scope *of = &table->scopes[scope];
        const char *colon = memchr(of->text, ':', of->length);
        int model = (int)(colon ? colon - of->text : (ptrdiff_t)of->length);
        int rest = colon ? (int)of->length - model - 1 : 0;
        for (int kind = 0; kind < VS_KIND_COUNT; kind++) {
            const struct vs_kind_sum *sum = &sums[scope * VS_KIND_COUNT + (size_t)kind];
            if (sum->count)
                rows[out->count++] = (struct vs_module_row){
                    .model = vs_xarena_printf(memory, "%.*s", model, of->text),
                    .path = vs_xarena_printf(memory, "%.*s", rest, colon ? colon + 1 : ""), .kind = (enum vs_kind)kind,
                    .pass = of->pass, .bytes = sum->bytes, .blocks = sum->count};
        }
    }
    vs_vec_sort(rows, out->count, sizeof *rows, by_path);
    out->items = rows;
    free(sums);
}
