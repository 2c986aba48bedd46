/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of a verdict, and the functions for its rule and its sentences. A verdict is one
 * struct vs_verdict in a file verdict_*.c, and one row in verdict_table.h. Internal to this folder.
 */
#ifndef VS_VERDICT_H
#define VS_VERDICT_H

#include "analysis/oom/oom.h"
#include "analysis/report/site_text.h"
#include "base/vs_size.h"

#define VS_VERDICT(id) extern const struct vs_verdict vs_verdict_##id;
#include "analysis/oom/verdict_table.h"
#undef VS_VERDICT

#define VS_SMALL_CAUSE 50 /* of live memory; a cause below this part is no way out */

/* vs_diagnose: selects the verdict of *oom*, whose facts are complete, and lets it add its evidence
 * and remedies. The rule (docs/oom.md): the first cause that decides; otherwise of the causes that
 * are suspected and enough alone the first in the table, unless a later one holds more than four times as
 * much; otherwise two that are enough together; otherwise true capacity. */
void vs_diagnose(struct vs_oom *oom);

/* vs_diagnose_placement: the verdict was true capacity, but a replay with another setting of the
 * program's caching allocator served the request: where the allocator placed the blocks is the cause
 * then. Selects fragmentation or the cache of others, whichever is enough with more bytes; if neither
 * does with a fiftieth of the memory in use and the request, nothing changes. */
void vs_diagnose_placement(struct vs_oom *oom);

/* vs_oom_cause_of: the share of *verdict*; NULL: it has none. */
const struct vs_oom_cause *vs_oom_cause_of(const struct vs_oom *oom,
                                           const struct vs_verdict *verdict);

/* --- for explain() --- */

/* vs_oom_evidence: adds a sentence that supports the verdict. vs_oom_but: one that weakens it. */
void vs_oom_evidence(struct vs_oom *oom, const char *format, ...) VS_PRINTF(2, 3);
void vs_oom_but(struct vs_oom *oom, const char *format, ...) VS_PRINTF(2, 3);
/* vs_oom_remedy: adds a remedy; the best one first, but those that *fits* (it alone would have let
 * the request succeed) come before the others. *kind* is static and as in the JSON, *bytes* its
 * figure. */
void vs_oom_remedy(struct vs_oom *oom, const char *kind, uint64_t bytes, bool fits,
                   const char *format, ...) VS_PRINTF(5, 6);

/* vs_oom_sort_remedies: those that let the request fit come first, of these the replayed ones, and a
 * larger device last. Against growth, freeing it comes first whether or not it is enough alone.
 * Where a step needs more than there is, using less in a step comes first. */
void vs_oom_sort_remedies(struct vs_oom *oom);

/* Parts of a sentence; they live as long as *oom*. vs_oom_site: a call chain, shortened for a
 * sentence. */
const char *vs_oom_text_of(struct vs_oom *oom, const char *format, ...) VS_PRINTF(2, 3);
const char *vs_oom_site(struct vs_oom *oom, const struct vs_report_site *site, size_t frames);
/* vs_oom_main_sites: how many of the first sites of a list are named: those with a twentieth of the
 * bytes or more, the first always, at most three. vs_oom_site_list: "A, B and 2 more call sites". */
size_t vs_oom_main_sites(const struct vs_report_sites *sites);
const char *vs_oom_site_list(struct vs_oom *oom, const struct vs_report_sites *sites,
                             size_t frames);
/* vs_oom_spike_remedy: "split or avoid …", without its effect. */
const char *vs_oom_spike_remedy(struct vs_oom *oom);

/* Evidence and remedies shared by several verdicts: the missing bytes; the share of a cause; a
 * smaller request, less in a step, the verb advise, a larger device, and remedies for any shortage. vs_oom_explain_rising and
 * vs_oom_limit_requests: that the requests of a call site became larger, if there is one. */
void vs_oom_explain_missing(struct vs_oom *oom);
void vs_oom_explain_rising(struct vs_oom *oom);
void vs_oom_limit_requests(struct vs_oom *oom);
void vs_oom_explain_share(struct vs_oom *oom, const struct vs_verdict *verdict);
void vs_oom_smaller_request(struct vs_oom *oom);
void vs_oom_smaller_step(struct vs_oom *oom);
void vs_oom_advise(struct vs_oom *oom);
void vs_oom_bigger_device(struct vs_oom *oom);
/* Whether a framework's step in progress is the first, or of the first iteration of a loop with several
 * optimizers: it runs lines that none before ran; or it needs a tenth more than any completed one so far.
 * Where it would end is unknown, and no remedy that lets only this request fit comes first. */
bool vs_oom_first_step(const struct vs_oom *oom);
bool vs_oom_step_unknown(const struct vs_oom *oom);
void vs_oom_explain_rest(struct vs_oom *oom); /* says so */
/* Beside growth: the holes of the cache hold more than what grows, and than is missing. */
bool vs_oom_more_in_holes(const struct vs_oom *oom);
void vs_oom_raise_limit(struct vs_oom *oom); /* verdict_limit.c; the limit was reached */
void vs_oom_explain_contexts(struct vs_oom *oom, uint64_t bytes); /* verdict_context.c */
void vs_oom_common_remedies(struct vs_oom *oom);

#endif
