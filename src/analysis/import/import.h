/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a trace of another tool's record of GPU memory: a PyTorch memory snapshot, the CSV log of
 * RMM, the SQLite export of Nsight Systems, or a heap profile of pprof. Any bytes give a trace or an error. Memory: of a
 * snapshot about 5 times its size (pickle.h has the bound), of a log its live allocations, of a database these
 * and at most 256 MiB, of a profile at most 512 MiB. */
#ifndef VS_IMPORT_H
#define VS_IMPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vs_err.h"

#define VS_IMPORT_WHY_MAX 320

enum vs_import_format { VS_IMPORT_AUTO, VS_IMPORT_TORCH_SNAPSHOT, VS_IMPORT_RMM_CSV, VS_IMPORT_NSYS_SQLITE,
                        VS_IMPORT_PPROF };

struct vs_import_result {
    enum vs_import_format format;
    uint64_t bytes_read, events;      /* of the file; of the trace */
    uint64_t allocs, frees, failures; /* in the file's history */
    uint64_t start_blocks, start_bytes; /* in use before the first entry of the history */
    uint64_t unmatched;   /* frees of addresses that are not in use */
    uint64_t skipped;     /* lines of a log that are cut off or not understood; rows of a database, likewise;
                           * samples of a profile in the memory of the host */
    uint64_t beyond;      /* samples of a profile of negative size, or beyond a million blocks or 2 million frames */
    uint64_t skipped_first; /* number of the first one */
    uint64_t of_others;   /* rows of a database that are of other processes */
    unsigned devices;
    bool timed;       /* the file has times; otherwise entries follow each other by 1 us */
    bool overwritten; /* the history had begun earlier, and its first entries are lost */
    bool history;     /* there is one; otherwise the trace has the state of one instant */
};

/* vs_import: reads *in* as *format* (AUTO: by its first bytes) and writes a trace to *out*; both
 * stay the caller's. *name*: of the file, for the trace's notes. *process*: whose events are wanted, where there are
 * several; 0: the one with most. On failure *why*
 * (VS_IMPORT_WHY_MAX bytes) receives the reason, without the file's name, and *out* is not a trace:
 * VS_ERR_FORMAT, not such a file; VS_ERR_VERSION; VS_ERR_CORRUPT; VS_ERR_IO, *in* cannot be read or
 * *out* cannot be written (why "": *out*; errno). */
enum vs_err vs_import(FILE *in, FILE *out, const char *name, enum vs_import_format format,
                      uint64_t process, struct vs_import_result *result, char *why) VS_MUST_CHECK;

#endif
