/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The only C++ of the command: it copies toml++'s tree, and nothing of C++, exceptions
 * included, leaves it. toml++ 3.3 asserts where some malformed texts ("a = [}") break its expectations;
 * such an assertion is an error of the text here, in every build. */
#undef NDEBUG
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

struct toml_assertion : std::exception {
};

#define TOML_ASSERT(expression) ((expression) ? static_cast<void>(0) : throw toml_assertion())
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

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

/* The line at which parsing stops by an assertion: the last of the shortest such beginning. Line 1 for
 * texts that are too long to try. */
static unsigned asserted_line(std::string_view text)
{
    unsigned line = 1;
    if (text.size() > 64 * 1024 || std::count(text.begin(), text.end(), '\n') > 1000)
        return line;
    for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', end + 1), line++) {
        try {
            (void)toml::parse(text.substr(0, end));
        } catch (const toml_assertion &) {
            return line;
        } catch (const std::exception &) {
        }
    }
    return line;
}

struct vs_toml *vs_toml_parse(const char *text, size_t length, unsigned *line, char *why, size_t size)
{
    std::string_view whole(text, length);
    try {
        toml::table table = toml::parse(whole);
        vs_toml *out = static_cast<vs_toml *>(std::calloc(1, sizeof *out));
        if (out)
            fill(out, table);
        else
            std::snprintf(why, size, "out of memory");
        return out;
    } catch (const toml::parse_error &error) {
        std::string_view reason = error.description();
        *line = static_cast<unsigned>(error.source().begin.line);
        std::snprintf(why, size, "%.*s", static_cast<int>(reason.size()), reason.data());
    } catch (const toml_assertion &) {
        *line = asserted_line(whole);
        std::snprintf(why, size, "a key or value was expected");
    } catch (const std::exception &error) {
        *line = 1;
        std::snprintf(why, size, "%s", error.what());
    }
    return nullptr;
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
