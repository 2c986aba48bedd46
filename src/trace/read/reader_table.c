/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables that a trace defines. Text is converted to valid UTF-8 here: names of kernels and
 * ranges are arbitrary bytes from the program, and all later code prints them. */
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "base/vs_utf8.h"
#include "trace/read/reader_internal.h"

static enum vs_err spend(struct vs_reader_table *table, uint64_t bytes)
{
    if (bytes > table->budget)
        return VS_ERR_LIMIT;
    table->budget -= bytes;
    return VS_OK;
}

/* Copies as valid UTF-8; with *out* NULL only counts. Returns the bytes without NUL. */
static size_t utf8_copy(char *out, const unsigned char *text, size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length;) {
        size_t step = vs_utf8_length(text + i, length - i);
        size_t bytes = step ? step : strlen(VS_UTF8_REPLACEMENT);
        if (out)
            memcpy(out + n, step ? (const char *)text + i : VS_UTF8_REPLACEMENT, bytes);
        n += bytes;
        i += step ? step : 1;
    }
    return n;
}

enum vs_err vs_reader_table_add_string(struct vs_reader_table *table, const unsigned char *text,
                                       size_t length)
{
    size_t bytes = utf8_copy(NULL, text, length);
    enum vs_err err = spend(table, bytes + 1 + 2 * sizeof(char *));
    if (err)
        return err;
    vs_vec_room(&table->strings, &table->string_capacity, table->string_count + 1, sizeof *table->strings);
    char *copy = vs_xarena(&table->text, bytes + 1);
    utf8_copy(copy, text, length);
    table->strings[table->string_count++] = copy;
    return VS_OK;
}

enum vs_err vs_reader_table_add_node(struct vs_reader_table *table, uint64_t pc, uint32_t parent,
                                     uint32_t module)
{
    enum vs_err err = spend(table, 2 * sizeof *table->nodes);
    if (err)
        return err;
    vs_vec_room(&table->nodes, &table->node_capacity, table->node_count + 1, sizeof *table->nodes);
    table->nodes[table->node_count++] = (struct vs_stack_node){pc, parent, module};
    return VS_OK;
}

enum vs_err vs_reader_table_set_module(struct vs_reader_table *table, const struct vs_event *event)
{
    uint64_t index = event->module.module;
    if (index > table->module_count || index >= VS_NO_MODULE)
        return VS_OK;
    if (index == table->module_count) {
        enum vs_err err = spend(table, 2 * sizeof *table->modules);
        if (err)
            return err;
        vs_vec_room(&table->modules, &table->module_capacity, table->module_count + 1, sizeof *table->modules);
        table->modules[table->module_count++] = (struct vs_module){.path = "", .build_id = "", .function = ""};
    } else if (!event->module.alive) {
        return VS_OK; /* unloaded, but the stacks recorded before still refer to it */
    }
    struct vs_module *module = &table->modules[index];
    module->base = event->module.base;
    module->start = event->module.start;
    module->end = event->module.end;
    module->path = vs_reader_table_string(table, event->module.path);
    module->build_id = vs_reader_table_string(table, event->module.build_id);
    module->function = vs_reader_table_string(table, event->module.function);
    return VS_OK;
}

const char *vs_reader_table_string(const struct vs_reader_table *table, uint64_t id)
{
    return id && id <= table->string_count ? table->strings[id - 1] : "";
}

void vs_reader_table_free(struct vs_reader_table *table)
{
    vs_arena_free_all(&table->text);
    free(table->strings);
    free(table->nodes);
    free(table->modules);
    *table = (struct vs_reader_table){0};
}
