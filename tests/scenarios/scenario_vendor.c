/* SPDX-License-Identifier: Apache-2.0
 *
 * A library outside the program and its framework, with device memory of its own. */
#include "scenario_parts.h"

int scenario_vendor_alloc(void **address, size_t bytes) { return cudaMalloc(address, bytes); }

void scenario_vendor_free(void *address) { cudaFree(address); }
