/* SPDX-License-Identifier: Apache-2.0
 *
 * The real functions behind our exported ones. */
#ifndef VS_REAL_SYMBOLS_H
#define VS_REAL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "intercept/route/hook.h"

typedef void *(*vs_dlsym_fn)(void *, const char *);
typedef void *(*vs_dlvsym_fn)(void *, const char *, const char *);

/* vs_real_dlsym: the dlsym that a caller of that version would have called without us: another
 * interposer's if there is one after us, else libc's. */
vs_dlsym_fn vs_real_dlsym(bool old);
vs_dlvsym_fn vs_real_dlvsym(bool old);

/* vs_real_dlerror, vs_real_dlclose: call the next one. */
char *vs_real_dlerror(void);
int vs_real_dlclose(void *handle);

/* vs_libc_dlsym: libc's own. RTLD_NEXT from our code is relative to us only here. */
vs_dlsym_fn vs_libc_dlsym(void);

/* vs_hook_prepare: called while the program looks up a function of CUDA: does the work that waits
 * for the loader, which the program's threads may not be able to do later. */
void vs_hook_prepare(void);

/* vs_hook_named: the driver hook of that exported name, VS_HOOK_COUNT if there is none. */
enum vs_hook_id vs_hook_named(const char *name);
enum vs_runtime_id vs_runtime_named(const char *name);

/* vs_hook_behind: is *fn* the function that the hook forwards to, or the driver's own function?
 * Then the caller gets vs_hook_handler, except *caller*, an address in the interposer that the hook
 * forwards to: its call must not come back to us. */
bool vs_hook_behind(enum vs_hook_id id, const void *fn, const void *caller);
void *vs_hook_handler(enum vs_hook_id id);

/* vs_runtime_exported: our function for *fn*, a runtime function or one of our own that replaces
 * it: of the version of the runtime that it forwards to. *fn* itself for other functions: a second
 * copy of a runtime, or another library's wrapper. */
void *vs_runtime_exported(enum vs_runtime_id id, void *fn);

/* vs_next_is_ours: does *caller* find our function by RTLD_NEXT? */
bool vs_next_is_ours(const char *name, const void *caller);

#endif
