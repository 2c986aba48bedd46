/* SPDX-License-Identifier: Apache-2.0
 *
 * What a verdict consists of, and what its rule and its sentences are written with. A verdict is
 * one struct vs_verdict in a file verdict_*.c, and one row in verdict_table.h. Internal to this
 * folder. */
#ifndef VS_VERDICT_H
#define VS_VERDICT_H

#include "analysis/oom/oom.h"

#define VS_VERDICT(id) extern const struct vs_verdict vs_verdict_##id;
#include "analysis/oom/verdict_table.h"
#undef VS_VERDICT

/* vs_diagnose: choose the verdict of *oom*, whose facts are complete, and let it add its evidence
 * and remedies. VS_ERR_NOMEM. */
enum vs_err vs_diagnose(struct vs_oom *oom) VS_MUST_CHECK;

/* --- for explain() --- */

/* vs_oom_evidence: add a sentence that supports the verdict. vs_oom_but: one that weakens it. */
void vs_oom_evidence(struct vs_oom *oom, const char *format, ...) VS_PRINTF(2, 3);
void vs_oom_but(struct vs_oom *oom, const char *format, ...) VS_PRINTF(2, 3);
/* vs_oom_remedy: add a remedy; the best comes first. *kind* is static and as in the JSON, *bytes*
 * the figure it is about. *fits*: it alone would have let the request succeed. */
void vs_oom_remedy(struct vs_oom *oom, const char *kind, uint64_t bytes, bool fits,
                   const char *format, ...) VS_PRINTF(5, 6);

/* Parts of a sentence; they live as long as *oom*. vs_oom_site: a call chain that is short
 * enough for a sentence. vs_oom_enough: whether *bytes* would do, in words. */
const char *vs_oom_size(struct vs_oom *oom, uint64_t bytes);
const char *vs_oom_percent(struct vs_oom *oom, uint64_t part, uint64_t whole);
const char *vs_oom_site(struct vs_oom *oom, const struct vs_report_site *site, size_t frames);
const char *vs_oom_enough(struct vs_oom *oom, uint64_t bytes);

/* vs_oom_available: bytes that the device would have given: free, and in cached segments that
 * hold nothing. vs_oom_at_once: the largest request that would have been met. */
uint64_t vs_oom_available(const struct vs_oom *oom);
uint64_t vs_oom_at_once(const struct vs_oom *oom);

/* Evidence and remedies that several verdicts share: how much was missing; the growing call sites
 * freed (of a growth), the holes used (of a fragmentation), a larger device; and what helps against
 * any shortage. */
void vs_oom_say_missing(struct vs_oom *oom);
void vs_oom_free_growth(struct vs_oom *oom);
void vs_oom_use_holes(struct vs_oom *oom);
void vs_oom_smaller_request(struct vs_oom *oom);
void vs_oom_bigger_device(struct vs_oom *oom);
void vs_oom_common_remedies(struct vs_oom *oom);

/* vs_oom_others_in_the_way: without the other processes the request would be met. */
bool vs_oom_others_in_the_way(const struct vs_oom *oom);
void vs_oom_stop_others(struct vs_oom *oom);

#endif
