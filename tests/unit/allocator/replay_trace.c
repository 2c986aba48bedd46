/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays converted snapshots through the allocator and prints the counts of each as one line
 * "name=value ...". Exit status 1 when any placement, segment or final block differs from the
 * recording. The first argument is the number of steps between checks of every invariant; 0: at the
 * end only. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/replay_log.h"

static unsigned long interval, steps_since;

static void check(struct vs_allocator *allocator)
{
    if (vs_allocator_check(allocator) != VS_OK) {
        fprintf(stderr, "replay_trace: an invariant is broken\n");
        exit(1);
    }
}

static void step(struct vs_allocator *allocator)
{
    if (interval && ++steps_since % interval == 0)
        check(allocator);
}

static int replay_one(const char *path)
{
    struct replay_log log;
    struct replay r;
    replay_load(path, &log);
    enum vs_err err = replay_begin(&log, &r);
    if (err) {
        fprintf(stderr, "%s: initial state: %s\n", path, vs_err_text(err));
        return 1;
    }
    check(r.allocator);
    replay_run(&r, step);
    check(r.allocator);
    replay_compare(&r);
    const struct replay_counts *c = &r.counts;
    printf("addr_ok=%" PRIu64 " addr_mismatch=%" PRIu64 " frees=%" PRIu64 " split=%" PRIu64
           " merge=%" PRIu64 " segment_ok=%" PRIu64 " segment_bad=%" PRIu64
           " segment_free_ok=%" PRIu64 " segment_free_bad=%" PRIu64 " final_ok=%" PRIu64
           " final_bad=%" PRIu64 " emptied=%" PRIu64 " errors=%" PRIu64 "\n",
           c->addr_ok, c->addr_mismatch, c->frees, c->splits, c->merges, c->segment_ok,
           c->segment_bad, c->segment_free_ok, c->segment_free_bad, c->final_ok, c->final_bad,
           c->emptied, c->errors);
    bool same = !c->addr_mismatch && !c->segment_bad && !c->segment_free_bad && !c->final_bad &&
                !c->errors && c->addr_ok + c->final_ok > 0;
    replay_end(&r);
    replay_log_free(&log);
    return same ? 0 : 1;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc > 1)
        interval = strtoul(argv[1], NULL, 10);
    for (int i = 2; i < argc; i++)
        failed |= replay_one(argv[i]);
    return failed;
}
