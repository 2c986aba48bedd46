/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the stand-in CUPTI: activity buffers and the records written to them.
 * Buffers belong to the client, who lends them by its request callback and gets
 * them back by its completion callback; between the two they are ours. */
#ifndef VS_SIM_CUPTI_RECORDS_H
#define VS_SIM_CUPTI_RECORDS_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_SIM_EXPORT __attribute__((visibility("default")))

/* vs_sim_records_register: the client's two callbacks; both or an error. */
CUptiResult vs_sim_records_register(CUpti_BuffersCallbackRequestFunc request,
                                    CUpti_BuffersCallbackCompleteFunc complete);

/* vs_sim_records_write: append a record of *bytes* (a multiple of 8), asking for
 * a buffer when there is none or it is full. Counted as dropped when the client
 * lends none. Any thread. */
void vs_sim_records_write(const void *record, size_t bytes);

/* vs_sim_records_flush: hand over every buffer that holds records, from the
 * calling thread. */
void vs_sim_records_flush(void);

/* vs_sim_records_period: flush every *ms* from a thread of our own; 0 stops. */
CUptiResult vs_sim_records_period(uint32_t ms);

/* vs_sim_records_next: the client's walk over one buffer. */
CUptiResult vs_sim_records_next(uint8_t *buffer, size_t valid, CUpti_Activity **record);

/* vs_sim_records_dropped: how many since the last call. */
size_t vs_sim_records_dropped(void);

/* vs_sim_time: a CLOCK_MONOTONIC time in the clock that the client asked for. */
uint64_t vs_sim_time(uint64_t monotonic_ns);

/* vs_sim_clock_set: use the client's clock from now on; NULL: CLOCK_REALTIME, as
 * CUPTI's own timestamps. */
void vs_sim_clock_set(CUpti_TimestampCallbackFunc clock);

/* vs_sim_clock_now: the present moment in that clock. */
uint64_t vs_sim_clock_now(void);

#endif
