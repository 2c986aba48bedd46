/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies batches of text to the device in parallel with the kernels. There are two slots,
 * each with a pinned host buffer and a device buffer. While the compute stream uses one
 * slot, the copy stream fills the other; events order the two streams. */
#ifndef LM_BATCHES_H
#define LM_BATCHES_H

#include "lm_device.h"
#include "lm_random.h"
#include "lm_text.h"

struct lm_batch_slot {
    int *host;   /* pinned: ids, then targets */
    int *device; /* the same */
    cudaEvent_t copied, consumed;
};

struct lm_batches {
    const struct lm_text *text;
    size_t batch, context;
    struct lm_random random;
    struct lm_batch_slot slots[2];
    unsigned long filled, taken; /* batches so far; slot = number % 2 */
};

/* A batch on the device: ids and the character that follows each of them. */
struct lm_batch {
    const int *ids, *targets; /* [batch][context] */
};

/* Sequences are drawn from *text* (kept by reference), which is longer than
 * *context*, with random numbers from *seed*. */
void alloc_batches(struct lm_batches *b, const struct lm_text *text, size_t batch, size_t context,
                   uint64_t seed);
void free_batches(struct lm_batches *b);

/* Returns the next batch, for work queued on the compute stream from now on, and starts
 * copying the one after it. */
struct lm_batch next_batch(struct lm_batches *b);

/* All work with the batch of the last next_batch() is queued: its slot may be
 * overwritten when that work is done. */
void done_with_batch(struct lm_batches *b);

#endif
