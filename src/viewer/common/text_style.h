/* SPDX-License-Identifier: Apache-2.0
 *
 * Terminal text: colour on request, and lines built from parts of known width. Shared by the text
 * renderers. Not thread-safe. */
#ifndef VS_TEXT_STYLE_H
#define VS_TEXT_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/report/report.h"
#include "analysis/report/site_text.h"
#include "base/vs_err.h"

struct vs_style {
    FILE *out;
    bool colour;
    bool ascii;     /* the locale has no UTF-8 */
    unsigned width; /* columns to fill */
    size_t sites;   /* call sites per list */
    bool small_sites; /* also those of less than 1 % of the list */
    size_t kernels; /* kernels per device */
    bool full;      /* whole call chains, one frame per line, with the source lines of the user's */
    uint64_t started_ns; /* of the program, since the Unix epoch: source files changed later are marked; 0:
                          * not known */
};

/* vs_style_init: sets colour and width for *out*: colour only on a terminal and without NO_COLOR;
 * 80 columns if it is not a terminal. */
void vs_style_init(struct vs_style *style, FILE *out);

enum vs_paint { VS_PLAIN, VS_BOLD, VS_DIM, VS_GOOD, VS_BAD, VS_WARN };
/* vs_paint: the escape sequence, or "" without colour. vs_unpaint ends it. */
const char *vs_paint(const struct vs_style *style, enum vs_paint paint);
const char *vs_unpaint(const struct vs_style *style);

/* vs_text_put: prints *text* from the trace; control characters, which a terminal would interpret,
 * become '?'. */
void vs_text_put(FILE *out, const char *text);

/* vs_text_put_part: the same for the first *bytes* of *text*. */
void vs_text_put_part(FILE *out, const char *text, size_t bytes);

/* Columns before the text of a row of vs_text_row. */
#define VS_ROW_COLUMNS 34

/* vs_text_row: begins a row of a list: bytes, their share of *whole*, and a count (0: blank). The
 * caller prints the text and the end of the line. */
void vs_text_row(const struct vs_style *style, uint64_t bytes, uint64_t whole, uint64_t count);

/* vs_text_chain: prints the call chain of *site*, starting at column *indent*, and ends the line.
 * The first function is printed completely, on more lines if it must be; callers as far as they fit
 * on that line and one more. */
void vs_text_chain(const struct vs_style *style, size_t indent, const struct vs_report_site *site);

/* vs_text_sites: prints a list of sites indented by four columns: bytes, share of the total,
 * blocks, chain; then memory without a site. Prints nothing if empty. */
void vs_text_sites(const struct vs_style *style, const struct vs_report_sites *sites);

/* vs_text_only_tensors: whether all of *sites* are a framework's tensors. False of none. */
bool vs_text_only_tensors(const struct vs_report_sites *sites);

/* vs_text_sites_shown: how many of the rows vs_text_sites prints. */
size_t vs_text_sites_shown(const struct vs_style *style, const struct vs_report_sites *sites);

/* vs_text_wrapped: prints *lead* and *text*, broken between words at the style's width; further
 * lines are indented as far as *lead* is wide. Control characters become '?'. */
void vs_text_wrapped(const struct vs_style *style, const char *lead, const char *text);

/* vs_text_lines: vs_text_wrapped of a formatted text, of at most VS_TEXT_LINES_MAX - 1 bytes. */
#define VS_TEXT_LINES_MAX 1024
void vs_text_lines(const struct vs_style *style, const char *lead, const char *format, ...)
    VS_PRINTF(3, 4);

/* vs_text_lead: "  warning  ", with *word* coloured as a warning, in *lead* (64 bytes). Returns
 * lead. */
char *vs_text_lead(char *lead, const struct vs_style *style, const char *word);
/* vs_text_mark: the same in memory of the enclosing block, valid until its end. */
#define vs_text_mark(style, word) vs_text_lead((char[64]){""}, style, word)

/* vs_text_path: prints *lead*, *path* as one word and, on the same line if there is room, *rest*. */
void vs_text_path(const struct vs_style *style, const char *lead, const char *path,
                  const char *rest);

/* vs_text_command: prints *lead* and the command "*verb* PATH *options*" for a shell, continued on
 * further lines with a backslash if it is wider than the style. */
void vs_text_command(const struct vs_style *style, const char *lead, const char *verb,
                     const char *path, const char *options);

/* vs_text_shell: prints *word* so that a shell reads it as one word: unchanged if it has no special
 * characters, else in single quotes. */
void vs_text_shell(FILE *out, const char *word);

#endif
