/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of a verdict, and the functions for its rule and its sentences. A verdict is one
 * struct vs_verdict in a file verdict_*.c, and one row in verdict_table.h. Internal to this folder.
 */
#ifndef VS_VERDICT_H
#define VS_VERDICT_H

#include "analysis/oom/oom.h"

#define VS_VERDICT(id) extern const struct vs_verdict vs_verdict_##id;
#include "analysis/oom/verdict_table.h"
#undef VS_VERDICT

/* vs_diagnose: selects the verdict of *oom*, whose facts are complete, and lets it add its evidence
 * and remedies. VS_ERR_NOMEM. */
enum vs_err vs_diagnose(struct vs_oom *oom) VS_MUST_CHECK;

/* --- for explain() --- */

/* vs_oom_evidence: adds a sentence that supports the verdict. vs_oom_but: one that weakens it. */
void vs_oom_evidence(struct vs_oom *oom, const char *format, ...) VS_PRINTF(2, 3);
void vs_oom_but(struct vs_oom *oom, const char *format, ...) VS_PRINTF(2, 3);
/* vs_oom_remedy: adds a remedy; the best one first, but those that *fits* (it alone would have let
 * the request succeed) come before the others. *kind* is static and as in the JSON, *bytes* its
 * figure. */
void vs_oom_remedy(struct vs_oom *oom, const char *kind, uint64_t bytes, bool fits,
                   const char *format, ...) VS_PRINTF(5, 6);

/* Parts of a sentence; they live as long as *oom*. vs_oom_site: a call chain, shortened for a
 * sentence. vs_oom_enough: whether *bytes* would suffice, as text. */
const char *vs_oom_size(struct vs_oom *oom, uint64_t bytes);
const char *vs_oom_percent(struct vs_oom *oom, uint64_t part, uint64_t whole);
const char *vs_oom_site(struct vs_oom *oom, const struct vs_report_site *site, size_t frames);
const char *vs_oom_enough(struct vs_oom *oom, uint64_t bytes);

/* vs_oom_available: memory available from the device: free, and in unused cached segments.
 * vs_oom_at_once: the largest request that would have succeeded. */
uint64_t vs_oom_available(const struct vs_oom *oom);
uint64_t vs_oom_at_once(const struct vs_oom *oom);

/* Evidence and remedies shared by several verdicts: the missing bytes; freeing the growing call
 * sites (for growth), using the holes (for fragmentation), a larger device; and remedies for any
 * shortage. */
void vs_oom_explain_missing(struct vs_oom *oom);
void vs_oom_free_growth(struct vs_oom *oom);
void vs_oom_use_holes(struct vs_oom *oom);
void vs_oom_smaller_request(struct vs_oom *oom);
void vs_oom_bigger_device(struct vs_oom *oom);
void vs_oom_common_remedies(struct vs_oom *oom);

/* vs_oom_others_in_the_way: whether the request would succeed without the other processes. */
bool vs_oom_others_in_the_way(const struct vs_oom *oom);
void vs_oom_stop_others(struct vs_oom *oom);

#endif
