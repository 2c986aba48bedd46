/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the allocator with the reference model: random requests, frees, streams, events, emptied
 * caches, failures of the device and memory pressure. After every step results, addresses,
 * statistics and the devices' memory are equal; periodically all segments and blocks. Each
 * configuration names the mechanisms that it tests, and fails when one of them was never used. A
 * failing sequence is shrunk and printed.
 *
 * Arguments: [STEPS [SEED [PATTERN [brief]]]]: steps for each configuration, in runs of at most
 * 5000, each with its own seed; configurations by name. brief: end at the first difference and
 * print only its step. */
#include "allocator_test.h"
#include "differential.h"

const bool diff_subject_is_ours = true;

#define REACH(...) {__VA_ARGS__, MODEL_MECHANISM_COUNT}

TEST(the_default_configuration_agrees_with_the_model)
{
    static const struct diff_config c = {
        .capacity = 400 * DIFF_MIB, .largest = 27,
        .reach = REACH(MODEL_hit, MODEL_split, MODEL_tail, MODEL_merge, MODEL_segment,
                       MODEL_pending, MODEL_event_done, MODEL_event_not_ready, MODEL_retry,
                       MODEL_retry_served, MODEL_oom, MODEL_release)};
    diff_suite(__func__, &c);
}

/* Most steps here take the paths that need only one stream's lock. */
TEST(streams_that_share_nothing_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.max_split_size = 60 * DIFF_MIB}, .capacity = 900 * DIFF_MIB, .largest = 26,
        .alone = true,
        .reach = REACH(MODEL_hit, MODEL_split, MODEL_tail, MODEL_merge, MODEL_segment,
                       MODEL_retry)};
    diff_suite(__func__, &c);
}

TEST(expandable_streams_that_share_nothing_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true}, .capacity = 900 * DIFF_MIB, .largest = 26,
        .alone = true,
        .reach = REACH(MODEL_hit, MODEL_split, MODEL_merge, MODEL_map, MODEL_larger_preferred,
                       MODEL_retry)};
    diff_suite(__func__, &c);
}

TEST(max_split_size_agrees_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.max_split_size = 20 * DIFF_MIB, .max_non_split_rounding = 10 * DIFF_MIB},
        .capacity = 500 * DIFF_MIB, .largest = 27,
        .reach = REACH(MODEL_oversize_refused, MODEL_rounding_refused, MODEL_oversize_one,
                       MODEL_oversize_several, MODEL_oversize_short, MODEL_retry_served,
                       MODEL_oom)};
    diff_suite(__func__, &c);
}

TEST(rounding_to_divisions_agrees_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.max_split_size = 33 * DIFF_MIB,
                      .roundup_power2_divisions = {4, 2, 8, 16, 1, 0, 2, 4, 4, 4, 4, 4, 4, 4, 4,
                                                   4}},
        .capacity = 500 * DIFF_MIB, .largest = 27,
        .reach = REACH(MODEL_division, MODEL_split, MODEL_oversize_one, MODEL_oom)};
    diff_suite(__func__, &c);
}

TEST(fraction_and_garbage_collection_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.memory_fraction = 0.8, .garbage_collection_threshold = 0.6},
        .capacity = 600 * DIFF_MIB, .largest = 27, .fractions = true,
        .reach = REACH(MODEL_gc_round, MODEL_gc_second_round, MODEL_gc_free,
                       MODEL_fraction_refused, MODEL_retry_served, MODEL_oom)};
    diff_suite(__func__, &c);
}

TEST(all_options_together_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.memory_fraction = 0.9, .garbage_collection_threshold = 0.5,
                      .max_split_size = 24 * DIFF_MIB,
                      .roundup_power2_divisions = {8, 8, 8, 8, 8, 8}},
        .capacity = 600 * DIFF_MIB, .largest = 27, .failures = true, .fractions = true,
        .abandons = true,
        .reach = REACH(MODEL_gc_free, MODEL_fraction_refused, MODEL_division,
                       MODEL_oversize_refused, MODEL_release_failed, MODEL_oom)};
    diff_suite(__func__, &c);
}

