/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the verbs: error lines, opening traces, small parsers. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/command.h"
#include "tools/common/symbol_tool.h"
#include "tools/common/trace_part.h"
#include "viewer/common/text_style.h"
#include "viewer/report/report_text.h"

#define LINE_BYTES (PATH_MAX + 1024)

/* Makes one line, whatever characters a file name has. */
static void make_line(char line[LINE_BYTES], const char *format, va_list args)
{
    vsnprintf(line, LINE_BYTES, format, args);
    vs_text_clean(line);
}

void vs_tool_print(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    make_line(line, format, args);
    va_end(args);
    struct vs_style style;
    vs_style_init(&style, stdout);
    char *rest = strstr(line, ": ");
    if (!rest || vs_text_width(line) <= style.width) {
        puts(line);
        return;
    }
    *rest = 0; /* "PATH:", and what is said about it on further lines */
    printf("%s:\n", line);
    vs_text_wrapped(&style, "  ", rest + 2);
}

static char last_failure[LINE_BYTES];

const char *vs_tool_failure(void)
{
    return last_failure;
}

static void complain(const char *who, const char *format, va_list args, const char *more)
{
    char line[LINE_BYTES];
    make_line(line, format, args);
    memcpy(last_failure, line, sizeof line);
    fprintf(stderr, "%s: %s%s%s%s\n", who, line, more ? "; try '" : "", more ? more : "",
            more ? " --help'" : "");
}

int vs_tool_fail(const char *who, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(who, format, args, NULL);
    va_end(args);
    return VS_EXIT_UNUSABLE;
}

int vs_tool_usage(const char *who, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain(who, format, args, who);
    va_end(args);
    return VS_EXIT_UNUSABLE;
}

int vs_tool_bad_option(char **argv, int answer)
{
    char letter[3] = {'-', (char)optopt, 0};
    const char *name = optopt && optopt < 128 ? letter : argv[optind - 1];
    if (answer == ':' && !strncmp(argv[optind - 1], "--", 2))
        name = argv[optind - 1]; /* optopt is then only our letter for the long option */
    if (answer == ':')
        return vs_tool_usage(argv[0], "%s needs a value", name);
    return vs_tool_usage(argv[0], "unknown option %s", name);
}

bool vs_tool_open(const char *who, const char *path, struct vs_reader **out)
{
    char why[VS_READER_WHY_MAX] = "";
    enum vs_err err = vs_reader_open(path, out, why);
    if (!err)
        return true;
    if (*why)
        vs_tool_fail(who, "%s", why);
    else
        vs_tool_fail(who, "%s: %s", path, vs_err_text(err));
    return false;
}

int vs_tool_condition(const char *who, const char *path,
                      enum vs_condition *condition, char *why)
{
    struct vs_reader *reader;
    struct vs_event event;
    enum vs_err err;
    if (!vs_tool_open(who, path, &reader))
        return VS_EXIT_UNUSABLE;
    while (!(err = vs_reader_next(reader, &event)))
        ;
    *condition = vs_reader_condition(reader, why);
    vs_reader_close(reader);
    return err == VS_ERR_END ? VS_EXIT_OK
                             : vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
}

bool vs_tool_usable(const char *who, const char *path, enum vs_condition condition,
                    const char *condition_text, bool partial, const char *flag)
{
    if (partial || condition == VS_TRACE_COMPLETE || condition == VS_TRACE_LIVE)
        return true;
    if (strstr(condition_text, VS_NOTHING_READABLE))
        vs_tool_fail(who, "%s: %s; record the program again", path, condition_text);
    else
        vs_tool_fail(who, "%s: %s; add %s to use the readable events", path, condition_text, flag);
    return false;
}

bool vs_tool_report(const char *who, const char *path, bool partial, const char *flag,
                    size_t sites_max, struct vs_reader **reader, struct vs_report **report)
{
    static const struct vs_part_args whole;
    struct vs_report_wish wish = {0};
    struct vs_report_options options = {.sites_max = sites_max, .wish = &wish, .timeline = true};
    return vs_tool_report_part(who, path, partial, flag, &options, &whole, reader, report);
}

bool vs_tool_report_part(const char *who, const char *path, bool partial, const char *flag,
                         const struct vs_report_options *asked, const struct vs_part_args *part,
                         struct vs_reader **reader, struct vs_report **report)
{
    struct vs_time_window window = {0};
    if (!vs_tool_open(who, path, reader))
        return false;
    if (vs_part_given(part) && !vs_part_resolve(who, path, *reader, part, &window)) {
        vs_reader_close(*reader);
        return false;
    }
    struct vs_report_options options = *asked;
    options.window = &window;
    enum vs_err err = vs_report_build(*reader, path, &options, report);
    vs_symbol_tool_done();
    if (!err) {
        if (vs_tool_usable(who, path, (*report)->condition, (*report)->condition_text, partial,
                           flag))
            return true;
        vs_report_free(*report);
    } else {
        vs_tool_fail(who, "%s: cannot read the trace: %s", path, vs_err_text(err));
    }
    vs_reader_close(*reader);
    return false;
}

bool vs_tool_colour(const char *word, struct vs_tool_colour *out)
{
    out->given = strcmp(word, "auto") != 0;
    out->colour = strcmp(word, "always") == 0;
    return !out->given || out->colour || strcmp(word, "never") == 0;
}

struct vs_style vs_tool_style(const struct vs_tool_colour *colour, FILE *out)
{
    struct vs_style style;
    vs_style_init(&style, out);
    if (colour->given)
        style.colour = colour->colour;
    return style;
}

struct vs_style vs_tool_style_full(const struct vs_tool_colour *colour, size_t top, bool full)
{
    struct vs_style style = vs_tool_style(colour, stdout);
    if (top)
        style.sites = style.kernels = top;
    style.small_sites = top;
    style.full = full;
    return style;
}

bool vs_tool_count(const char *text, unsigned long long min, unsigned long long max,
                   unsigned long long *out)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || errno || value < min || value > max)
        return false;
    *out = value;
    return true;
}

int vs_tool_finish(const char *who, FILE *out, int code)
{
    if (fflush(out) == 0 && !ferror(out))
        return code;
    return vs_tool_fail(who, "cannot write the output: %s", strerror(errno));
}
