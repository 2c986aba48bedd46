/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies behind each of our exported functions. */
#ifndef VS_REAL_SYMBOLS_H
#define VS_REAL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "intercept/route/hook.h"

typedef void *(*vs_dlsym_fn)(void *, const char *);
typedef void *(*vs_dlvsym_fn)(void *, const char *, const char *);

/* vs_real_dlsym: dlsym as a caller of that version would have reached it without us:
 * another interposer's where one comes after us, else libc's. */
vs_dlsym_fn vs_real_dlsym(bool old);
vs_dlvsym_fn vs_real_dlvsym(bool old);

/* vs_real_dlerror, vs_real_dlclose: call the next one. */
char *vs_real_dlerror(void);
int vs_real_dlclose(void *handle);

/* vs_libc_dlsym: libc's own. RTLD_NEXT from our code is relative to us only here. */
vs_dlsym_fn vs_libc_dlsym(void);

/* vs_hook_prepare: while the program asks the loader for a function of CUDA: do what waits
 * for the loader, which the program's threads may not be able to do later. */
void vs_hook_prepare(void);

/* vs_hook_named: the driver hook of that exported name, VS_HOOK_COUNT when there is none. */
enum vs_hook_id vs_hook_named(const char *name);
enum vs_runtime_id vs_runtime_named(const char *name);

/* vs_hook_behind: does *fn* lie behind that hook: is it what the hook forwards to, or
 * the driver's own function? Then who asked for it is to get vs_hook_handler, except
 * *caller*, an address in the interposer that the hook forwards to: its way on must not
 * lead back to us. */
bool vs_hook_behind(enum vs_hook_id id, const void *fn, const void *caller);
void *vs_hook_handler(enum vs_hook_id id);

/* vs_runtime_exported: our function for *fn*, a runtime function or one of our own that
 * stands for it: of the version of the runtime that it leads to. *fn* itself when it
 * leads elsewhere: to a second copy of a runtime, or to somebody's wrapper. */
void *vs_runtime_exported(enum vs_runtime_id id, void *fn);

/* vs_next_is_ours: is it our function that *caller* finds by RTLD_NEXT? */
bool vs_next_is_ours(const char *name, const void *caller);

#endif
