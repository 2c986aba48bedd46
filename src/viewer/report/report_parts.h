/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a report, as text and as JSON. Functions of text print nothing where there is
 * nothing to say. */
#ifndef VS_REPORT_PARTS_H
#define VS_REPORT_PARTS_H

#include "analysis/report/report.h"
#include "analysis/state/balance.h"
#include "base/vs_size.h"
#include "viewer/common/json_writer.h"
#include "viewer/common/text_style.h"

/* --- balance_text.c: the balance of a device's memory (analysis/state/balance.h) --- */

/* vs_balance_text: prints the table indented by two columns: at the reading of highest use and at the last (one
 * column if they are the same time), then the allocating libraries and possible causes of the unexplained
 * rest. Prints nothing if the free memory of the device was never recorded. *end_ns*: end of the
 * process, or of the selected part, since its start; *end*: its name, "the end". */
void vs_balance_text(const struct vs_style *style, const struct vs_report_device *device, uint64_t end_ns,
                     const char *end);

/* vs_balance_rows: the table for one time with the possible causes of the rest, without a
 * heading. */
void vs_balance_rows(const struct vs_style *style, const struct vs_balance *balance);

/* vs_families_json: an object of the bytes of each family that has some. */
void vs_families_json(struct vs_json *json, const char *key, const uint64_t bytes[VS_FAMILY_COUNT]);

/* vs_balance_json: an object *key*: null if the device was never queried. */
void vs_balance_json(struct vs_json *json, const char *key, const struct vs_balance *balance);

/* --- failure_text.c: failed allocations, those that the program recovered from apart --- */

#define VS_FAILURE_WHAT_MAX 48

/* vs_failure_what: writes "16.0 MiB", or for memory that is no allocation "a CUDA context" and the
 * like, to *out*. Returns *out*. */
const char *vs_failure_what(char out[VS_FAILURE_WHAT_MAX], const struct vs_report_failure *failure);

/* vs_failure_key: the same for JSON: "allocation", "context", "module", "limit", "launch". */
const char *vs_failure_key(const struct vs_report_failure *failure);

/* vs_framework_lines: the frameworks whose blocks were not recorded, what the figures have of them, and how to
 * see more. Returns whether there are pools whose inside is not recorded. */
bool vs_framework_lines(const struct vs_report_device *device, const struct vs_style *style);

/* vs_failure_text: prints nothing if no allocation failed. *explained*: the failure with that
 * event's number is described elsewhere; 0: none. */
void vs_failure_text(const struct vs_report *report, uint64_t explained,
                     const struct vs_style *style);

/* --- finding_text.c: refused frees, and what the simulated GPU's checker found --- */

/* vs_findings_text: prints nothing if there are none. *given_back*: requests that the cache served by giving
 * memory back, too; no failure would have followed from them without the cache. */
void vs_findings_text(const struct vs_report *report, bool given_back, const struct vs_style *style);

/* vs_findings_json: the members "findings" and "findings_in_no_group". */
void vs_findings_json(struct vs_json *json, const struct vs_report *report);

/* --- growth_text.c: growing call sites, memory that stopped growing, steps found without marks --- */

/* vs_growth_lines: the call sites of *growing*, then those of *filled*, which stopped growing;
 * nothing if there are none. */
void vs_growth_lines(const struct vs_report *report, const struct vs_report_sites *growing,
                     const struct vs_report_sites *filled, const struct vs_style *style);

/* vs_growth_steps_lines: number, times and bytes of the steps; nothing if there are none. */
void vs_growth_steps_lines(const struct vs_report *report, const struct vs_style *style);

/* --- held_text.c: live memory at one time, by call site, phase, step, library, size and age --- */

/* vs_held_text: the usual lists of *device*: at the peak, or at the time of *report*. Prints
 * nothing if nothing was live. */
void vs_held_text(const struct vs_report *report, const struct vs_report_device *device,
                  const struct vs_style *style);

/* vs_held_text_wished: the lists and the map that report->wish names. */
void vs_held_text_wished(const struct vs_report *report, const struct vs_report_device *device,
                         const struct vs_style *style);

/* vs_held_text_cached: prints the memory cached at the time, by the lines that requested the segments. */
void vs_held_text_cached(const struct vs_report_device *device, const struct vs_style *style);

/* vs_modules_text (module_text.c): the tensors of *held* by module, as a tree. */
void vs_modules_text(const struct vs_held *held, const struct vs_style *style);

/* vs_picture_text (map_text.c): the segments, a row each. */
void vs_picture_text(const struct vs_report *report, const struct vs_report_device *device,
                     const struct vs_style *style);

/* vs_held_point: "at the peak", "at the phase's peak" or "at 1.234 s". *out* has VS_HELD_POINT_MAX
 * bytes. */
#define VS_HELD_POINT_MAX (VS_SIZE_TEXT_MAX + 24)
char *vs_held_point(char *out, const struct vs_report *report);

/* vs_torch_summary (torch_summary.c): reads all of *reader*, and prints the table of torch.cuda.memory_summary() at
 * the end of *window* for each device with PyTorch's blocks, or for *device*. VS_ERR_NOT_FOUND: there is none;
 * VS_ERR_STATE: none was allocated by then; VS_ERR_UNSUPPORTED: not every allocation is in the trace. */
enum vs_err vs_torch_summary(struct vs_reader *reader, const struct vs_time_window *window, bool one_device,
                             uint64_t device, FILE *out) VS_MUST_CHECK;

/* --- timeline_text.c, timeline_json.c: kernels, copies, waits and gaps by call site --- */

/* vs_timeline_brief: one paragraph of what is remarkable; nothing if nothing is. */
void vs_timeline_brief(const struct vs_report *report, const struct vs_report_device *device,
                       const struct vs_style *style);

