/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of matching the call sites of two runs: names are compared in proportion to their length, and
 * two sites once, however many rounds the match takes. Work is counted, not timed, as in test_oom_size.c. */
#include <stdio.h>
#include <string.h>

#include "analysis/budget/culprits.h"
#include "analysis/compare/comparison.h"
#include "support/cmocka_test.h"

#define FRAMES 8
#define TEXT 160
#define ROUND 128 /* sites that a round of the match compares beside as many others */

static uint64_t branches;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    branches++;
}

struct run {
    struct vs_report_sites sites;
    struct vs_report_site *items;
    struct vs_report_frame *frames; /* FRAMES of each site */
    char (*texts)[TEXT];
    size_t used;
};

static void open_run(struct run *run, size_t sites)
{
    *run = (struct run){.items = calloc(sites, sizeof *run->items),
                        .frames = calloc(sites * FRAMES, sizeof *run->frames),
                        .texts = calloc(sites * FRAMES * 2, sizeof *run->texts)};
    assert_true(run->items && run->frames && run->texts);
    run->sites.items = run->items;
}

static void close_run(struct run *run)
{
    free(run->items);
    free(run->frames);
    free(run->texts);
}

static void add_site(struct run *run, uint64_t bytes)
{
    size_t n = run->sites.count++;
    run->items[n] = (struct vs_report_site){.frames = &run->frames[n * FRAMES], .api = "cudaMalloc",
                                            .bytes = bytes, .count = 1, .stacks = 1};
    run->sites.total_bytes += bytes;
}

/* A frame of the last site, inside those that follow. */
static void add_frame(struct run *run, const char *function, const char *file)
{
    struct vs_report_site *site = &run->items[run->sites.count - 1];
    char *name = run->texts[run->used++], *path = run->texts[run->used++];
    snprintf(name, TEXT, "%s", function);
    snprintf(path, TEXT, "/src/%s", file);
    run->frames[(run->sites.count - 1) * FRAMES + site->frame_count++] =
        (struct vs_report_frame){.function = name, .file = path, .line = 10, .known = true};
}

/* Branches of the match. */
static uint64_t match(struct run *a, struct run *b, size_t *moved)
{
    struct vs_arena memory = {0};
    struct vs_site_changes changes;
    branches = 0;
    vs_site_changes_build(&memory, &a->sites, &b->sites, VS_METRIC_ALLOCATED, NULL, &changes);
    uint64_t work = branches;
    *moved = changes.of[VS_SITE_MOVED];
    vs_arena_free_all(&memory);
    close_run(a);
    close_run(b);
    return work;
}

/* --- names --- */

#define RENAMED 24

/* Sites of one size in one file, each function of another name, of *length* characters. */
static uint64_t work_of_names(size_t length)
{
    struct run runs[2];
    size_t moved;
    for (int r = 0; r < 2; r++) {
        open_run(&runs[r], RENAMED);
        for (unsigned i = 0; i < RENAMED; i++) {
            add_site(&runs[r], 4096);
            for (unsigned f = 0; f < FRAMES; f++) {
                char name[TEXT];
                uint64_t random = (r * RENAMED + i) * FRAMES + f;
                for (size_t c = 0; c < length; c++)
                    name[c] = (char)('a' + vs_random(&random) % 26);
                name[length] = 0;
                add_frame(&runs[r], name, "net.c");
            }
        }
    }
    uint64_t work = match(&runs[0], &runs[1], &moved);
    assert_int_equal(moved, RENAMED);
    return work;
}

TEST(names_cost_their_length)
{
    uint64_t few = work_of_names(30), many = work_of_names(120);
    print_message("%llu branches, %llu for names four times as long\n", (unsigned long long)few,
                  (unsigned long long)many);
    assert_true(few > RENAMED * RENAMED * FRAMES * FRAMES); /* it is counted */
    assert_true(many < 6 * few);                            /* the square would be 16 times */
}

/* The definition: each pair of the one name takes the first equal one of the other that is left. */
static unsigned similarity_by_definition(const char *a, size_t n, const char *b, size_t m)
{
    size_t common = 0;
    bool used[VS_NAME_BYTES] = {false};
    for (size_t i = 0; i + 1 < n; i++) {
        bool found = false;
        for (size_t j = 0; j + 1 < m && !found; j++) {
            found = !used[j] && a[i] == b[j] && a[i + 1] == b[j + 1];
            used[j] |= found;
        }
        common += found;
    }
    return n < 2 || m < 2 ? 0 : (unsigned)(2 * common * 1000 / (n + m - 2));
}

TEST(the_similarity_of_names_is_that_of_its_definition)
{
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char text[2][TEXT];
        size_t length[2], cut[2];
        for (int k = 0; k < 2; k++) {
            length[k] = vs_random(&random) % (round % 10 ? 20 : TEXT);
            cut[k] = length[k] < VS_NAME_BYTES ? length[k] : VS_NAME_BYTES;
            for (size_t c = 0; c < length[k]; c++)
                text[k][c] = (char)((round % 2 ? 0xc0 : 'a') + vs_random(&random) % 4);
        }
        struct vs_name_pairs a, b;
        vs_name_pairs_of(&a, text[0], length[0]);
        vs_name_pairs_of(&b, text[1], length[1]);
        assert_int_equal(vs_name_similarity(&a, &b),
                         similarity_by_definition(text[0], cut[0], text[1], cut[1]));
    }
}

/* --- rounds --- */

/* A site whose stack has nothing in common with one of the other run but main, and a file. */
static void add_other(struct run *run, char letter, unsigned number)
{
    char name[TEXT], file[TEXT];
    add_site(run, 1 << 30);
    for (unsigned f = 0; f < FRAMES - 1; f++) {
        snprintf(name, sizeof name, "%c%u_%c%u", letter, number, letter, f);
        snprintf(file, sizeof file, f ? "%c_%u_%u.c" : "net.c", letter, number, f);
        add_frame(run, name, file);
    }
}

/* ROUND large sites in each run that are not those of the other, though of one size, and *rounds* times
 * as many smaller ones, each of which has another name in the other run. */
static uint64_t work_of_rounds(unsigned rounds)
{
    struct run runs[2];
    size_t moved;
    for (int r = 0; r < 2; r++) {
        open_run(&runs[r], (rounds + 1) * ROUND);
        for (unsigned i = 0; i < (rounds + 1) * ROUND; i++) {
            char name[TEXT];
            snprintf(name, sizeof name, "%s_%u", r ? "embed" : "project", i);
            if (i < ROUND) {
                add_other(&runs[r], r ? 'x' : 'u', i);
            } else {
                add_site(&runs[r], (1 << 20) - i);
                add_frame(&runs[r], name, "net.c");
            }
            add_frame(&runs[r], "main", "main.c");
        }
    }
    uint64_t work = match(&runs[0], &runs[1], &moved);
    assert_int_equal(moved, rounds * ROUND);
    return work;
}

TEST(two_sites_are_compared_once)
{
    uint64_t few = work_of_rounds(2), many = work_of_rounds(8);
    print_message("%llu branches in two rounds, %llu in eight\n", (unsigned long long)few,
                  (unsigned long long)many);
    assert_true(few > ROUND * ROUND); /* it is counted */
    assert_true(2 * many < 5 * few); /* compared in each round, it would be four times */
}
