/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for call sites and other names from a trace, for the sentences of the analysis and for the
 * renderers. No state. */
#ifndef VS_SITE_TEXT_H
#define VS_SITE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/naming/name_text.h"
#include "analysis/report/report_site.h"

#define VS_CHAIN_TEXT_MAX 4096
#define VS_LABEL_FRAMES 4 /* of a call site's label, which is the same wherever it is shown */

/* vs_text_site: "f (a.c:12) < g (a.c:30) < main": at most *frames* functions of the
 * user's, " < …" when there are more, the file only where it changes, without the program's own
 * allocation functions; the first one is short enough
 * for its line to fit on a terminal. The user's line alone, "loss.backward() (train.py:40)", for
 * threads without Python frames; the API's name when no stack was recorded; control characters become
 * '?'. *out* has VS_CHAIN_TEXT_MAX bytes. Returns out. */
char *vs_text_site(char *out, const struct vs_report_site *site, size_t frames);

/* vs_text_label: vs_text_site of VS_LABEL_FRAMES functions. */
char *vs_text_label(char *out, const struct vs_report_site *site);

/* vs_text_called: "f (a.py:12) < main:30 [torch.empty]": the label, and the library's function that the
 * first one called, if it is one. *out* has VS_CHAIN_TEXT_MAX bytes. Returns out. */
char *vs_text_called(char *out, const struct vs_report_site *site);

/* vs_text_part: "LlamaMLP.forward (modeling_llama.py:164)", in *out* of VS_PART_TEXT_MAX bytes. Returns
 * out. */
#define VS_PART_TEXT_MAX 384
char *vs_text_part(char *out, const struct vs_site_part *part);

/* vs_text_code: line *line* of the source file *path* in *out* of VS_CODE_TEXT_MAX bytes, with a remark if the
 * file changed after *started_ns* (of the program, since the Unix epoch; 0: not known); "" without it. Returns
 * out. */
#define VS_CODE_TEXT_MAX 200
char *vs_text_code(char *out, const char *path, unsigned line, uint64_t started_ns);

/* vs_text_percent: writes "23.3 %" to *out* (16 bytes); "-" when *whole* is 0. */
char *vs_text_percent(char *out, uint64_t part, uint64_t whole);
/* vs_percent_text: the same in memory of the enclosing block, valid until its end. */
#define vs_percent_text(part, whole) vs_text_percent((char[16]){""}, part, whole)

#endif
