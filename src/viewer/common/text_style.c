/* SPDX-License-Identifier: Apache-2.0
 *
 * Colour, width and lists of call sites; see the header. */
#define _GNU_SOURCE /* strcasestr */
#include "viewer/common/text_style.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "base/vs_size.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MIN 40
#define LABEL_MIN 28  /* columns that the label of a row needs beside it; otherwise it begins … */
#define LABEL_BELOW 8 /* … at this column of the next line */
#define WIDTH_MAX 240
#define CHAIN_LINES 2 /* of a call chain */
#define PARTS_SHOWN 5

/* Whether the locale has UTF-8, by the rule of setlocale(LC_CTYPE, ""). */
static bool utf8_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = vs_environment(names[i]);
        if (value && *value)
            return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
    }
    return false;
}

void vs_style_init(struct vs_style *style, FILE *out)
{
    *style = (struct vs_style){.out = out, .ascii = !utf8_locale(), .width = WIDTH_DEFAULT,
                               .sites = 5, .kernels = 5};
    if (!isatty(fileno(out)))
        return;
    const char *no_color = vs_environment("NO_COLOR"), *term = vs_environment("TERM");
    style->colour = !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
    struct winsize size;
    const char *columns = vs_environment("COLUMNS");
    unsigned width = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (!width && columns)
        width = (unsigned)strtoul(columns, NULL, 10);
    if (width)
        style->width = width < WIDTH_MIN ? WIDTH_MIN : width < WIDTH_MAX ? width : WIDTH_MAX;
}

const char *vs_paint(const struct vs_style *style, enum vs_paint paint)
{
    static const char *const codes[] = {"", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31;1m",
                                        "\x1b[33m"};
    return style->colour ? codes[paint] : "";
}

const char *vs_unpaint(const struct vs_style *style)
{
    return style->colour ? "\x1b[0m" : "";
}

void vs_text_put_part(FILE *out, const char *text, size_t bytes)
{
    for (const char *end = text + bytes; text < end;)
        fputc(vs_text_next(&text), out);
}

void vs_text_put(FILE *out, const char *text)
{
    vs_text_put_part(out, text, strlen(text));
}

void vs_text_row(const struct vs_style *style, uint64_t bytes, uint64_t whole, uint64_t count)
{
    char number[VS_SIZE_TEXT_MAX] = "";
    if (count)
        vs_count_format(number, count);
    fprintf(style->out, "    %10s  %7s  %6s%s  ", vs_size_text(bytes),
            vs_percent_text(bytes, whole), number, count ? "×" : " ");
}

static size_t columns_of(const char *text, size_t bytes)
{
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Bytes of *text*, *bytes* long, up to the next place where a name may be broken. */
static size_t unbroken(const char *text, size_t bytes)
{
    for (size_t i = 1; i < bytes; i++)
        if (text[i] == ' ' || text[i - 1] == ',' ||
            (i > 1 && text[i] != ':' && text[i - 1] == ':' && text[i - 2] == ':'))
            return i;
    return bytes;
}

/* Prints *text*, *bytes* long, from *column* on, with line breaks at *indent* where it would pass
 * the width; returns the column after it. */
static size_t put_unbroken(const struct vs_style *style, size_t indent, size_t column,
                           const char *text, size_t bytes)
{
    for (const char *end = text + bytes; text < end;) {
        size_t length = unbroken(text, (size_t)(end - text)), columns = columns_of(text, length);
        bool hard = columns > style->width - indent; /* longer than a line */
        if (!hard && column > indent && column + columns > style->width) {
            fprintf(style->out, "\n%*s", (int)indent, "");
            column = indent;
            length -= *text == ' ';
            text += *text == ' ';
        }
        for (const char *stop = text + length; text < stop;) {
            bool begins = ((unsigned char)*text & 0xc0) != 0x80;
            if (hard && begins && column >= style->width) {
                fprintf(style->out, "\n%*s", (int)indent, "");
                column = indent;
            }
            column += begins;
            fputc(vs_text_next(&text), style->out);
        }
    }
    return column;
}

/* The column where the label of a row begins that has reached *column*: on the next line in a terminal
 * that has no room for one. */
static size_t label_begin(const struct vs_style *style, size_t column)
{
    if (column + LABEL_MIN <= style->width)
        return column;
    fprintf(style->out, "\n%*s", LABEL_BELOW, "");
    return LABEL_BELOW;
}

void vs_text_chain(const struct vs_style *style, size_t indent, const struct vs_report_site *site)
{
    char chain[VS_CHAIN_TEXT_MAX];
    const char *at = vs_text_label(chain, site), *next;
    indent = label_begin(style, indent);
    size_t column = indent, lines = 1;
    for (bool first = true; *at; at = next, first = false) {
        const char *end = strstr(at, " < ");
        size_t bytes = end ? (size_t)(end - at) : strlen(at), columns = columns_of(at, bytes);
        next = end ? end + 3 : at + bytes;
        if (first) {
            column = put_unbroken(style, indent, column, at, bytes);
            continue;
        }
        if (column + 3 + columns > style->width) {
            if (lines++ == CHAIN_LINES || indent + 2 + columns > style->width) {
                if (column + 4 <= style->width)
                    fprintf(style->out, " < …");
                break;
            }
            fprintf(style->out, "\n%*s", (int)indent, "");
            column = indent;
        }
        fprintf(style->out, column == indent ? "< " : " < ");
        column = put_unbroken(style, indent, column + (column == indent ? 2 : 3), at, bytes);
    }
    if (site->through) {
        snprintf(chain, sizeof chain, " [%s]", site->through);
        put_unbroken(style, indent, column, chain, strlen(chain));
    }
    fputc('\n', style->out);
}

/* What the user's line called, where that tells its memory apart. */
static void part_lines(const struct vs_style *style, uint64_t whole, const struct vs_report_site *site)
{
    char text[VS_PART_TEXT_MAX];
    uint64_t bytes = site->bytes, count = site->count;
    for (size_t i = 0; i < site->parts.count && i < PARTS_SHOWN; i++) {
        const struct vs_site_part *part = &site->parts.items[i];
        vs_text_row(style, part->bytes, whole, part->count);
        vs_text_part(text, part);
        size_t indent = label_begin(style, VS_ROW_COLUMNS);
        fputs("  ", style->out);
        put_unbroken(style, indent + 4, indent + 2, text, strlen(text));
        fputc('\n', style->out);
        bytes -= part->bytes < bytes ? part->bytes : bytes;
        count -= part->count < count ? part->count : count;
    }
    if (!site->parts.count || !bytes)
        return;
    vs_text_row(style, bytes, whole, count);
    fprintf(style->out, "  %sother functions%s\n", vs_paint(style, VS_DIM), vs_unpaint(style));
}

/* Rows of less than a hundredth are noise under those that matter: they are summed up. */
size_t vs_text_sites_shown(const struct vs_style *style, const struct vs_report_sites *sites)
{
    size_t rows = 0;
    while (rows < sites->count && rows < style->sites &&
           (rows == 0 || style->small_sites ||
            sites->items[rows].bytes >= sites->total_bytes / 100))
        rows++;
    return rows;
}

bool vs_text_only_tensors(const struct vs_report_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++)
        if (sites->items[i].level != VS_LEVEL_FRAMEWORK)
            return false;
    return sites->count > 0;
}

