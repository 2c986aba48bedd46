/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks whose clocks differ by known offsets and drifts; one with more memory, one that comes late. */
#define _GNU_SOURCE

#include <stdio.h>
#include <string.h>

#include "analysis/merge/merge.h"
#include "support/cmocka_test.h"
#include "support/trace_text.h"
#include "viewer/merge/merge_output.h"

#define RANKS 64
#define COLLECTIVES 300
#define EVERY_NS INT64_C(100000000)
#define ODD 37
#define LATE 17
#define FIRST 41 /* fails 50 ms before another */
#define SECOND 3

struct job {
    char paths[RANKS][128];
    uint64_t start_ns[RANKS];
    double drift[RANKS];
};

/* A rank's clock at *ns* after the start of the job. */
static uint64_t local(const struct job *job, unsigned rank, int64_t ns)
{
    return job->start_ns[rank] + (uint64_t)(ns + (int64_t)(job->drift[rank] * (double)ns));
}

/* From 0 to *most*, the same in every run. */
static int64_t scatter(unsigned rank, unsigned n, int64_t most)
{
    uint64_t x = (rank * UINT64_C(1000003) + n) * UINT64_C(0x9E3779B97F4A7C15);
    return (int64_t)((x >> 33) % (uint64_t)(most + 1));
}

