/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for call sites and other names from a trace, for the sentences of the analysis and for the
 * renderers. No state. */
#ifndef VS_SITE_TEXT_H
#define VS_SITE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/report/report.h"

/* vs_text_width: columns of a UTF-8 text (one per code point). */
size_t vs_text_width(const char *text);

/* vs_text_clip: writes *text*, truncated to at most *columns* columns with "…" at the end, to *out*
 * (4 * columns + 4 bytes); control characters become '?'. Returns out. */
char *vs_text_clip(char *out, const char *text, size_t columns);

/* vs_text_next: returns the character at **text* and advances **text*; a control character, which a
 * terminal would interpret, becomes '?'. */
char vs_text_next(const char **text);

/* vs_text_clean: replaces control characters by '?', in place. Returns text. */
char *vs_text_clean(char *text);

#define VS_CHAIN_TEXT_MAX 4096
/* vs_text_site: "f (a.c:12) < g (a.c:30) < main": at most *frames* functions,
 * " < …" when there are more, the file only where it changes, without the
 * program's own allocation functions; the API's name when no stack was recorded; control
 * characters become '?'. *out* has VS_CHAIN_TEXT_MAX bytes. Returns out. */
char *vs_text_site(char *out, const struct vs_report_site *site, size_t frames);

/* vs_text_percent: writes "23.3 %" to *out* (16 bytes); "-" when *whole* is 0. */
char *vs_text_percent(char *out, uint64_t part, uint64_t whole);

#endif
