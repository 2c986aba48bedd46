/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a library can be preloaded into a program. Determined from the file, before it runs. */
#ifndef VS_REACH_H
#define VS_REACH_H

#include <stdbool.h>
#include <stddef.h>

enum vs_reach {
    VS_REACH_YES,
    VS_REACH_NO,      /* the loader ignores LD_PRELOAD there: harmless */
    VS_REACH_HARMFUL, /* with LD_PRELOAD the program would not start */
};

/* vs_reach: examines *program* as execvp would find it; scripts are followed to their interpreter.
 * *why*, of *max* bytes, receives a sentence for the user that names the file; empty for
 * VS_REACH_YES, which is also returned where the file cannot be read. */
enum vs_reach vs_reach(const char *program, char *why, size_t max);

/* vs_reach_find: the file of the program *name*, as execvp would find it; *name* itself if there is none. */
void vs_reach_find(const char *name, char *out, size_t max);

/* vs_reach_is_library: whether the file at *path* is a shared object of this machine, complete
 * according to its headers. */
bool vs_reach_is_library(const char *path);

#endif
