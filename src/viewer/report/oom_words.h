/* SPDX-License-Identifier: Apache-2.0
 *
 * A post-mortem in plain words: the verdict, its evidence and the remedies as
 * sentences, used by the text and the JSON renderer alike. */
#ifndef VS_OOM_WORDS_H
#define VS_OOM_WORDS_H

#include <stddef.h>

#include "analysis/oom/oom.h"

#define VS_SENTENCE_MAX 1024
#define VS_EVIDENCE_MAX 8

/* vs_oom_verdict_words: "true capacity: the work needs more than the device has".
 * Static storage. */
const char *vs_oom_verdict_words(enum vs_verdict verdict);

/* vs_oom_evidence: the sentences that carry the verdict; returns how many. */
size_t vs_oom_evidence(const struct vs_oom *oom, char out[VS_EVIDENCE_MAX][VS_SENTENCE_MAX]);

/* vs_oom_remedy_words: remedy *index* as a sentence into *out*
 * (VS_SENTENCE_MAX). Returns out. */
char *vs_oom_remedy_words(const struct vs_oom *oom, size_t index, char *out);

#endif
