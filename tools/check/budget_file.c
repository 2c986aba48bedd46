/* SPDX-License-Identifier: Apache-2.0
 *
 * Toml_tree.h reads the syntax and keeps the line of every value; here the tree is
 * walked once, and every key is either known or an error with its line. */
#include "tools/check/check_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget/budget_key.h"
#include "base/vs_text.h"
#include "tools/check/toml_tree.h"
#include "tools/common/report_names.h"

#define FILE_BYTES_MAX (1 << 20)
#define FROM_MAX 300

struct budget_reading {
    struct vs_budget *budget;
    const char *path;
    char *why;
};

static enum vs_err fail(const struct budget_reading *reading, unsigned line, const char *text)
{
    snprintf(reading->why, VS_BUDGET_WHY_MAX, "%s:%u: %.400s", reading->path, line, text);
    return VS_ERR_ARG;
}

static const char *const scope_words[] = {"device", "phase", "test", "process"};

/* The key that *word* may have meant at *place*; NULL where none is near. */
static const char *nearest(const char *word, enum vs_budget_place place)
{
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < vs_budget_key_count; i++)
        if (vs_budget_keys[i].places & (unsigned)place)
            names[count++] = vs_budget_keys[i].name;
    for (size_t i = 0; place == VS_KEY_LIMIT && i < 4; i++)
        names[count++] = scope_words[i];
    size_t meant = vs_name_meant(word, names, count);
    return meant < count ? names[meant] : NULL;
}

static enum vs_err unknown_key(const struct budget_reading *reading, unsigned line, const char *key,
                               enum vs_budget_place place)
{
    char text[VS_BUDGET_WHY_MAX];
    const struct vs_budget_key *other = vs_budget_key_find(key, strlen(key));
    const char *near = nearest(key, place);
    if (other)
        snprintf(text, sizeof text, "'%.100s' applies to the whole file; write it above the first [[limit]]", key);
    else if (near)
        snprintf(text, sizeof text, "unknown key '%.100s'; did you mean '%s'?", key, near);
    else
        snprintf(text, sizeof text, "unknown key '%.100s'; docs/budgets.md lists the keys", key);
    return fail(reading, line, text);
}

/* A value as the option of that name would have it; false for tables, dates and so on. */
static bool as_text(const struct vs_toml *value, char *text, size_t size)
{
    switch (value->type) {
    case VS_TOML_STRING: return snprintf(text, size, "%s", value->text) < (int)size;
    case VS_TOML_INTEGER: return snprintf(text, size, "%" PRId64, value->integer) < (int)size;
    case VS_TOML_BOOLEAN:
        return snprintf(text, size, "%s", value->boolean ? "true" : "false") < (int)size;
    default: return false;
    }
}

/* A baseline's path is relative to the file that names it. */
static void beside(const struct budget_reading *reading, char *text, size_t size)
{
    size_t folder = (size_t)(vs_text_base_name(reading->path) - reading->path);
    size_t length = strlen(text);
    if (*text == '/' || !folder || folder + length >= size)
        return;
    memmove(text + folder, text, length + 1);
    memcpy(text, reading->path, folder);
}

static enum vs_err read_value(const struct budget_reading *reading, const struct vs_budget_key *key,
                              const struct vs_toml *value, const struct vs_budget_scope *scope)
{
    char text[4096], why[VS_BUDGET_WHY_MAX], from[FROM_MAX], line[VS_BUDGET_WHY_MAX];
    if (value->type == VS_TOML_ARRAY) {
        for (size_t i = 0; i < value->count; i++) {
            enum vs_err err = read_value(reading, key, &value->items[i], scope);
            if (err)
                return err;
        }
        return VS_OK;
    }
    if (!as_text(value, text, sizeof text)) {
        snprintf(line, sizeof line, "%s takes %s", key->name, key->wants);
        return fail(reading, value->line, line);
    }
    if (strcmp(key->name, "baseline") == 0)
        beside(reading, text, sizeof text);
    snprintf(from, sizeof from, "%.250s:%u", vs_text_base_name(reading->path), value->line);
    enum vs_err err = vs_budget_set(reading->budget, key, text, scope, from, why);
    if (err != VS_ERR_ARG)
        return err;
    snprintf(line, sizeof line, "%s %.400s", key->name, why);
    return fail(reading, value->line, line);
}

