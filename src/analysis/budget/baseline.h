/* SPDX-License-Identifier: Apache-2.0
 *
 * Baselines: the quantities of an accepted run and the call sites that made them up, as a small JSON
 * file (docs/budgets.md) that is kept under version control. An update replaces the quantities that
 * this version measures and keeps every other member of the file. Keys are sorted: equal runs give
 * equal files, and changes are easy to review. Not thread-safe. */
#ifndef VS_BASELINE_H
#define VS_BASELINE_H

#include <stdio.h>

#include "analysis/budget/culprits.h"
#include "analysis/budget/quantities.h"
#include "base/reading/vs_intern.h"
#include "base/vs_text.h"

#define VS_BASELINE_SCHEMA "vramscope.baseline/1"
/* Call sites below this part of their quantity are not stored, unless they make that part of the copies; of a
 * phase or test, those below the other part, and more than that many. */
#define VS_BASELINE_SITE_PART 1000
#define VS_BASELINE_PHASE_SITE_PART 50
#define VS_BASELINE_PHASE_SITES_MAX 8

struct vs_baseline;

/* vs_baseline_new: an empty one. */
struct vs_baseline *vs_baseline_new(void);

/* vs_baseline_read: VS_ERR_ARG, with the error in the file and what to do in *why*
 * (VS_BUDGET_WHY_MAX bytes); VS_ERR_NOT_FOUND, likewise, when there is no such file. */
enum vs_err vs_baseline_read(const char *path, struct vs_baseline **out, char *why) VS_MUST_CHECK;

/* vs_baseline_has: whether it has a process of that name. */
bool vs_baseline_has(const struct vs_baseline *baseline, const char *process);

/* vs_baseline_steps: steps of the process's run; 0 when unknown. */
uint64_t vs_baseline_steps(const struct vs_baseline *baseline, const char *process);

/* vs_baseline_arguments: the arguments of a program as a baseline has them: a hash, since they may contain
 * passwords and the file is committed. Returns out. */
#define VS_BASELINE_ARGUMENTS_MAX (sizeof "fnv1a:" + VS_TEXT_HEX_MAX)
const char *vs_baseline_arguments(char out[VS_BASELINE_ARGUMENTS_MAX], const char *arguments);

/* vs_baseline_text: what the process's run had as its "arguments", "allocator"; NULL when unknown.
 * vs_baseline_other_arguments: whether both are known and differ. vs_baseline_other_gpu: the name of the GPU
 * that it had as *device*, if that is another one; else NULL. vs_baseline_sampled: whether it had --sample. */
const char *vs_baseline_text(const struct vs_baseline *baseline, const char *process, const char *what);
bool vs_baseline_other_arguments(const struct vs_baseline *baseline, const char *process,
                                 const struct vs_measured *run);
const char *vs_baseline_other_gpu(const struct vs_baseline *baseline, const char *process,
                                  const struct vs_report_device *device);
bool vs_baseline_sampled(const struct vs_baseline *baseline, const char *process);

/* vs_baseline_has_copies: whether a program of it copied: the lines that copy are of use then. */
bool vs_baseline_has_copies(const struct vs_baseline *baseline);

/* vs_baseline_kept: whether quantities like this one are stored: those that two runs of a program
 * have alike, and on demand the readings of the device. */
bool vs_baseline_kept(const struct vs_quantity *quantity);

/* vs_baseline_is_reading: whether the quantity is a reading of the device. */
bool vs_baseline_is_reading(const struct vs_quantity *quantity);

/* vs_baseline_has_readings: whether *process* has such readings. */
bool vs_baseline_has_readings(const struct vs_baseline *baseline, const char *process);

/* vs_baseline_value: the stored value of *quantity* of *process*, of copies per step or of all directions that
 * which follows from the stored ones; false when there is none. */
bool vs_baseline_value(const struct vs_baseline *baseline, const char *process,
                       const struct vs_quantity *quantity, uint64_t *value);

/* Which call sites: those of a quantity; or of reserved memory, which is in two lists, the live blocks
 * and the requests for segments with their unused bytes. */
enum vs_site_list { VS_SITES_ALL, VS_SITES_IN_USE, VS_SITES_UNUSED };

/* vs_baseline_sites: the call sites of the quantity; false when there are none. Names are those of
 * the baseline, the list is in *memory*. *least*: sites of less may be missing in it. */
bool vs_baseline_sites(const struct vs_baseline *baseline, const char *process,
                       const struct vs_quantity *quantity, enum vs_site_list list,
                       struct vs_arena *memory, struct vs_named_sites *out, uint64_t *least);

/* vs_baseline_most: the call sites of all peaks on *device*, of the program and of its phases, each with the
 * most that it holds at one of them. Ordered by name; *memory* owns the list. */
void vs_baseline_most(const struct vs_baseline *baseline, const char *process, uint64_t device,
                      struct vs_arena *memory, struct vs_named_sites *out);

/* vs_baseline_has_device: whether it has quantities of that device of the process. */
bool vs_baseline_has_device(const struct vs_baseline *baseline, const char *process, uint64_t device);

/* vs_baseline_names: adds the names of the "devices" or "phases" of *process*, or with NULL those of the processes. */
void vs_baseline_names(const struct vs_baseline *baseline, const char *process, const char *what,
                       struct vs_intern *out);

/* vs_baseline_update: replaces the steps, devices, phases and sites of *process* with those of *taken*. The
 * sites of unused memory stay where only they differ. *readings*: with the readings of the device, which
 * the process otherwise has only if it had them before. */
void vs_baseline_update(struct vs_baseline *baseline, const char *process,
                        const struct vs_taken *taken, bool readings);

/* vs_baseline_write: the JSON text; write errors show in ferror(out). */
void vs_baseline_write(const struct vs_baseline *baseline, FILE *out);

void vs_baseline_free(struct vs_baseline *baseline); /* NULL does nothing */

#endif
