/* SPDX-License-Identifier: Apache-2.0
 *
 * Generated programs with requests that are difficult for an allocator, by name and seed. They
 * follow the allocations of such programs, tensor by tensor, not any allocator's habits. Integers
 * only and their own generator, so that a name and a seed give the same requests on every machine.
 * 50,000 to 500,000 requests, tens of GiB live. */
#ifndef WORKLOADS_H
#define WORKLOADS_H

#include "support/request_log.h"

/* The names, the last followed by NULL. */
extern const char *const workload_names[];

/* workload_make: fills an empty log; false for an unknown name. */
bool workload_make(const char *name, uint64_t seed, struct request_log *log);

#endif
