/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for call sites and other names from a trace, for the sentences of the analysis and for the
 * renderers. No state. */
#ifndef VS_SITE_TEXT_H
#define VS_SITE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/naming/name_text.h"
#include "analysis/report/report.h"

#define VS_CHAIN_TEXT_MAX 4096
/* vs_text_site: "f (a.c:12) < g (a.c:30) < main [torch.empty]": at most *frames* functions of the
 * user's, " < …" when there are more, the file only where it changes, without the program's own
 * allocation functions, and the library's function that they called; the first one is short enough
 * for its line to fit on a terminal. The user's line alone, "loss.backward() (train.py:40)", for
 * threads without Python frames; the API's name when no stack was recorded; control characters become
 * '?'. *out* has VS_CHAIN_TEXT_MAX bytes. Returns out. */
char *vs_text_site(char *out, const struct vs_report_site *site, size_t frames);

/* vs_text_percent: writes "23.3 %" to *out* (16 bytes); "-" when *whole* is 0. */
char *vs_text_percent(char *out, uint64_t part, uint64_t whole);

#endif
