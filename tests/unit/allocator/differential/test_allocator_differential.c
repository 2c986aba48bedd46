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

static const struct diff_config configurations[] = {
    {.name = "the_default_configuration_agrees_with_the_model",
     .capacity = 400 * MIB, .largest = 27,
     .reach = "hit split tail merge segment pending event_done event_not_ready retry "
              "retry_served oom release"},
    /* Most steps here take the paths that need only one stream's lock. */
    {.name = "streams_that_share_nothing_agree_with_the_model",
     .allocator = {.max_split_size = 60 * MIB},
     .capacity = 900 * MIB, .largest = 26, .alone = true,
     .reach = "hit split tail merge segment retry"},
    {.name = "expandable_streams_that_share_nothing_agree_with_the_model",
     .allocator = {.expandable_segments = true},
     .capacity = 900 * MIB, .largest = 26, .alone = true,
     .reach = "hit split merge map larger_preferred retry"},
    {.name = "max_split_size_agrees_with_the_model",
     .allocator = {.max_split_size = 20 * MIB, .max_non_split_rounding = 10 * MIB},
     .capacity = 500 * MIB, .largest = 27,
     .reach = "oversize_refused rounding_refused oversize_one oversize_several oversize_short "
              "retry_served oom"},
    {.name = "rounding_to_divisions_agrees_with_the_model",
     .allocator = {.max_split_size = 33 * MIB, .roundup_power2_divisions = {4, 2, 8, 16, 1, 0, 2, 4,
                   4, 4, 4, 4, 4, 4, 4, 4}},
     .capacity = 500 * MIB, .largest = 27,
     .reach = "division split oversize_one oom"},
    {.name = "fraction_and_garbage_collection_agree_with_the_model",
     .allocator = {.memory_fraction = 0.8, .garbage_collection_threshold = 0.6},
     .capacity = 600 * MIB, .largest = 27, .fractions = true,
     .reach = "gc_round gc_second_round gc_free fraction_refused retry_served oom"},
    {.name = "all_options_together_agree_with_the_model",
     .allocator = {.memory_fraction = 0.9, .garbage_collection_threshold = 0.5,
                   .max_split_size = 24 * MIB, .roundup_power2_divisions = {8, 8, 8, 8, 8, 8}},
     .capacity = 600 * MIB, .largest = 27, .failures = true, .fractions = true, .abandons = true,
     .reach = "gc_free fraction_refused division oversize_refused release_failed oom"},
    {.name = "reuse_after_synchronisation_agrees_with_the_model",
     .allocator = {.reuse = VS_REUSE_AFTER_SYNC},
     .capacity = 400 * MIB, .largest = 27, .failures = true,
     .reach = "reuse_sync reuse_sync_failed hit merge retry release_failed oom error"},
    {.name = "a_failing_device_leaves_both_the_same",
     .allocator = {.max_split_size = 24 * MIB},
     .capacity = 500 * MIB, .largest = 27, .failures = true, .abandons = true,
     .reach = "release_failed record_failed query_failed error oom oversize_one "
              "oversize_several"},
    {.name = "expandable_segments_agree_with_the_model",
     .allocator = {.expandable_segments = true},
     .capacity = 400 * MIB, .largest = 27,
     .reach = "range range_released map map_joined map_filled map_failed larger_preferred unmap "
              "unmap_edge retry_served oom split merge"},
    {.name = "gaps_in_expandable_segments_are_filled_as_in_the_model",
     .allocator = {.expandable_segments = true},
     .capacity = 500 * MIB, .largest = 28, .restless = true, .failures = true,
     .reach = "map_filled map_joined map_twice unmap_edge"},
    {.name = "expandable_segments_and_options_agree_with_the_model",
     .allocator = {.expandable_segments = true, .memory_fraction = 0.9,
                   .garbage_collection_threshold = 0.5, .max_split_size = 40 * MIB,
                   .max_non_split_rounding = 8 * MIB, .roundup_power2_divisions = {8, 4, 1, 8, 8,
                   2}},
     .capacity = 700 * MIB, .largest = 27, .fractions = true, .abandons = true,
     .reach = "map grown_free oversize_refused rounding_refused fraction_refused division unmap "
              "oom"},
    {.name = "a_device_that_fails_to_map_leaves_both_the_same",
     .allocator = {.expandable_segments = true},
     .capacity = 300 * MIB, .largest = 26, .failures = true, .abandons = true,
     .reach = "map_failed unmap_failed record_failed error unmap range_released"},
    {.name = "expandable_segments_and_reuse_after_synchronisation_agree_with_the_model",
     .allocator = {.expandable_segments = true, .reuse = VS_REUSE_AFTER_SYNC},
     .capacity = 300 * MIB, .largest = 26, .failures = true,
     .reach = "map reuse_sync reuse_sync_failed unmap"},
    {.name = "the_oldest_segment_of_ties_agrees_with_the_model",
     .allocator = {.tie = VS_TIE_OLDEST_SEGMENT, .max_split_size = 40 * MIB, .memory_fraction = 0.9,
                   .garbage_collection_threshold = 0.6},
     .capacity = 600 * MIB, .largest = 26, .pools = true, .failures = true, .abandons = true,
     .reach = "tie gc_free oversize_one retry_served"},
    {.name = "the_oldest_range_of_ties_agrees_with_the_model",
     .allocator = {.tie = VS_TIE_OLDEST_SEGMENT, .expandable_segments = true,
                   .expandable_reserve_bytes = 44 * MIB},
     .capacity = 600 * MIB, .largest = 25, .falling = true,
     .reach = "tie range range_released map_joined larger_preferred unmap_edge"},
    {.name = "the_lowest_range_of_ties_agrees_with_the_model",
     .allocator = {.expandable_segments = true, .expandable_reserve_bytes = 60 * MIB},
     .capacity = 600 * MIB, .largest = 25, .falling = true, .alone = true,
     .reach = "range map_joined larger_preferred"},
    {.name = "private_pools_agree_with_the_model",
     .capacity = 500 * MIB, .largest = 26, .pools = true,
     .reach = "pool_request pool_shared pool_segment pool_freeable pool_release pool_gone "
              "pool_nested capture_deferred capture_dropped capture_no_retry"},
    {.name = "private_pools_of_expandable_segments_agree_with_the_model",
     .allocator = {.expandable_segments = true, .large_segment_size = 12 * MIB},
     .capacity = 400 * MIB, .largest = 26, .pools = true, .failures = true, .abandons = true,
     .reach = "pool_request pool_release pool_gone capture_deferred map unmap"},
    {.name = "private_pools_and_options_agree_with_the_model",
     .allocator = {.max_split_size = 30 * MIB, .memory_fraction = 0.9,
                   .garbage_collection_threshold = 0.4, .large_segment_size = 24 * MIB},
     .capacity = 600 * MIB, .largest = 27, .pools = true, .failures = true, .fractions = true,
     .reach = "pool_request pool_release gc_free oversize_one"},
    {.name = "drawn_options_agree_with_the_model",
     .drawn = true,
     .reach = "hit oom"},
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