TEST(reuse_after_synchronisation_agrees_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.reuse = VS_REUSE_AFTER_SYNC}, .capacity = 400 * DIFF_MIB, .largest = 27,
        .failures = true,
        .reach = REACH(MODEL_reuse_sync, MODEL_reuse_sync_failed, MODEL_hit, MODEL_merge,
                       MODEL_retry, MODEL_release_failed, MODEL_oom, MODEL_error)};
    diff_suite(__func__, &c);
}

TEST(a_failing_device_leaves_both_the_same)
{
    static const struct diff_config c = {
        .allocator = {.max_split_size = 24 * DIFF_MIB},
        .capacity = 500 * DIFF_MIB, .largest = 27, .failures = true, .abandons = true,
        .reach = REACH(MODEL_release_failed, MODEL_record_failed, MODEL_query_failed, MODEL_error,
                       MODEL_oom, MODEL_oversize_one, MODEL_oversize_several)};
    diff_suite(__func__, &c);
}

TEST(expandable_segments_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true}, .capacity = 400 * DIFF_MIB, .largest = 27,
        .reach = REACH(MODEL_range, MODEL_range_released, MODEL_map, MODEL_map_joined,
                       MODEL_map_filled, MODEL_map_failed, MODEL_larger_preferred, MODEL_unmap,
                       MODEL_unmap_edge, MODEL_retry_served, MODEL_oom, MODEL_split,
                       MODEL_merge)};
    diff_suite(__func__, &c);
}

TEST(gaps_in_expandable_segments_are_filled_as_in_the_model)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true}, .capacity = 500 * DIFF_MIB, .largest = 28,
        .restless = true, .failures = true,
        .reach = REACH(MODEL_map_filled, MODEL_map_joined, MODEL_map_twice, MODEL_unmap_edge)};
    diff_suite(__func__, &c);
}

TEST(expandable_segments_and_options_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true, .memory_fraction = 0.9,
                      .garbage_collection_threshold = 0.5, .max_split_size = 40 * DIFF_MIB,
                      .max_non_split_rounding = 8 * DIFF_MIB,
                      .roundup_power2_divisions = {8, 4, 1, 8, 8, 2}},
        .capacity = 700 * DIFF_MIB, .largest = 27, .fractions = true, .abandons = true,
        .reach = REACH(MODEL_map, MODEL_grown_free, MODEL_oversize_refused,
                       MODEL_rounding_refused, MODEL_fraction_refused,
                       MODEL_division, MODEL_unmap, MODEL_oom)};
    diff_suite(__func__, &c);
}

TEST(a_device_that_fails_to_map_leaves_both_the_same)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true}, .capacity = 300 * DIFF_MIB, .largest = 26,
        .failures = true, .abandons = true,
        .reach = REACH(MODEL_map_failed, MODEL_unmap_failed, MODEL_record_failed,
                       MODEL_error, MODEL_unmap, MODEL_range_released)};
    diff_suite(__func__, &c);
}

TEST(expandable_segments_and_reuse_after_synchronisation_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true, .reuse = VS_REUSE_AFTER_SYNC},
        .capacity = 300 * DIFF_MIB, .largest = 26, .failures = true,
        .reach = REACH(MODEL_map, MODEL_reuse_sync, MODEL_reuse_sync_failed, MODEL_unmap)};
    diff_suite(__func__, &c);
}

TEST(the_oldest_segment_of_ties_agrees_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.tie = VS_TIE_OLDEST_SEGMENT, .max_split_size = 40 * DIFF_MIB,
                      .memory_fraction = 0.9, .garbage_collection_threshold = 0.6},
        .capacity = 600 * DIFF_MIB, .largest = 26, .pools = true, .failures = true,
        .abandons = true,
        .reach = REACH(MODEL_tie, MODEL_gc_free, MODEL_oversize_one, MODEL_use_on_oom,
                       MODEL_retry_served)};
    diff_suite(__func__, &c);
}

