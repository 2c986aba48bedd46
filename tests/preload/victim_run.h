/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs victim programs alone, under observe and under caching, each in a process of its own, and
 * reads their traces: counted directly rather than by the analysis. All files are in the test
 * program's own folder. */
#ifndef VS_VICTIM_RUN_H
#define VS_VICTIM_RUN_H

#include <limits.h>
#include <stdbool.h>

#include "support/cmocka_test.h"

#include "trace/read/reader.h"

enum front { ALONE, OBSERVE, CACHING };

struct outcome {
    int status; /* as returned by waitpid */
    char out[8192], err[8192];
    char trace[PATH_MAX + 300]; /* first trace written, "" if none */
    unsigned traces;
};

/* The content of a trace, counted directly rather than by the analysis. */
struct count {
    uint64_t allocs[VS_FAMILY_COUNT], frees, failed, segments, segment_frees, maps, unmaps;
    uint64_t reserved; /* by the cache */
    uint64_t requested_live, requested_peak; /* device family */
    uint64_t kernels, copies, copy_bytes, sets;
    uint64_t live; /* all families */
    bool ended;
    uint64_t end_reason, end_status;
    enum vs_condition condition;
    char phases[2048], apis[2048], notes[2048];
};

extern char folder[PATH_MAX];
extern const char *const builds[2]; /* the victim with a shared and a static runtime */

/* Runs *program* with the argument *mode*. *settings*: "NAME=VALUE NAME=VALUE" (NULL: none), added
 * to its environment. The folder's files of the previous run are removed. */
void run_with(struct outcome *o, enum front front, const char *settings, const char *program,
              const char *mode);
void run(struct outcome *o, enum front front, const char *program, const char *mode);
/* run_with, of a program that must print *out* and end with status 0. *err*: a text in the one line
 * on its standard error; "": there is none; NULL: there may be any. */
void run_printing(struct outcome *o, enum front front, const char *settings, const char *program,
                  const char *mode, const char *out, const char *err);

#define SIMULATED "VRAMSCOPE_SIMULATE=t4-16g,capacity=1GiB,context=400MiB"
#define TWO_DEVICES SIMULATED ",devices=2"
/* When linked, the library is used without LD_PRELOAD; a second copy of it is not. */
#define NOT_PRELOADED "LD_PRELOAD=" VS_SANITIZER_PRELOAD
#define UNWRITABLE "VRAMSCOPE_OUTPUT=/nonexistent-folder/trace.vst"

void count_trace(struct count *c, const char *path);

void assert_same(const struct outcome *with, const struct outcome *alone);
/* *err* is one line and contains *text*. */
void assert_one_line(const char *err, const char *text);

/* Runs *mode* in both builds and both ways, which must agree, and returns the counts. */
void everywhere(const char *mode, struct count counts[2][2]);

#endif
