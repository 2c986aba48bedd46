/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VS_RUN_KEY_H
#define VS_RUN_KEY_H

#include "tools/fit/fit_internal.h"

/* vs_run_key: a text of everything that the result of *run* is known to depend on: the command, its
 * folder and environment, the files that it names and the Python files beside them, the installed
 * packages of its Python, the GPU, the changes and this vramscope. free() frees it. */
char *vs_run_key(const struct vs_fit_job *job, const struct vs_fit_run *run, const char *changes,
                 const char *conf);

/* vs_run_cache: makes job->folder the folder of the cache, and drops results that were not used for two
 * weeks. Without a home, a temporary one. */
int vs_run_cache(struct vs_fit_job *job, bool *temporary);

#endif