void vs_text_sites(const struct vs_style *style, const struct vs_report_sites *sites)
{
    size_t shown = vs_text_sites_shown(style, sites);
    uint64_t rest = sites->total_bytes, blocks = sites->total_count;
    for (size_t i = 0; i < shown; i++) {
        const struct vs_report_site *site = &sites->items[i];
        size_t indent = VS_ROW_COLUMNS;
        vs_text_row(style, site->bytes, sites->total_bytes, site->count);
        if (sites->weight > 1)
            indent += (size_t)fprintf(style->out, "±%3.0f %%  ", site->bytes ? 100.0 *
                          (double)vs_report_site_error(sites, site) / (double)site->bytes : 0.0) - 1;
        if (style->full && site->frame_count) {
            if (site->line) { /* the thread's own frames follow */
                vs_text_put(style->out, site->line);
                fputc('\n', style->out);
            }
            for (size_t k = 0; k < site->frame_count; k++) {
                struct vs_report_site one = *site;
                struct vs_report_frame frame = site->frames[k];
                char text[VS_CHAIN_TEXT_MAX], code[VS_CODE_TEXT_MAX];
                frame.library = NULL; /* not folded */
                one.frames = &frame;
                one.folds = false;
                one.frame_count = 1;
                one.wrappers = 0;
                one.line = NULL;
                fprintf(style->out, "%*s%s\n", k || site->line ? VS_ROW_COLUMNS + 2 : 0, "",
                        vs_text_site(text, &one, 1));
                if (!site->frames[k].library && *vs_text_code(code, frame.file, frame.line, style->started_ns))
                    fprintf(style->out, "%*s%s%s%s\n", VS_ROW_COLUMNS + 4, "", vs_paint(style, VS_DIM),
                            vs_text_clip(text, code, style->width - VS_ROW_COLUMNS - 4), vs_unpaint(style));
            }
        } else
            vs_text_chain(style, indent, site);
        if (!style->full)
            part_lines(style, sites->total_bytes, site);
        rest -= site->bytes < rest ? site->bytes : rest;
        blocks -= site->count < blocks ? site->count : blocks;
    }
    uint64_t more = sites->count - shown + sites->omitted_count;
    if (more && rest) {
        vs_text_row(style, rest, sites->total_bytes, blocks);
        label_begin(style, VS_ROW_COLUMNS);
        fprintf(style->out, "%sat %s%s\n", vs_paint(style, VS_DIM),
                vs_number_text(more, "more call site"), vs_unpaint(style));
    }
    /* Memory without a call site, if not every allocation was recorded. */
    if (sites->small_count)
        fprintf(style->out, "    %10s  %7s  %6s×  %ssmaller than --min-size: only counted%s\n",
                vs_size_text(sites->small_bytes), "", vs_count_text(sites->small_count),
                vs_paint(style, VS_DIM), vs_unpaint(style));
    int64_t unsited = sites->whole_bytes ? vs_report_sites_unlisted(sites) : sites->limit_bytes;
    if (unsited)
        fprintf(style->out, "    %c%9s  %7s  %7s  %s%s%s\n", unsited < 0 ? '-' : '+',
                vs_size_text((uint64_t)(unsited < 0 ? -unsited : unsited)), "", "",
                vs_paint(style, VS_DIM),
                !sites->whole_bytes ? "allocated while only totals were recorded"
                : unsited < 0       ? "estimated too high" : "not recorded individually",
                vs_unpaint(style));
    if (sites->weight > 1 && sites->exact_bytes)
        fprintf(style->out,
                "    %sestimated from 1 in %llu allocations, ± one standard error;\n"
                "    estimated total %s, exact %s%s\n",
                vs_paint(style, VS_DIM), (unsigned long long)sites->weight,
                vs_size_text(sites->total_bytes),
                vs_size_text(sites->whole_bytes ? sites->whole_bytes : sites->exact_bytes),
                vs_unpaint(style));
}