TEST(the_oldest_range_of_ties_agrees_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.tie = VS_TIE_OLDEST_SEGMENT, .expandable_segments = true,
                      .expandable_reserve_bytes = 44 * DIFF_MIB},
        .capacity = 600 * DIFF_MIB, .largest = 25, .falling = true,
        .reach = REACH(MODEL_tie, MODEL_range, MODEL_range_released, MODEL_map_joined,
                       MODEL_larger_preferred, MODEL_unmap_edge)};
    diff_suite(__func__, &c);
}

TEST(the_lowest_range_of_ties_agrees_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true, .expandable_reserve_bytes = 60 * DIFF_MIB},
        .capacity = 600 * DIFF_MIB, .largest = 25, .falling = true, .alone = true,
        .reach = REACH(MODEL_range, MODEL_map_joined, MODEL_larger_preferred)};
    diff_suite(__func__, &c);
}

TEST(private_pools_agree_with_the_model)
{
    static const struct diff_config c = {
        .capacity = 500 * DIFF_MIB, .largest = 26, .pools = true,
        .reach = REACH(MODEL_pool_request, MODEL_pool_shared, MODEL_pool_segment,
                       MODEL_pool_freeable, MODEL_pool_release, MODEL_pool_gone,
                       MODEL_pool_nested, MODEL_pool_source, MODEL_pool_emptied,
                       MODEL_capture_deferred, MODEL_capture_dropped, MODEL_capture_no_retry,
                       MODEL_use_on_oom, MODEL_use_on_oom_missed, MODEL_no_split)};
    diff_suite(__func__, &c);
}

TEST(private_pools_of_expandable_segments_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.expandable_segments = true, .large_segment_size = 12 * DIFF_MIB},
        .capacity = 400 * DIFF_MIB, .largest = 26, .pools = true, .failures = true,
        .abandons = true,
        .reach = REACH(MODEL_pool_request, MODEL_pool_release, MODEL_pool_gone, MODEL_pool_source,
                       MODEL_capture_deferred, MODEL_no_split, MODEL_map, MODEL_unmap)};
    diff_suite(__func__, &c);
}

TEST(pools_beside_captures_that_are_reported_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.captures_reported = true, .tie = VS_TIE_OLDEST_SEGMENT},
        .capacity = 500 * DIFF_MIB,
        .largest = 26, .pools = true, .abandons = true,
        .reach = REACH(MODEL_pool_request, MODEL_pool_emptied, MODEL_open_pool_event,
                       MODEL_open_pool_retry, MODEL_capture_deferred, MODEL_capture_dropped,
                       MODEL_capture_no_retry, MODEL_use_on_oom)};
    diff_suite(__func__, &c);
}

TEST(private_pools_and_options_agree_with_the_model)
{
    static const struct diff_config c = {
        .allocator = {.max_split_size = 30 * DIFF_MIB, .memory_fraction = 0.9,
                      .garbage_collection_threshold = 0.4, .large_segment_size = 24 * DIFF_MIB},
        .capacity = 600 * DIFF_MIB, .largest = 27, .pools = true, .failures = true,
        .fractions = true, .callbacks = true,
        .reach = REACH(MODEL_pool_request, MODEL_pool_release, MODEL_gc_free, MODEL_use_on_oom,
                       MODEL_oversize_one, MODEL_callback_freed, MODEL_callback_served)};
    diff_suite(__func__, &c);
}

TEST(callbacks_that_free_agree_with_the_model)
{
    static const struct diff_config c = {
        .capacity = 300 * DIFF_MIB, .largest = 26, .callbacks = true, .failures = true,
        .reach = REACH(MODEL_callback_freed, MODEL_callback_served, MODEL_retry, MODEL_oom)};
    diff_suite(__func__, &c);
}

TEST(drawn_options_agree_with_the_model)
{
    static const struct diff_config c = {.drawn = true, .reach = REACH(MODEL_hit, MODEL_oom)};
    diff_suite(__func__, &c);
}

int main(int argc, char **argv)
{
    diff_suite_arguments(argc, argv);
    return vs_run_tests(NULL, NULL);
}
