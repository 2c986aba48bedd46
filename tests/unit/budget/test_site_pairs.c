/* SPDX-License-Identifier: Apache-2.0
 *
 * Call sites of one name: which of a run is which of the baseline, and which frame names one. */
#include "analysis/budget/culprits.h"
#include "analysis/report/report.h"
#include "support/cmocka_test.h"

/* A buffer that has two blocks at the peak of the baseline and one at that of the run, which has another new line
 * between: nearer to the old sum, but not of the same blocks. */
TEST(blocks_of_one_size_are_one_line)
{
    const struct vs_named_site now[] = {{.name = "f", .bytes = 2048 * KIB, .count = 1},
                                        {.name = "f", .bytes = 2400 * KIB, .count = 1},
                                        {.name = "f", .bytes = 1024 * KIB, .count = 1}};
    const struct vs_named_site before = {.name = "f", .bytes = 4096 * KIB, .count = 2};
    size_t partner[VS_SITE_ALIGN_MAX];
    vs_site_align(now, 3, &before, 1, VS_METRIC_ALLOCATED, partner);
    assert_int_equal(partner[0], 1);
    assert_int_equal(partner[1], 0);
    assert_int_equal(partner[2], 0);
}

static struct vs_report_frame frame(const char *function, const char *file, unsigned line)
{
    return (struct vs_report_frame){.function = function, .file = file, .line = line, .known = true};
}

/* Two instances of a template have all lines in common, another caller of the allocation function has not. */
TEST(instances_of_a_template_are_named_by_their_own_line)
{
    struct vs_report_frame frames[3][4];
    const char *const functions[] = {"Dense<1>::forward", "Dense<2>::forward"};
    for (int i = 0; i < 2; i++) {
        frames[i][0] = frame("get", "buffer.hpp", 16);
        frames[i][1] = frame(functions[i], "layers.hpp", 14);
        frames[i][2] = frame("train", "train.cpp", 34);
        frames[i][3] = frame("main", "main.cpp", 11);
    }
    frames[2][0] = frame("get", "buffer.hpp", 16);
    frames[2][1] = frame("main", "main.cpp", 9);
    struct vs_report_site sites[3];
    struct vs_named_site items[3];
    for (size_t i = 0; i < 3; i++) {
        sites[i] = (struct vs_report_site){.frames = frames[i], .frame_count = i < 2 ? 4 : 2, .api = ""};
        items[i] = (struct vs_named_site){.name = "n", .bytes = KIB, .count = 1, .site = &sites[i], .changed = i == 0};
    }
    struct vs_named_sites named = {items, 3};
    vs_distinct_frames(&named, NULL, false);
    assert_int_equal(items[0].frame, 1);
    assert_int_equal(items[1].frame, 1);
    assert_int_equal(items[2].frame, 1);
}