void vs_text_shell(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./,:+@%=";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (const char *p = word; *p;) {
        char c = vs_text_next(&p);
        if (c == '\'')
            fputs("'\\''", out);
        else
            fputc(c, out);
    }
    fputc('\'', out);
}

/* Whether *text* begins with a unit, which stays on the line of its number. */
static bool is_unit(const char *text)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "%", "s", "ms", "µs", "ns"};
    size_t length = strcspn(text, " ,.;:)");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (length == strlen(units[i]) && memcmp(text, units[i], length) == 0)
            return true;
    return false;
}

/* Bytes of the word at *text*, with its unit if it is a number. */
static size_t word_bytes(const char *text)
{
    size_t length = strcspn(text, " ");
    if (length == 1 && *text == '<' && text[1] == ' ') /* a caller: "< main" */
        return 2 + strcspn(text + 2, " ");
    if (length && text[length - 1] >= '0' && text[length - 1] <= '9' && text[length] &&
        is_unit(text + length + 1))
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

/* Columns of *lead*, in which colours have no width. */
static size_t lead_columns(const char *lead)
{
    size_t columns = vs_text_width(lead);
    for (const char *p = lead; (p = strchr(p, '\x1b')) != NULL;) {
        size_t length = strcspn(p, "m") + 1;
        columns -= length;
        p += length;
    }
    return columns;
}

char *vs_text_lead(char *lead, const struct vs_style *style, const char *word)
{
    snprintf(lead, 64, "  %s%s%s  ", vs_paint(style, VS_WARN), word, vs_unpaint(style));
    return lead;
}

void vs_text_path(const struct vs_style *style, const char *lead, const char *path, const char *rest)
{
    size_t indent = lead_columns(lead);
    fputs(lead, style->out);
    vs_text_put(style->out, path);
    if (indent + vs_text_width(path) + 1 + vs_text_width(rest) > style->width)
        fprintf(style->out, "\n%*s%s\n", (int)indent, "", rest);
    else
        fprintf(style->out, " %s\n", rest);
}

void vs_text_command(const struct vs_style *style, const char *lead, const char *verb,
                     const char *path, const char *options)
{
    size_t indent = lead_columns(lead), columns = indent + strlen(verb) + 1 + vs_text_width(path);
    bool parts = columns + (*options != 0) + strlen(options) > style->width;
    char gap[64] = " ";
    if (parts)
        snprintf(gap, sizeof gap, " \\\n%*s", (int)(indent < 40 ? indent + 4 : 44), "");
    fprintf(style->out, "%s%s%s", lead, verb, columns > style->width ? gap : " ");
    vs_text_shell(style->out, path);
    fprintf(style->out, "%s%s\n", *options ? gap : "", options);
}

void vs_text_lines(const struct vs_style *style, const char *lead, const char *format, ...)
{
    char text[VS_TEXT_LINES_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vs_text_wrapped(style, lead, text);
}

void vs_text_wrapped(const struct vs_style *style, const char *lead, const char *text)
{
    size_t indent = lead_columns(lead), column = indent;
    bool joined = false; /* the part before it is of the same word, which is longer than a line */
    fprintf(style->out, "%s", lead);
    while (*text) {
        size_t word = word_bytes(text), length = word;
        if (indent + columns_of(text, word) > style->width)
            length = unbroken(text, word);
        size_t columns = columns_of(text, length);
        if (column > indent && column + !joined + columns > style->width) {
            fprintf(style->out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent && !joined) {
            fputc(' ', style->out);
            column++;
        }
        vs_text_put_part(style->out, text, length);
        joined = length < word;
        column += columns;
        text += length;
        while (*text == ' ')
            text++;
    }
    fputc('\n', style->out);
}