/* One of device, phase, test and process. */
static enum vs_err read_scope(const struct budget_reading *reading, const char *word,
                              const struct vs_toml *value, struct vs_budget_scope *scope)
{
    char line[128];
    bool device = strcmp(word, "device") == 0, process = strcmp(word, "process") == 0;
    if (device ? value->type != VS_TOML_INTEGER || value->integer < 0
               : value->type != VS_TOML_STRING || !*value->text) {
        snprintf(line, sizeof line, "%s takes %s", word,
                 device ? "a device number such as 0" : "a name in quotes; * and ? match any text");
        return fail(reading, value->line, line);
    }
    if (device) {
        scope->one_device = true;
        scope->device = (uint64_t)value->integer;
        return VS_OK;
    }
    const char *text = vs_budget_text_copy(reading->budget, value->text);
    if (!text)
        return VS_ERR_NOMEM;
    if (process) {
        scope->process = text;
        return VS_OK;
    }
    if (scope->phase)
        return fail(reading, value->line, "a limit has a phase or a test, not both; write two limits");
    scope->phase = text;
    scope->test = strcmp(word, "test") == 0;
    return VS_OK;
}

static bool is_scope_word(const char *word)
{
    bool found = false;
    for (size_t i = 0; i < 4; i++)
        found |= strcmp(word, scope_words[i]) == 0;
    return found;
}

static enum vs_err read_limit(const struct budget_reading *reading, const struct vs_toml *table)
{
    struct vs_budget_scope scope = {0};
    enum vs_err err = VS_OK;
    size_t limits = reading->budget->count;
    bool given = false;
    if (table->type != VS_TOML_TABLE)
        return fail(reading, table->line, "limit is a list of tables; begin each with [[limit]]");
    for (size_t i = 0; !err && i < table->count; i++)
        if (is_scope_word(table->items[i].key))
            err = read_scope(reading, table->items[i].key, &table->items[i], &scope);
    for (size_t i = 0; !err && i < table->count; i++) {
        const char *word = table->items[i].key;
        const struct vs_budget_key *key = vs_budget_key_find(word, strlen(word));
        if (is_scope_word(word))
            continue;
        if (!key || !(key->places & VS_KEY_LIMIT))
            return unknown_key(reading, table->items[i].line, word, VS_KEY_LIMIT);
        given = true;
        err = read_value(reading, key, &table->items[i], &scope);
    }
    if (!err && !given && reading->budget->count == limits)
        return fail(reading, table->line,
                    "this [[limit]] limits nothing; add a key such as max-peak = \"6GiB\"");
    return err;
}

static enum vs_err read_top(const struct budget_reading *reading, const struct vs_toml *top)
{
    static const struct vs_budget_scope whole;
    enum vs_err err = VS_OK;
    for (size_t i = 0; !err && i < top->count; i++) {
        const char *word = top->items[i].key;
        const struct vs_toml *value = &top->items[i];
        const struct vs_budget_key *key = vs_budget_key_find(word, strlen(word));
        if (strcmp(word, "limit") == 0) {
            if (value->type != VS_TOML_ARRAY)
                return fail(reading, value->line, "write [[limit]] with two brackets: there may be several");
            for (size_t k = 0; !err && k < value->count; k++)
                err = read_limit(reading, &value->items[k]);
        } else if (key && (key->places & VS_KEY_TOP)) {
            err = read_value(reading, key, value, &whole);
        } else if (is_scope_word(word)) {
            return fail(reading, value->line,
                        "device, phase, test and process belong below a line [[limit]]");
        } else {
            return unknown_key(reading, value->line, word, VS_KEY_TOP);
        }
    }
    return err;
}

static enum vs_err load(const char *path, char *why, char **out, size_t *length)
{
    enum vs_err err = vs_budget_text_read(path, FILE_BYTES_MAX, out, length);
    int code = errno;
    bool zero = !err && memchr(*out, 0, *length);
    if (err == VS_ERR_IO || err == VS_ERR_NOT_FOUND)
        snprintf(why, VS_BUDGET_WHY_MAX, "%.300s: cannot read the budget file: %s; check its name", path,
                 strerror(code));
    else if (err == VS_ERR_LIMIT || zero)
        snprintf(why, VS_BUDGET_WHY_MAX, "%.300s: not a budget file: it %s; a budget file is TOML text",
                 path, zero ? "contains a zero byte" : "is larger than 1 MiB");
    if (zero)
        free(*out);
    return err == VS_ERR_NOMEM ? err : err || zero ? VS_ERR_ARG : VS_OK;
}

enum vs_err vs_budget_file_read(struct vs_budget *budget, const char *path, char *why)
{
    struct budget_reading reading = {budget, path, why};
    char *text;
    size_t length;
    enum vs_err err = load(path, why, &text, &length);
    if (err)
        return err;
    char problem[200], line_text[VS_BUDGET_WHY_MAX];
    unsigned line = 1;
    struct vs_toml *document = vs_toml_parse(text, length, &line, problem, sizeof problem);
    if (document) {
        err = read_top(&reading, document);
    } else {
        snprintf(line_text, sizeof line_text, "%s; a budget file is TOML: docs/budgets.md has examples",
                 problem);
        err = fail(&reading, line, line_text);
    }
    vs_toml_free(document);
    free(text);
    return err;
}
