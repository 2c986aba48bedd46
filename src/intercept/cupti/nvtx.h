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

/* The default domain's push, pop and mark, for the public API. Any thread. */
void vs_nvtx_push(const char *name);
void vs_nvtx_pop(void);
void vs_nvtx_mark(const char *name);

#endif
