/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/trace_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "tools/common/command.h"

#define LINE_SHOWN 60 /* characters of a line in a message */

/* A number of digits alone, followed by white space or the end of the text. */
static bool read_number(char **at, uint64_t *out)
{
    char *end;
    *at += strspn(*at, " \t");
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return !errno && (!*end || strchr(" \t", *end));
}

static bool read_window(char *line, struct vs_report_window *out)
{
    *out = (struct vs_report_window){0};
    return read_number(&line, &out->from_ns) && read_number(&line, &out->to_ns) && !line[strspn(line, " \t")] &&
           out->from_ns <= out->to_ns;
}

bool vs_window_file_read(const char *who, const char *path, struct vs_report_window **out, size_t *count)
{
    VS_TOOL_FILE file = fopen(path, "re");
    char *line = NULL;
    size_t bytes = 0, capacity = 0;
    unsigned long number = 0;
    bool good = file != NULL;
    *out = NULL;
    *count = 0;
    if (!file)
        vs_tool_fail(who, "--windows %s: %s", path, strerror(errno));
    while (good && getline(&line, &bytes, file) >= 0) {
        line[strcspn(line, "\r\n#")] = 0;
        number++;
        if (!line[strspn(line, " \t")])
            continue;
        vs_vec_room(out, &capacity, *count + 1, sizeof **out);
        if (!read_window(line, &(*out)[*count])) {
            vs_tool_fail(who, "--windows %s:%lu: '%.*s' is not a window; write two numbers, when it begins and when "
                         "it ends, in ns since the start", path, number, LINE_SHOWN, line);
            good = false;
        } else {
            ++*count;
        }
    }
    if (good && ferror(file)) {
        vs_tool_fail(who, "--windows %s: %s", path, strerror(errno));
        good = false;
    } else if (good && !*count) {
        vs_tool_fail(who, "--windows %s: the file has no window; write 'FROM TO' lines, in ns since the start", path);
        good = false;
    }
    free(line);
    if (!good) {
        free(*out);
        *out = NULL;
    }
    return good;
}
