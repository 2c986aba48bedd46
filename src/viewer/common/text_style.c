/* SPDX-License-Identifier: Apache-2.0
 *
 * Colour, width and lists of call sites; see the header. */
#include "viewer/common/text_style.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "base/vs_size.h"

#define WIDTH_DEFAULT 110
#define WIDTH_MIN 60
#define WIDTH_MAX 240

void vs_style_init(struct vs_style *style, FILE *out)
{
    *style = (struct vs_style){.out = out, .width = WIDTH_DEFAULT, .sites = 5, .kernels = 5};
    if (!isatty(fileno(out)))
        return;
    const char *no_color = vs_environment("NO_COLOR"), *term = vs_environment("TERM");
    style->colour = !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_MIN)
        style->width = size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
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

static void full_chain(const struct vs_style *style, const struct vs_report_site *site)
{
    for (size_t i = 0; i < site->frame_count; i++) {
        struct vs_report_site one = *site;
        char text[VS_CHAIN_TEXT_MAX];
        one.frames += i;
        one.frame_count = 1;
        one.wrappers = 0;
        fprintf(style->out, "%*s%s\n", i ? 38 : 0, "", vs_text_site(text, &one, 1));
    }
}

/* Memory without a call site, if not every allocation was recorded. */
static void unsited_lines(const struct vs_style *style, const struct vs_report_sites *sites)
{
    char a[VS_SIZE_TEXT_MAX], b[VS_SIZE_TEXT_MAX];
    if (sites->small_count)
        fprintf(style->out, "    %12s  %7s  %6s×  %ssmaller than --min-size: only counted%s\n",
                vs_size_format(a, sites->small_bytes), "", vs_count_format(b, sites->small_count),
                vs_paint(style, VS_DIM), vs_unpaint(style));
    int64_t rest = vs_report_sites_unlisted(sites);
    if (rest)
        fprintf(style->out, "    %c%11s  %7s  %7s  %s%s%s\n", rest < 0 ? '-' : '+',
                vs_size_format(a, (uint64_t)(rest < 0 ? -rest : rest)), "", "",
                vs_paint(style, VS_DIM), rest < 0 ? "estimated too high" : "not recorded individually",
                vs_unpaint(style));
    if (sites->limit_bytes && !sites->whole_bytes)
        fprintf(style->out, "    %c%11s  %7s  %7s  %safter the size limit: call sites not recorded%s\n",
                sites->limit_bytes < 0 ? '-' : '+',
                vs_size_format(a, (uint64_t)(sites->limit_bytes < 0 ? -sites->limit_bytes
                                                                    : sites->limit_bytes)),
                "", "", vs_paint(style, VS_DIM), vs_unpaint(style));
    if (sites->weight > 1 && sites->exact_bytes)
        fprintf(style->out,
                "    %sestimated from 1 in %llu allocations, ± one standard error; estimated total %s, "
                "exact %s%s\n",
                vs_paint(style, VS_DIM), (unsigned long long)sites->weight,
                vs_size_format(a, sites->total_bytes),
                vs_size_format(b, sites->whole_bytes ? sites->whole_bytes : sites->exact_bytes),
                vs_unpaint(style));
}

/* Rows of less than a hundredth are noise under those that matter: they are summed up. */
static size_t rows_shown(const struct vs_style *style, const struct vs_report_sites *sites)
{
    size_t rows = 0;
    while (rows < sites->count && rows < style->sites &&
           (rows == 0 || style->small_sites ||
            sites->items[rows].bytes >= sites->total_bytes / 100))
        rows++;
    return rows;
}

void vs_text_sites(const struct vs_style *style, const struct vs_report_sites *sites)
{
    size_t shown = rows_shown(style, sites);
    uint64_t rest = sites->total_bytes;
    char size[VS_SIZE_TEXT_MAX], share[16], count[VS_SIZE_TEXT_MAX];
    for (size_t i = 0; i < shown; i++) {
        const struct vs_report_site *site = &sites->items[i];
        char chain[VS_CHAIN_TEXT_MAX], clipped[4 * WIDTH_MAX + 8];
        vs_count_format(count, site->count);
        fprintf(style->out, "    %12s  %7s  %6s×  ", vs_size_format(size, site->bytes),
                vs_text_percent(share, site->bytes, sites->total_bytes), count);
        if (sites->weight > 1)
            fprintf(style->out, "±%3.0f %%  ", site->bytes ? 100.0 *
                    (double)vs_report_site_error(sites, site) / (double)site->bytes : 0.0);
        if (style->full && site->frame_count)
            full_chain(style, site);
        else
            fprintf(style->out, "%s\n", vs_text_clip(clipped, vs_text_site(chain, site, 4),
                                                     style->width > 76 ? style->width - 36 : 40));
        rest -= site->bytes < rest ? site->bytes : rest;
    }
    uint64_t more = sites->count - shown + sites->omitted_count;
    if (more && rest)
        fprintf(style->out, "    %12s  %7s  %7s  %sin %s more call site%s%s\n",
                vs_size_format(size, rest), vs_text_percent(share, rest, sites->total_bytes), "",
                vs_paint(style, VS_DIM), vs_count_format(count, more), more == 1 ? "" : "s",
                vs_unpaint(style));
    unsited_lines(style, sites);
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

void vs_text_wrapped(const struct vs_style *style, const char *lead, const char *text)
{
    size_t indent = vs_text_width(lead), column = indent;
    fprintf(style->out, "%s", lead);
    while (*text) {
        size_t length = 0, columns = 0;
        while (text[length] && text[length] != ' ')
            columns += ((unsigned char)text[length++] & 0xc0) != 0x80;
        if (column > indent && column + 1 + columns > style->width) {
            fprintf(style->out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', style->out);
            column++;
        }
        vs_text_put_part(style->out, text, length);
        column += columns;
        text += length;
        while (*text == ' ')
            text++;
    }
    fputc('\n', style->out);
}
