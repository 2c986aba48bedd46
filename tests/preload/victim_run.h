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
extern bool count_unpaired; /* too many for the table: counted without pairing */
extern const char *const builds[2]; /* the victim with a shared and a static runtime */

/* Runs *program* with the argument *mode*; *prepare* (NULL: nothing) is called in the child, after
 * its environment is set. The folder's files of the previous run are removed. */
void run_with(struct outcome *o, enum front front, void (*prepare)(void), const char *program,
              const char *mode);
void run(struct outcome *o, enum front front, const char *program, const char *mode);

/* For run_with's *prepare*: the simulated machine has two devices; the library is not
 * preloaded; the trace cannot be written. */
void two_devices(void);
void not_preloaded(void);
void unwritable_output(void);

void count_trace(struct count *c, const char *path);

void assert_same(const struct outcome *with, const struct outcome *alone);

/* Runs *mode* in both builds and both ways, which must agree, and returns the counts. */
void everywhere(const char *mode, struct count counts[2][2]);

/* Group setup and teardown of cmocka. */
int make_folder(void **state);
int remove_folder(void **state);

#endif
