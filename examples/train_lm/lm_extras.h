/* SPDX-License-Identifier: Apache-2.0
 *
 * Additional functions: the intentional memory errors of --leak and --spike, the text of
 * --sample, and the gradient check. */
#ifndef LM_EXTRAS_H
#define LM_EXTRAS_H

#include "lm_pass.h"

/* The leak: copies the logits to a buffer of *bytes* bytes that is never freed. */
void keep_for_debugging(const struct lm_model *model, const struct lm_activations *kept,
                        size_t bytes);

/* The spike: evaluates the model on the start of *text* with a buffer of *bytes* bytes (0:
 * the size of the logits of the whole text), although the logits of one batch would be
 * sufficient, and prints the loss. Frees everything. */
void evaluate_full_context(const struct lm_model *model, const struct lm_text *text, size_t bytes,
                           long step);

/* Writes *count* characters with the model, starting from the text's first
 * sequence, to stdout. */
void write_sample(const struct lm_model *model, const struct lm_text *text, long count,
                  uint64_t seed);

/* Compares the gradients of one batch with finite differences of the loss,
 * tensor by tensor, and prints the differences. Returns 1 if all agree. */
int check_gradients(struct lm_model *model, const struct lm_text *text, uint64_t seed);

#endif
