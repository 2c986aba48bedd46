/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fuzzers of readers do with each event: its ids are used as indexes, its texts are read.
 * Aborts when one is out of range. */
#ifndef VS_FUZZ_EVENT_USE_H
#define VS_FUZZ_EVENT_USE_H

#include "trace/read/reader.h"

void event_use(const struct vs_reader *reader, const struct vs_event *event);

#endif