/* vs_timeline_waits: the calls in which the program waited for *device*, those that took longest first. */
void vs_timeline_waits(const struct vs_report *report, const struct vs_report_device *device,
                       const struct vs_style *style);

/* vs_timeline_kernels: a row for each kernel, those that took longest first; with *detail* their mean and call sites. */
void vs_timeline_kernels(const struct vs_report_device *device, bool detail, const struct vs_style *style);

/* vs_timeline_sections: those that report->wish names. */
void vs_timeline_sections(const struct vs_report *report, const struct vs_report_device *device,
                          const struct vs_style *style);

/* vs_timeline_saved: what *copies*, of pageable memory, would take less if it were page-locked, by the fastest
 * large copy of page-locked memory; false if the trace has none in that direction. */
bool vs_timeline_saved(const struct vs_timeline_device *device, const struct vs_report_work *copies, uint64_t *ns);

/* vs_timeline_json: the members "waits_by_site" and "timeline" (null if the device had no work). */
void vs_timeline_json(struct vs_json *json, const struct vs_report_device *device);

/* vs_pcie_generation: of the link that GPUs of the device's architecture have; 0: unknown. vs_pcie_bytes_per_second:
 * of 16 lanes in one direction: 8, 16 or 32 GT/s each, 128 of 130 bits are data. */
unsigned vs_pcie_generation(const struct vs_report_device *device);
static inline uint64_t vs_pcie_bytes_per_second(unsigned generation)
{
    return generation ? (UINT64_C(1000000000) << generation) * 16 / 8 * 128 / 130 : 0;
}

/* vs_time_column: a time at the right of ten columns. vs_rate_format: "12.7 GB/s". */
char *vs_time_column(char out[2 * VS_SIZE_TEXT_MAX], uint64_t ns);
char *vs_rate_format(char out[32], uint64_t bytes, uint64_t ns);

/* --- held_json.c --- */

/* vs_held_json: null if nothing was allocated. */
void vs_held_json(struct vs_json *json, const char *key, const struct vs_held *held);

/* vs_churn_json: the call sites of *device* that allocate blocks of one size again and again. */
void vs_churn_json(struct vs_json *json, const char *key, const struct vs_report_device *device);

/* --- recording_text.c: smallest size, sampling, the size limit and what was dropped for it --- */

/* vs_recording_text: lines for the head of a report; nothing if everything was recorded. */
void vs_recording_text(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_what: the kind of event that a `dropped` event counts, for users: "readings of free
 * memory" for device_sample; *kind* itself if it is a plain word. */
const char *vs_recording_what(const char *kind);

/* vs_recording_cut_text: if the recording ended before the program did, or without an end event,
 * the reason from the trace: "recording stopped early: No space left on device; what came after is
 * not in it". Returns false, with "" in *out* (VS_RECORDING_TEXT_MAX bytes), if it ended normally
 * or has no end. vs_recording_cut_line: prints it as a warning. */
#define VS_RECORDING_TEXT_MAX 256
bool vs_recording_cut_text(char *out, const struct vs_report *report);
void vs_recording_cut_line(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_kernels_line: for a program that was killed or still runs, the time up to which
 * kernels are recorded; prints nothing if none are missing, or none were recorded. */
void vs_recording_kernels_line(const struct vs_report *report, const struct vs_style *style);

/* vs_recording_json: the object "recording", likewise. */
void vs_recording_json(struct vs_json *json, const struct vs_report *report);

/* vs_recording_sums_old: true if the program was killed, or still runs, and its changes since the
 * last sums are not included. */
bool vs_recording_sums_old(const struct vs_report *report);

/* vs_recording_partial_text: why allocations are missing: "only 1 in 16 allocations was recorded".
 * *out* has VS_RECORDING_TEXT_MAX bytes; returns out. */
char *vs_recording_partial_text(char *out, const struct vs_recording_state *state);

/* vs_recording_limit_text: the events dropped for the trace's size, and since when: "no kernels and
 * copies from 4.5 s on, no new call stacks from 6.1 s on", or "". since_ns count from the process's
 * start. *out* likewise; returns out. */
char *vs_recording_limit_text(char *out, const struct vs_recording_state *state);

/* vs_recording_sites_note: for the heading of the sites at a peak, the recorded part: ": 19.5 MiB
 * of 27.9 MiB known by site", or "". *out* has VS_RECORDING_TEXT_MAX bytes; returns out. */
char *vs_recording_sites_note(char *out, const struct vs_report *report,
                              const struct vs_report_sites *sites);

/* --- uncomputed_text.c: reads of values that no kernel computed (docs/simulator.md) --- */

/* vs_uncomputed_text: "the program read 4 B that no kernel computed, in 1 copy, first at main (a.c:9);
 * sizes may depend on them". Returns false, with "" in *out* (VS_UNCOMPUTED_TEXT_MAX bytes), if there
 * were no such reads. */
#define VS_UNCOMPUTED_TEXT_MAX 512
bool vs_uncomputed_text(char *out, const struct vs_report *report);

/* vs_uncomputed_advice: "compile the kernels for the host (docs/simulator.md)", or for PyTorch "compute
 * larger tensors (run --values=SIZE)". */
const char *vs_uncomputed_advice(const struct vs_report *report);

/* vs_uncomputed_lines: the reads by call site; nothing without them. */
void vs_uncomputed_lines(const struct vs_report *report, const struct vs_style *style);

/* vs_uncomputed_warning: vs_uncomputed_text as a warning. */
void vs_uncomputed_warning(const struct vs_report *report, const struct vs_style *style);

/* vs_uncomputed_json: the array "uncomputed_reads". */
void vs_uncomputed_json(struct vs_json *json, const struct vs_report *report);

#endif
