/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges and marks, taken at the source: this library offers itself as the
 * NVTX injection (InitializeInjectionNvtx2Preinject, found through the global
 * symbol order; InitializeInjectionNvtx2 for NVTX_INJECTION64_PATH), so ranges
 * arrive in order with the allocations made inside them, CUPTI or not. A tool
 * named by NVTX_INJECTION64_PATH goes first and keeps its place. */
#ifndef VS_NVTX_H
#define VS_NVTX_H

/* vs_nvtx_replay_open_ranges: ranges that the calling thread pushed before the
 * recording began are written to it now. */
void vs_nvtx_replay_open_ranges(void);

/* The default domain's push, pop and mark, for the public API. Any thread. */
void vs_nvtx_push(const char *name);
void vs_nvtx_pop(void);
void vs_nvtx_mark(const char *name);

#endif
