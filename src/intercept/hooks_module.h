/* SPDX-License-Identifier: Apache-2.0
 *
 * What hooks_module.c tells of code that comes and goes. */
#ifndef VS_HOOKS_MODULE_H
#define VS_HOOKS_MODULE_H

#include <stdbool.h>

/* vs_module_loaded: the program loaded (or unloaded) a module or a library of kernels,
 * named *handle*. Code and its variables take device memory that no allocation tells
 * of. Called with vs_thread.inside > 0, after the driver. */
void vs_module_loaded(const void *handle, bool loaded, const char *api);

#endif
