/* SPDX-License-Identifier: Apache-2.0
 *
 * Verbs, devices, phases, steps and call sites that the user names and that do not exist: what
 * exists instead, and what may have been meant. No state. */
#ifndef VS_REPORT_NAMES_H
#define VS_REPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/report/report.h"

/* vs_report_no_device: prints that the program did not use *device*, and which devices it used.
 * Returns VS_EXIT_UNUSABLE. */
int vs_report_no_device(const char *who, const char *path, const struct vs_report *report,
                        uint64_t device);

/* vs_report_wish_known: whether the device, phase, step and call site that report->wish names occur
 * in the part of the trace that was read; false, with a message. */
bool vs_report_wish_known(const char *who, const char *path, const struct vs_report *report);

/* --- name_match.c: by the number of letters that would have to be changed --- */

#define VS_NAME_LIST_MAX 512

/* vs_name_meant: index of the one of *count* *names* that *word* differs from in at most half of its
 * letters and at most two; *count* when there is none. */
size_t vs_name_meant(const char *word, const char *const *names, size_t count);

/* vs_name_list: "a, b, c and 4 more" of *names*, each once, at most *most* of them, in *out*
 * (VS_NAME_LIST_MAX bytes). Returns out. */
char *vs_name_list(char *out, const char *const *names, size_t count, size_t most);

/* vs_name_hint: "did you mean 'b'?" or, where *word* is like none of *names*, "*listed* a, b, c", in
 * *out* (VS_NAME_HINT_MAX bytes). Returns out. vs_alloc_conf_hint: the same for a key of
 * PYTORCH_ALLOC_CONF. */
#define VS_NAME_HINT_MAX (VS_NAME_LIST_MAX + 32)
char *vs_name_hint(char *out, const char *word, const char *const *names, size_t count, size_t most,
                   const char *listed);
char *vs_alloc_conf_hint(char *out, const char *word);

#endif