static void write_rank(struct job *job, unsigned rank, bool collectives, bool steps)
{
    struct vs_builder b;
    char machine[32];
    snprintf(machine, sizeof machine, "machine-%u", rank / 2); /* two ranks on each */
    vs_builder_open_on(&b, "observe", 0, machine, (uint64_t)scatter(rank / 2, 9999, INT64_C(10000000000)));
    if (rank % 2 == 0) { /* up to 10 s of difference, and up to 30 ppm */
        job->start_ns[rank] = b.start_ns;
        job->drift[rank] = rank ? (double)scatter(rank, 8888, 60) * 1e-6 - 30e-6 : 0;
    } else { /* the same clock, which the job began on with the other */
        job->start_ns[rank] = job->start_ns[rank - 1];
        job->drift[rank] = job->drift[rank - 1];
    }
    vs_trace(&b, "option RANK %u; option WORLD_SIZE %u; device 80G H100; alloc 0 %s", rank, RANKS,
             rank == ODD ? "9G" : rank % 2 ? "7000M" : "7010M");
    for (unsigned n = 0; n < COLLECTIVES; n++) {
        int64_t at = (n + 1) * EVERY_NS, end = at + scatter(rank, n, 40000);
        int64_t come = at - 8000000 + scatter(n, rank, 1000000) + (rank == LATE ? 6000000 : 0);
        if (n == 200) /* one hiccup must not move a clock */
            end += rank % 3 == 0 ? 30000000 : 0;
        b.now_ns = local(job, rank, end) + 1000;
        if (collectives)
            vs_builder_kernel(&b, 0, 7, "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                              local(job, rank, come) - b.start_ns, local(job, rank, end) - local(job, rank, come));
        if (steps && n % 10 == 0)
            vs_trace(&b, n ? "pop; step %u" : "step %u", n / 10);
    }
    if (steps)
        vs_trace(&b, "pop");
    b.now_ns = local(job, rank, COLLECTIVES * EVERY_NS + INT64_C(1000000000) + (rank == SECOND ? 50000000 : 0));
    if (rank == FIRST || rank == SECOND)
        vs_trace(&b, "fail 2G free 1G");
    vs_builder_close(&b, VS_END_EXIT, rank == FIRST || rank == SECOND);
    memcpy(job->paths[rank], b.path, sizeof b.path);
}

static struct vs_merge *merge_of(const struct job *job, unsigned count)
{
    const char *paths[RANKS];
    char why[VS_READER_WHY_MAX];
    struct vs_merge *merge;
    for (unsigned i = 0; i < count; i++)
        paths[i] = job->paths[count - 1 - i]; /* the order is by rank */
    assert_int_equal(vs_merge_build(paths, count, &merge, why), VS_OK);
    assert_int_equal(merge->count, count);
    return merge;
}

static int64_t distance(const struct vs_merge *merge, const struct job *job, unsigned rank, int64_t ns)
{
    return (int64_t)(vs_rank_time(&merge->ranks[rank].clock, local(job, rank, ns)) -
                     vs_rank_time(&merge->ranks[0].clock, local(job, 0, ns)));
}

static void expect_clocks(const struct vs_merge *merge, const struct job *job, int64_t most_ns)
{
    for (unsigned r = 0; r < merge->count; r++)
        for (int64_t at = 0; at <= COLLECTIVES * EVERY_NS; at += COLLECTIVES * EVERY_NS / 4) {
            int64_t d = distance(merge, job, r, at);
            if (d > most_ns || d < -most_ns)
                fail_msg("rank %u is off by %lld ns after %lld ns", r, (long long)d, (long long)at);
        }
}

TEST(clocks_are_aligned_by_collectives_and_the_odd_rank_is_named)
{
    static struct job job;
    for (unsigned r = 0; r < RANKS; r++)
        write_rank(&job, r, true, false);
    struct vs_merge *merge = merge_of(&job, RANKS);
    expect_clocks(merge, &job, 100000);
    assert_int_equal(merge->machines, RANKS / 2);
    for (unsigned r = 0; r < RANKS; r++) {
        const struct vs_rank *rank = &merge->ranks[r];
        assert_int_equal(rank->job.rank, r);
        assert_int_equal(rank->source, r < 2 ? VS_CLOCK_SHARED : VS_CLOCK_COLLECTIVES);
        assert_true(rank->error_ns < 100000);
        assert_int_equal(rank->meetings, r < 2 ? 0 : COLLECTIVES);
        assert_true(rank->arrival_known);
    }
    assert_int_equal(merge->peak.outlier, ODD);
    assert_int_equal(merge->step.outlier, VS_RANK_NONE);
    assert_int_equal(merge->straggler, LATE);
    assert_in_range(merge->ranks[LATE].arrival_ns, 5000000, 7000000);
    assert_int_equal(merge->first_failed, FIRST);
    assert_true(merge->failed_first_sure);
    assert_int_equal(merge->failed_count, 2);
    vs_merge_free(merge);
}

TEST(without_collectives_the_begins_of_steps_align)
{
    static struct job job;
    for (unsigned r = 0; r < 6; r++)
        write_rank(&job, r, false, true);
    struct vs_merge *merge = merge_of(&job, 6);
    expect_clocks(merge, &job, 100000);
    assert_int_equal(merge->ranks[2].source, VS_CLOCK_STEPS);
    assert_int_equal(merge->ranks[0].steps_done, COLLECTIVES / 10);
    assert_false(merge->ranks[0].arrival_known);
    vs_merge_free(merge);
}

TEST(without_either_the_time_of_day_places)
{
    static struct job job;
    for (unsigned r = 0; r < 4; r++)
        write_rank(&job, r, false, false);
    struct vs_merge *merge = merge_of(&job, 4);
    assert_int_equal(merge->ranks[1].source, VS_CLOCK_SHARED);
    assert_int_equal(merge->ranks[3].source, VS_CLOCK_WALL);
    assert_int_equal(distance(merge, &job, 2, 0), 0); /* as their times of day say */
    vs_merge_free(merge);
}

TEST(a_kernel_without_a_name_is_no_collective)
{
    static struct job job;
    for (unsigned r = 0; r < 2; r++) {
        struct vs_builder b;
        vs_builder_open(&b, "observe");
        vs_trace(&b, "device 1G GPU; alloc 0 10M");
        vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_kernel, .kernel = {.start_ns = 1000, .end_ns = 2000}});
        vs_builder_close(&b, VS_END_EXIT, 0);
        memcpy(job.paths[r], b.path, sizeof b.path);
    }
    struct vs_merge *merge = merge_of(&job, 2);
    assert_int_equal(merge->ranks[0].collectives.seen, 0);
    vs_merge_free(merge);
}

