/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the reference model with PyTorch's own allocator: the same random steps as in
 * test_allocator_differential, as far as PyTorch defines them. One configuration per process,
 * because PyTorch's options apply to the whole process:
 *   c10_model STEPS SEED CONFIGURATION */
#include "unit/allocator/allocator_test.h"
#include "unit/allocator/differential/differential.h"

static const struct diff_config configurations[] = {
    {.name = "the_default_configuration",
     .capacity = 400 * DIFF_MIB, .largest = 27,
     .reach = "hit split tail merge pending retry_served oom"},
    {.name = "max_split_size",
     .allocator = {.max_split_size = 24 * DIFF_MIB, .max_non_split_rounding = 30 * DIFF_MIB},
     .capacity = 500 * DIFF_MIB, .largest = 27,
     .reach = "oversize_refused oversize_one oversize_several"},
    {.name = "divisions",
     .allocator = {.max_split_size = 33 * DIFF_MIB, .large_segment_size = 24 * DIFF_MIB,
                   .roundup_power2_divisions = {4, 2, 8, 16, 1, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4}},
     .capacity = 500 * DIFF_MIB, .largest = 27,
     .reach = "division split oom"},
    {.name = "fraction_and_garbage_collection",
     .allocator = {.memory_fraction = 0.8, .garbage_collection_threshold = 0.6},
     .capacity = 600 * DIFF_MIB, .largest = 27, .fractions = true,
     .reach = "gc_round gc_second_round gc_free fraction_refused"},
    {.name = "expandable_segments",
     .allocator = {.expandable_segments = true},
     .capacity = 400 * DIFF_MIB, .largest = 27,
     .reach = "map_joined map_filled map_failed larger_preferred unmap_edge range_released "
              "retry_served"},
    {.name = "expandable_segments_and_options",
     .allocator = {.expandable_segments = true, .memory_fraction = 0.9,
                   .max_split_size = 40 * DIFF_MIB, .max_non_split_rounding = 30 * DIFF_MIB,
                   .roundup_power2_divisions = {8, 4, 1, 8, 8, 2}},
     .capacity = 700 * DIFF_MIB, .largest = 27, .fractions = true, .restless = true,
     .reach = "map grown_free division unmap"},
    {.name = "private_pools",
     .capacity = 500 * DIFF_MIB, .largest = 26, .pools = true,
     .reach = "pool_request pool_release pool_gone pool_nested capture_deferred capture_no_retry"},
    {.name = "private_pools_of_expandable_segments",
     .allocator = {.expandable_segments = true},
     .capacity = 500 * DIFF_MIB, .largest = 26, .pools = true,
     .reach = "pool_request pool_segment pool_nested map unmap capture_deferred"},
};

ROWS(configurations, the_allocator_agrees_with_the_model)
{
    diff_suite(*state);
}

int main(int argc, char **argv)
{
    diff_suite_arguments(argc, argv);
    return vs_run_tests(NULL, NULL);
}
