/* SPDX-License-Identifier: Apache-2.0
 *
 * The pointer that NVTX declares weak in every object that uses it. In a separate file, without
 * NVTX's header, which would define it here as weak too. */
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

typedef const void *(*get_table_fn)(uint32_t id);
typedef int (*inject_fn)(get_table_fn get_table);

EXPORTED int InitializeInjectionNvtx2(get_table_fn get_table);
EXPORTED extern inject_fn InitializeInjectionNvtx2_fnptr;

/* Libraries find this definition by the loader's symbol order and need no NVTX_INJECTION64_PATH. */
inject_fn InitializeInjectionNvtx2_fnptr = InitializeInjectionNvtx2;
