/* SPDX-License-Identifier: Apache-2.0
 *
 * --vary: its values, and the command with one of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/fit/fit_internal.h"

#define HOLE "{}"

bool vs_fit_has_hole(char *const *program)
{
    for (; *program; program++)
        if (strstr(*program, HOLE))
            return true;
    return false;
}

static int ascending(const void *a, const void *b)
{
    double x = strtod(*(char *const *)a, NULL), y = strtod(*(char *const *)b, NULL);
    return x < y ? -1 : x > y;
}

static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return *text && !*end;
}

int vs_fit_parse_vary(const char *who, const char *text, void *of)
{
    struct vs_fit_job *job = of;
    const char *equals = strchr(text, '=');
    const char *list = equals ? equals + 1 : text;
    if (job->vary)
        return vs_tool_usage(who, "--vary is given twice; only one argument can vary");
    job->vary = equals ? vs_xstrndup(text, (size_t)(equals - text)) : vs_xstrdup("");
    job->ascending = true;
    for (;; list++) {
        size_t length = strcspn(list, ",");
        if (!length)
            return vs_tool_usage(who, "--vary %s has an empty value; write it as "
                                 "--vary --batch=1,2,4", text);
        if (job->value_count == VS_FIT_VALUES_MAX)
            return vs_tool_usage(who, "--vary takes at most %d values", VS_FIT_VALUES_MAX);
        char *value = vs_xstrndup(list, length);
        job->values[job->value_count++] = value;
        job->ascending = job->ascending && is_number(value);
        list += length;
        if (!*list)
            break;
    }
    if (job->ascending)
        qsort(job->values, job->value_count, sizeof *job->values, ascending);
    return 0;
}

/* *word* with each {} replaced. */
static char *fill_holes(const char *word, const char *value)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = vs_xstream(&text, &bytes);
    for (const char *hole; (hole = strstr(word, HOLE)); word = hole + strlen(HOLE))
        fprintf(out, "%.*s%s", (int)(hole - word), word, value);
    fputs(word, out);
    vs_xstream_end(out);
    return text;
}

/* Whether *word* is "NAME=…". */
static bool is_assigned(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=';
}

/* The place of *name* among the arguments; -1: it is not there. The last one counts, as it does
 * for most programs. */
static int find_name(char *const *program, const char *name)
{
    int found = -1;
    for (int i = 1; program[0] && program[i]; i++)
        if (is_assigned(program[i], name) || (*name == '-' && strcmp(program[i], name) == 0))
            found = i;
    return found;
}

/* Puts the value after the name, or behind all arguments; an option that stands alone gets its
 * value as an argument of its own, which every parser of options takes. *out* has room for two more
 * words than *program*. */
static void place_value(char **out, char *const *program, const char *name, const char *value)
{
    int at = find_name(program, name), n = 0;
    bool alone = at >= 0 && !is_assigned(program[at], name);
    for (int i = 0; program[i]; i++)
        out[n++] = i == at && !alone          ? vs_xprintf("%s=%s", name, value)
                   : i == at + 1 && alone     ? vs_xstrdup(value)
                                              : vs_xstrdup(program[i]);
    if (at < 0 && *name != '-') {
        out[n] = vs_xprintf("%s=%s", name, value);
        return;
    }
    if (at < 0)
        out[n++] = vs_xstrdup(name);
    if (at < 0 || (alone && !program[at + 1]))
        out[n] = vs_xstrdup(value);
}

char **vs_fit_command(const struct vs_fit_job *job, const char *value)
{
    size_t count = 0;
    while (job->program[count])
        count++;
    char **command = vs_xcalloc(count + 3, sizeof *command);
    if (value && !vs_fit_has_hole(job->program))
        place_value(command, job->program, job->vary, value);
    else
        for (size_t i = 0; i < count; i++)
            command[i] = value ? fill_holes(job->program[i], value) : vs_xstrdup(job->program[i]);
    return command;
}
