/* SPDX-License-Identifier: Apache-2.0
 *
 * Can a library be preloaded into a program? Told from the file, before it runs. */
#ifndef VS_REACH_H
#define VS_REACH_H

#include <stdbool.h>
#include <stddef.h>

enum vs_reach {
    VS_REACH_YES,
    VS_REACH_NO,      /* the loader ignores LD_PRELOAD there: harmless */
    VS_REACH_HARMFUL, /* with LD_PRELOAD the program would not start */
};

/* vs_reach: *program* as execvp would find it; scripts are followed to their interpreter.
 * *why*, of *max* bytes, is then a sentence for the user, which names the file that it is
 * about; empty for VS_REACH_YES, which is also the answer where the file cannot be read. */
enum vs_reach vs_reach(const char *program, char *why, size_t max);

/* vs_reach_is_library: is the file at *path* a shared object of this machine, whole as far
 * as its headers tell? */
bool vs_reach_is_library(const char *path);

#endif
