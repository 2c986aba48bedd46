/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges and marks, received directly: this library offers itself as the NVTX injection, so
 * ranges arrive in order with the allocations made inside them, with or without CUPTI. NVTX finds
 * it by NVTX_INJECTION64_PATH, which `vramscope run` sets (unless it names another tool, which is
 * then kept); without that, by the symbol InitializeInjectionNvtx2_fnptr, which libraries that use
 * NVTX look up globally, and by InitializeInjectionNvtx2Preinject if the program was built to look
 * for it. */
#ifndef VS_NVTX_H
#define VS_NVTX_H

#include <stdint.h>

#include "intercept/route/hook.h"

/* Push, pop and mark in a domain of ours. *domain*: its name, static text. Any thread. */
void vs_nvtx_push_in(const char *name, const char *domain);
void vs_nvtx_pop_in(const char *domain);
void vs_nvtx_mark_in(const char *name, const char *domain);

/* The default domain's push and pop, for the public API. Any thread. */
void vs_nvtx_push(const char *name);
void vs_nvtx_pop(void);

/* vs_nvtx_step: ends the step of this thread that an earlier call began, and begins step *number*.
 * vs_nvtx_step_end: only ends it. In a domain of their own, so that ranges may cross them. */
void vs_nvtx_step(uint64_t number);
void vs_nvtx_step_end(void);

/* vs_nvtx_annotate: opens a range of that name around this thread's next allocation. NULL: none. */
void vs_nvtx_annotate(const char *name);

#define VS_ANNOTATION_DOMAIN "vramscope.annotation" /* of its range */

/* vs_nvtx_end_annotation: ends it: the allocation is recorded. */
void vs_nvtx_end_annotation(void);

#endif
