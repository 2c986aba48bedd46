/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/tool_options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"

#define LONG_BASE 256 /* getopt_long's answer for the first row */

/* The number of *text* in *words*, "a, b, c". */
static bool find_word(const char *words, const char *text, unsigned *out)
{
    size_t length = strlen(text);
    for (*out = 0; *words; ++*out) {
        size_t word = strcspn(words, ",");
        if (word == length && memcmp(words, text, length) == 0)
            return true;
        words += word + strspn(words + word, ", ");
    }
    return false;
}

static int set(const char *who, const struct vs_tool_option *row, const char *text)
{
    bool good = true;
    if (row->given)
        *row->given = true;
    if (row->flag)
        *row->flag = true;
    else if (row->text)
        *row->text = text;
    else if (row->count)
        good = vs_tool_count(text, row->min, row->max, row->count);
    else if (row->part)
        return vs_part_option(who, row->name, text, row->part) ? 0 : VS_EXIT_UNUSABLE;
    else if (row->parse)
        good = row->parse(text, row->to);
    else if (row->run)
        return row->run(who, text, row->to);
    else if (row->word)
        return find_word(row->words, text, row->word)
                   ? 0
                   : vs_tool_usage(who, "--%s takes one of %s, not %s", row->name, row->words,
                                   text);
    else if (!vs_tool_colour(text, row->colour))
        return vs_tool_usage(who, "--%s takes auto, always or never", row->name);
    if (good)
        return 0;
    const char *quote = row->quoted ? "'" : "";
    return row->quoted || row->plain ? vs_tool_usage(who, "--%s takes %s, not %s%s%s", row->name,
                                                     row->takes, quote, text, quote)
                                     : vs_tool_usage(who, "--%s takes %s", row->name, row->takes);
}

int vs_tool_option(const char *who, const struct vs_tool_option *table, char **argv, int left)
{
    for (const struct vs_tool_option *row = table; row->name; row++) {
        size_t length = strlen(row->name);
        bool letter = row->letter && argv[0][1] == row->letter && !argv[0][2];
        bool name = strncmp(argv[0], "--", 2) == 0 && strncmp(argv[0] + 2, row->name, length) == 0;
        const char *end = letter ? "" : argv[0] + 2 + length;
        if (!letter && !(name && (!*end || *end == '=')))
            continue;
        const char *value = *end ? end + 1 : row->flag || left < 2 || strcmp(argv[1], "--") == 0 ? NULL : argv[1];
        if (!row->flag == !value) {
            vs_tool_usage(who, "--%s %s", row->name, value ? "takes no value" : "needs a value");
            return -1;
        }
        return set(who, row, value) ? -1 : value && !*end ? 2 : 1;
    }
    return 0;
}

int vs_tool_options(int argc, char **argv, const char *usage, const struct vs_tool_option *table)
{
    char letters[64] = ":h";
    size_t count = 0, used = 2;
    while (table[count].name)
        count++;
    struct option *options = vs_xcalloc(count + 2, sizeof *options);
    for (size_t i = 0; i < count; i++) {
        const struct vs_tool_option *row = &table[i];
        bool takes = !row->flag && !row->bare;
        options[i] = (struct option){row->name, row->optional ? optional_argument
                                                : takes ? required_argument : no_argument,
                                     NULL, LONG_BASE + (int)i};
        if (row->letter)
            letters[used++] = row->letter;
        if (row->letter && takes)
            letters[used++] = ':';
    }
    options[count] = (struct option){"help", no_argument, NULL, 'h'};
    int c, code = 0;
    opterr = 0;
    while (!code && (c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
        size_t row = c >= LONG_BASE ? (size_t)(c - LONG_BASE) : 0;
        while (c < LONG_BASE && row < count && (!table[row].letter || table[row].letter != c))
            row++;
        if (c == 'h') {
            fputs(usage, stdout);
            code = -1;
        } else {
            code = row < count ? set(argv[0], &table[row], optarg) : vs_tool_bad_option(argv, c);
        }
    }
    free(options);
    return code;
}

int vs_tool_run_option(char **argv, int left, enum vs_option_id *id, const char **value)
{
    const char *name = argv[0] + 2;
    size_t length = strcspn(name, "=");
    bool negated = vs_option_find(name, length, id) != VS_OK;
    if (negated && (name[length] || length <= 3 || strncmp(name, "no-", 3) != 0 ||
                    vs_option_find(name + 3, length - 3, id) || vs_option_describe(*id)->type != VS_OPTION_BOOL))
        return -1;
    bool flag = vs_option_describe(*id)->type == VS_OPTION_BOOL;
    *value = name[length] ? name + length + 1 : !flag ? NULL : negated ? "off" : "on";
    if (*value || left < 2 || vs_tool_is_option(argv[1]))
        return *value != NULL;
    *value = argv[1];
    return 2;
}
