/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the reference model with PyTorch's own allocator: the same random steps as in
 * test_allocator_differential, as far as PyTorch defines them. One configuration per process,
 * because PyTorch's options apply to the whole process:
 *   c10_model STEPS SEED CONFIGURATION */
#include "unit/allocator/allocator_test.h"
#include "unit/allocator/differential/differential.h"

#define REACH(...) {__VA_ARGS__, MODEL_MECHANISM_COUNT}

TEST(the_default_configuration)
{
    static const struct diff_config c = {
        .capacity = 400 * DIFF_MIB, .largest = 27,
        .reach = REACH(MODEL_hit, MODEL_split, MODEL_tail, MODEL_merge, MODEL_pending,
                       MODEL_retry_served, MODEL_oom)};
    diff_suite(__func__, &c);
}

TEST(max_split_size)
{
    static const struct diff_config c = {
        .allocator = {.max_split_size = 24 * DIFF_MIB, .max_non_split_rounding = 30 * DIFF_MIB},
        .capacity = 500 * DIFF_MIB, .largest = 27,
        .reach = REACH(MODEL_oversize_refused, MODEL_oversize_one, MODEL_oversize_several)};
    diff_suite(__func__, &c);
}

TEST(divisions)
{
    static const struct diff_config c = {
        .allocator = {.max_split_size = 33 * DIFF_MIB, .large_segment_size = 24 * DIFF_MIB,
                      .roundup_power2_divisions = {4, 2, 8, 16, 1, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4,
                                                   4}},
        .capacity = 500 * DIFF_MIB, .largest = 27,
        .reach = REACH(MODEL_division, MODEL_split, MODEL_oom)};
    diff_suite(__func__, &c);
}

TEST(fraction_and_garbage_collection)
{
    static const struct diff_config c = {
        .allocator = {.memory_fraction = 0.8, .garbage_collection_threshold = 0.6},
        .capacity = 600 * DIFF_MIB, .largest = 27, .fractions = true,
        .reach = REACH(MODEL_gc_round, MODEL_gc_second_round, MODEL_gc_free,
                       MODEL_fraction_refused)};
    diff_suite(__func__, &c);
}

TEST(expandable_segments)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true}, .capacity = 400 * DIFF_MIB, .largest = 27,
        .reach = REACH(MODEL_map_joined, MODEL_map_filled, MODEL_map_failed,
                       MODEL_larger_preferred, MODEL_unmap_edge, MODEL_range_released,
                       MODEL_retry_served)};
    diff_suite(__func__, &c);
}

TEST(expandable_segments_and_options)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true, .memory_fraction = 0.9,
                      .max_split_size = 40 * DIFF_MIB, .max_non_split_rounding = 30 * DIFF_MIB,
                      .roundup_power2_divisions = {8, 4, 1, 8, 8, 2}},
        .capacity = 700 * DIFF_MIB, .largest = 27, .fractions = true, .restless = true,
        .reach = REACH(MODEL_map, MODEL_grown_free, MODEL_division, MODEL_unmap)};
    diff_suite(__func__, &c);
}

TEST(private_pools)
{
    static const struct diff_config c = {
        .capacity = 500 * DIFF_MIB, .largest = 26, .pools = true,
        .reach = REACH(MODEL_pool_request, MODEL_pool_release, MODEL_pool_gone, MODEL_use_on_oom,
                       MODEL_pool_nested, MODEL_capture_deferred, MODEL_capture_no_retry)};
    diff_suite(__func__, &c);
}

TEST(private_pools_beside_captures)
{
    static const struct diff_config c = {
        .allocator = {.captures_reported = true}, .capacity = 500 * DIFF_MIB, .largest = 26,
        .pools = true,
        .reach = REACH(MODEL_pool_request, MODEL_pool_release, MODEL_open_pool_event,
                       MODEL_open_pool_retry, MODEL_capture_deferred, MODEL_capture_no_retry)};
    diff_suite(__func__, &c);
}

TEST(private_pools_of_expandable_segments)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true}, .capacity = 500 * DIFF_MIB, .largest = 26,
        .pools = true,
        .reach = REACH(MODEL_pool_request, MODEL_pool_segment, MODEL_pool_nested, MODEL_map,
                       MODEL_unmap, MODEL_capture_deferred)};
    diff_suite(__func__, &c);
}

int main(int argc, char **argv)
{
    diff_suite_arguments(argc, argv);
    return vs_run_tests(NULL, NULL);
}
