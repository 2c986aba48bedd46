/* SPDX-License-Identifier: Apache-2.0
 *
 * workload NAME SEED: prints a generated program in the format of snapshot_to_events.py. `workload
 * list` prints the names. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/workloads.h"

static void list(uint64_t seed)
{
    struct request_log log;
    for (size_t i = 0; workload_names[i]; i++) {
        workload_make(workload_names[i], seed, &log);
        printf("%-14s %7zu requests, %6zu there at the start, %8.1f MiB live at the peak, hash "
               "%016" PRIx64 "\n",
               workload_names[i], log.count, log.initial,
               (double)request_log_peak(&log) / (1 << 20), request_log_hash(&log));
        request_log_clear(&log);
    }
}

int main(int argc, char **argv)
{
    struct request_log log;
    char *end = "";
    uint64_t seed = argc > 2 ? strtoull(argv[2], &end, 10) : 1;
    if (argc >= 2 && argc <= 3 && !*end) {
        if (strcmp(argv[1], "list") == 0) {
            list(seed);
            return 0;
        }
        if (workload_make(argv[1], seed, &log)) {
            request_log_print(&log, stdout);
            request_log_clear(&log);
            return fflush(stdout) ? 1 : 0;
        }
    }
    fprintf(stderr, "usage: workload list|NAME [SEED]; the names are those `workload list` gives\n");
    return 2;
}