TEST(clocks_of_steps_that_take_different_times_are_not_aligned)
{
    static struct job job;
    for (unsigned r = 0; r < 2; r++) {
        struct vs_builder b;
        vs_builder_open_on(&b, "observe", 0, r ? "here" : "there", 0);
        vs_trace(&b, "option RANK %u; device 1G GPU; alloc 0 10M", r);
        for (unsigned n = 0; n < 100; n++) {
            b.now_ns += EVERY_NS * (r + 1);
            vs_trace(&b, n ? "pop; step %u" : "step %u", n);
        }
        vs_builder_close(&b, VS_END_EXIT, 0);
        memcpy(job.paths[r], b.path, sizeof b.path);
    }
    struct vs_merge *merge = merge_of(&job, 2);
    assert_int_equal(merge->ranks[1].source, VS_CLOCK_WALL);
    assert_true(merge->ranks[1].clock.drift == 0);
    assert_true(merge->length_ns > 100 * EVERY_NS && merge->length_ns < 400 * EVERY_NS);
    vs_merge_free(merge);
}

TEST(traces_of_different_jobs_are_remarked_and_of_two_ranks_the_larger)
{
    static const struct {
        const char *options[2], *said;
    } jobs[] = {{{"option RANK 0; option WORLD_SIZE 2", "option RANK 1; option WORLD_SIZE 4"}, "jobs of different sizes"},
                {{"option RANK 0", "option RANK 0"}, "rank 0 and rank 0 (2) have one rank"},
                {{"option RANK 0; option WORLD_SIZE 2; device 1G GPU; alloc 0 109M",
                  "option RANK 1; option WORLD_SIZE 2; device 1G GPU; alloc 0 100M"}, NULL},
                {{"option RANK 0; option WORLD_SIZE 2; device 1G GPU; alloc 0 150M",
                  "option RANK 1; option WORLD_SIZE 2; device 1G GPU; alloc 0 100M"}, NULL}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        static struct job job;
        char *text;
        size_t length;
        for (unsigned r = 0; r < 2; r++) {
            struct vs_builder b;
            vs_builder_open(&b, "observe");
            vs_trace(&b, jobs[i].options[r]);
            vs_builder_close(&b, VS_END_EXIT, 0);
            memcpy(job.paths[r], b.path, sizeof b.path);
        }
        struct vs_merge *merge = merge_of(&job, 2);
        struct vs_style style = {.out = open_memstream(&text, &length), .width = 200};
        vs_merge_text(merge, &style);
        fclose(style.out);
        assert_true(!strstr(text, "may be of different jobs") == !jobs[i].said);
        assert_true(!jobs[i].said || strstr(text, jobs[i].said));
        assert_true(!strstr(text, "peak 100.0 MiB; rank 0: 150.0 MiB, 1.50 times that") == (i < 3));
        assert_true(!strstr(text, "what differs: vramscope diff") == (i < 3));
        assert_non_null(strstr(text, "\n  peak: tensors and buffers of libraries such as NCCL; reserved: with cached memory\n"));
        free(text);
        vs_merge_free(merge);
    }
}

/* The order of three ranks, of which the second has no rank. */
TEST(ranks_come_before_processes_without_one)
{
    static struct job job;
    static const char *const options[] = {"option RANK 0", "mark none", "option RANK 1"};
    for (unsigned r = 0; r < 3; r++) {
        struct vs_builder b;
        vs_builder_open(&b, "observe");
        vs_trace(&b, options[r]);
        vs_builder_close(&b, VS_END_EXIT, 0);
        memcpy(job.paths[r], b.path, sizeof b.path);
    }
    struct vs_merge *merge = merge_of(&job, 3);
    assert_true(merge->ranks[1].job.rank == 1 && !merge->ranks[2].job.has_rank);
    vs_merge_free(merge);
}
