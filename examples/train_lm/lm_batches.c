/* SPDX-License-Identifier: Apache-2.0
 *
 * See lm_batches.h. Invariant: taken <= filled <= taken + 1, and a slot's host
 * buffer is written only after the copy out of it has ended. */
#include "lm_batches.h"

static size_t slot_bytes(const struct lm_batches *b)
{
    return 2 * b->batch * b->context * sizeof(int);
}

static void draw_sequences(struct lm_batches *b, int *ids, int *targets)
{
    const unsigned char *text = b->text->ids;
    for (size_t s = 0; s < b->batch; s++) {
        size_t start = lm_random_below(&b->random, b->text->length - b->context);
        for (size_t t = 0; t < b->context; t++) {
            *ids++ = text[start + t];
            *targets++ = text[start + t + 1];
        }
    }
}

static void stage_batch(struct lm_batches *b)
{
    struct lm_batch_slot *slot = &b->slots[b->filled % 2];
    LM_CUDA(cudaEventSynchronize(slot->copied)); /* returns at once before the first record */
    draw_sequences(b, slot->host, slot->host + b->batch * b->context);
    LM_CUDA(cudaStreamWaitEvent(lm_copy_stream(), slot->consumed, 0));
    LM_CUDA(cudaMemcpyAsync(slot->device, slot->host, slot_bytes(b), cudaMemcpyHostToDevice,
                            lm_copy_stream()));
    LM_CUDA(cudaEventRecord(slot->copied, lm_copy_stream()));
    b->filled++;
}

void alloc_batches(struct lm_batches *b, const struct lm_text *text, size_t batch, size_t context,
                   uint64_t seed)
{
    *b = (struct lm_batches){
        .text = text, .batch = batch, .context = context, .random = {.state = seed}};
    for (int i = 0; i < 2; i++) {
        struct lm_batch_slot *slot = &b->slots[i];
        slot->host = pinned_alloc("batch staging", slot_bytes(b));
        slot->device = device_alloc("batch", slot_bytes(b));
        LM_CUDA(cudaEventCreateWithFlags(&slot->copied, cudaEventDisableTiming));
        LM_CUDA(cudaEventCreateWithFlags(&slot->consumed, cudaEventDisableTiming));
    }
}

void free_batches(struct lm_batches *b)
{
    LM_CUDA(cudaStreamSynchronize(lm_copy_stream()));
    for (int i = 0; i < 2; i++) {
        struct lm_batch_slot *slot = &b->slots[i];
        LM_CUDA(cudaEventDestroy(slot->copied));
        LM_CUDA(cudaEventDestroy(slot->consumed));
        device_free(slot->device);
        pinned_free(slot->host);
    }
}

struct lm_batch next_batch(struct lm_batches *b)
{
    if (b->filled == b->taken)
        stage_batch(b);
    struct lm_batch_slot *slot = &b->slots[b->taken % 2];
    b->taken++;
    LM_CUDA(cudaStreamWaitEvent(lm_compute_stream(), slot->copied, 0));
    stage_batch(b);
    struct lm_batch batch = {.ids = slot->device,
                             .targets = slot->device + b->batch * b->context};
    return batch;
}

void done_with_batch(struct lm_batches *b)
{
    LM_CUDA(cudaEventRecord(b->slots[(b->taken - 1) % 2].consumed, lm_compute_stream()));
}
