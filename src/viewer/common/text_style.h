/* SPDX-License-Identifier: Apache-2.0
 *
 * Terminal text: colour when it is wanted, and lines built from pieces that know
 * how wide they look. Shared by the text renderers. Not thread-safe. */
#ifndef VS_TEXT_STYLE_H
#define VS_TEXT_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/report/report.h"
#include "base/vs_err.h"

struct vs_style {
    FILE *out;
    bool colour;
    unsigned width; /* columns to fill; long call chains are cut there */
    size_t sites;   /* call sites per list */
    size_t kernels; /* kernels per device */
    bool full;      /* whole call chains, one frame per line */
};

/* vs_style_init: colour and width for *out*: colour only on a terminal and
 * without NO_COLOR; 110 columns when it is not a terminal. */
void vs_style_init(struct vs_style *style, FILE *out);

enum vs_paint { VS_PLAIN, VS_BOLD, VS_DIM, VS_GOOD, VS_BAD, VS_WARN };
/* vs_paint: the escape sequence, or "" without colour. vs_unpaint ends it. */
const char *vs_paint(const struct vs_style *style, enum vs_paint paint);
const char *vs_unpaint(const struct vs_style *style);

/* vs_text_width: columns of a UTF-8 text (one per code point). */
size_t vs_text_width(const char *text);

/* vs_text_clip: *text* cut to at most *columns* columns with "…" at the end when
 * it was cut, into *out* (4 * columns + 4 bytes); control characters become '?'. Returns
 * out. */
char *vs_text_clip(char *out, const char *text, size_t columns);

/* vs_text_put: *text*, which others made up, without what a terminal takes for orders:
 * control characters become '?'. */
void vs_text_put(FILE *out, const char *text);

/* vs_text_put_part: the same of the first *bytes* of *text*. */
void vs_text_put_part(FILE *out, const char *text, size_t bytes);

/* vs_text_clean: the same in place, for what goes through printf. Returns text. */
char *vs_text_clean(char *text);

#define VS_CHAIN_TEXT_MAX 4096
/* vs_text_site: "f (a.c:12) < g (a.c:30) < main": at most *frames* functions,
 * " < …" when there are more, the file only where it changes, without the
 * program's own allocation functions; the API's name when no stack was recorded; control
 * characters become '?'. *out* has VS_CHAIN_TEXT_MAX bytes. Returns out. */
char *vs_text_site(char *out, const struct vs_report_site *site, size_t frames);

/* vs_text_sites: print a list of sites under an indent of four columns: bytes,
 * share of the total, blocks, chain; then what has no site. Prints nothing when empty. */
void vs_text_sites(const struct vs_style *style, const struct vs_report_sites *sites);

/* vs_text_shell: print *word* so that a shell reads it back as one word: as it is
 * when it has none of the shell's characters, else in single quotes. */
void vs_text_shell(FILE *out, const char *word);

/* vs_text_percent: "23.3 %" into *out* (16 bytes); "-" when *whole* is 0. */
char *vs_text_percent(char *out, uint64_t part, uint64_t whole);

#endif
