/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace with events of every kind in random order, in many small frames, for the tests of seeking
 * in a trace. The same seed gives the same events. */
#ifndef VS_BUSY_TRACE_H
#define VS_BUSY_TRACE_H

#include "support/trace_builder.h"

/* vs_busy_trace: records *events* events into a new trace, which stays open. */
void vs_busy_trace(struct vs_builder *builder, uint64_t seed, unsigned events);

#endif
