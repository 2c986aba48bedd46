/* SPDX-License-Identifier: Apache-2.0
 *
 * A second allocator by the same rules, written to be obviously right and as slow
 * as that takes: one array of blocks by address, every search a scan, every
 * statistic recounted after every step. The differential test drives it beside
 * the real one. Single-threaded; uses malloc. It shares nothing with src/allocator
 * but the public structures. */
#ifndef REFERENCE_MODEL_H
#define REFERENCE_MODEL_H

#include "allocator/allocator.h"
#include "support/fake_device.h"

struct model;

struct model *model_new(const struct vs_allocator_config *config, struct fake_device *device);
void model_delete(struct model *model);

enum vs_err model_malloc(struct model *model, uint64_t bytes, uint64_t stream,
                         struct vs_allocation *out);
enum vs_err model_free(struct model *model, uint64_t addr);
enum vs_err model_record_stream(struct model *model, uint64_t addr, uint64_t stream);
enum vs_err model_find(struct model *model, uint64_t addr, struct vs_allocation *out, bool *live);
uint64_t model_empty_cache(struct model *model);
uint64_t model_sync_begin(struct model *model);
void model_sync_end(struct model *model, uint64_t ticket);
const struct vs_allocator_stats *model_stats(const struct model *model);
void model_reset_peaks(struct model *model);
void model_reset_accumulated(struct model *model);

#endif
