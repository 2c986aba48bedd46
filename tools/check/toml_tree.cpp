/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The only C++ of the command: it copies toml++'s tree, and nothing of C++ leaves it.
 * Exceptions are off; memory that runs out ends the process, as everywhere in C++'s library. */
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/check/toml_tree.h"

static char *copy_of(std::string_view text)
{
    char *copy = static_cast<char *>(std::calloc(text.size() + 1, 1));
    if (copy)
        std::memcpy(copy, text.data(), text.size());
    return copy;
}

static void fill(vs_toml *out, const toml::node &node);

static void fill_items(vs_toml *out, const toml::node &node)
{
    const toml::table *table = node.as_table();
    const toml::array *array = node.as_array();
    size_t count = table ? table->size() : array->size();
    out->items = static_cast<vs_toml *>(std::calloc(count + 1, sizeof *out->items));
    if (!out->items)
        return;
    if (table) {
        for (auto &&[key, value] : *table) {
            out->items[out->count].key = copy_of(key.str());
            fill(&out->items[out->count++], value);
        }
        std::sort(out->items, out->items + count,
                  [](const vs_toml &a, const vs_toml &b) { return a.line < b.line; });
    } else {
        for (auto &&value : *array)
            fill(&out->items[out->count++], value);
    }
}

static void fill(vs_toml *out, const toml::node &node)
{
    out->line = static_cast<unsigned>(node.source().begin.line);
    out->type = VS_TOML_OTHER;
    if (const auto *text = node.as_string()) {
        out->type = VS_TOML_STRING;
        out->text = copy_of(text->get());
    } else if (const auto *integer = node.as_integer()) {
        out->type = VS_TOML_INTEGER;
        out->integer = integer->get();
    } else if (const auto *boolean = node.as_boolean()) {
        out->type = VS_TOML_BOOLEAN;
        out->boolean = boolean->get();
    } else if (node.is_table() || node.is_array()) {
        out->type = node.is_table() ? VS_TOML_TABLE : VS_TOML_ARRAY;
        fill_items(out, node);
    }
}

struct vs_toml *vs_toml_parse(const char *text, size_t length, unsigned *line, char *why, size_t size)
{
    toml::parse_result parsed = toml::parse(std::string_view(text, length));
    if (!parsed) {
        std::string_view reason = parsed.error().description();
        *line = static_cast<unsigned>(parsed.error().source().begin.line);
        std::snprintf(why, size, "%.*s", static_cast<int>(reason.size()), reason.data());
        return nullptr;
    }
    vs_toml *out = static_cast<vs_toml *>(std::calloc(1, sizeof *out));
    if (out)
        fill(out, parsed.table());
    else
        std::snprintf(why, size, "out of memory");
    return out;
}

static void free_items(vs_toml *node)
{
    for (size_t i = 0; i < node->count; i++) {
        free_items(&node->items[i]);
        std::free(node->items[i].key);
        std::free(node->items[i].text);
    }
    std::free(node->items);
}

void vs_toml_free(struct vs_toml *document)
{
    if (!document)
        return;
    free_items(document);
    std::free(document);
}
