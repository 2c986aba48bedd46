/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts of the post-mortem: one trace for each, and cases that just miss it. */
#include "unit/analysis/oom_test.h"

#define SMALL "device 512M Small GPU; " /* 64 MiB of it are the driver's */
#define START SMALL "at site_weights; alloc 0 100M; "
/* *count* steps of four activations of *each*, freed in the backward. *leak*: of each step. */
#define STEPS(count, each, leak)                                                               \
    "repeat " #count " { step i; push forward; at site_activation; "                           \
    "repeat 4 { alloc 100i+1000 " each " }; pop; push backward; repeat 4 { free 100i+1000 }; " \
    "pop; " leak "pop }; "
#define LEAK(each) "at site_leak; alloc 100i+10000 " each "; "
/* A step that has *live* activations of *each*. */
#define FORWARD(number, live, each)                         \
    "step " #number "; push forward; at site_activation; "  \
    "repeat " #live " { alloc 100i+1000 " each " }; "
/* A cache of 20 MiB segments with every second 5 MiB block free. */
#define HOLES                                                                                  \
    SMALL "at site_activation; repeat 20 { segment 100i 20M; alloc 100i 5M; alloc 100i+5 5M; " \
          "alloc 100i+10 5M; alloc 100i+15 5M }; repeat 20 { free 100i; free 100i+10 }; "
/* Segments of 20 MiB that take two blocks of 7 MiB each and leave 6 MiB. */
#define GAPS "repeat 22 { segment 100i 20M; alloc 100i 7M; alloc 100i+7 7M }; fail 7M free 8M"
#define GAPS_FACTS "device_bytes/needed 20M; device_bytes/cached 132M; verdict true_capacity"
/* Another process's bytes, reported as in *how*. */
#define BESIDE(others, how)                                                                     \
    "device 80G Shared GPU; context 1; at site_activation; alloc 0 4G; usage others " others    \
    " " how "; usage process " others " pid 77 " how "; "
#define FIVE_CONTEXTS(first, others)                                                    \
    "device 2G Small GPU; " first "context 1; overhead context 1 400M; " others         \
    "repeat 4 { context i+2; overhead context i+2 400M }; at site_activation; fail 100M free 20M"
#define FIVE_CONTEXTS_FACTS \
    "verdict contexts; causes/0/bytes 1600M; remedies/0/kind one_context; " GUILTY
#define CHUNKS(freed)                                                                 \
    START "at site_activation; repeat 4 { alloc 100i+1000 50M async }; " freed        \
          "usage pools 256M; sample 92M; at site_spike; fail 120M free 92M"
/* PyTorch's cache on a stream. */
#define CACHE_OF(stream)                                                                     \
    SMALL "repeat 20 { alloc 20i 20M; tensor 20i 5M " stream "; tensor 20i+5 5M " stream     \
          "; tensor 20i+10 5M " stream "; tensor 20i+15 5M " stream " }; "                   \
          "repeat 20 { drop 20i+5; drop 20i+10; drop 20i+15 }; fail 100M free 48M; raise 100M"
#define KEPT(size)                                                                  \
    SMALL "at site_leak; alloc 640 12M; repeat 16 { alloc 40i 12M; alloc 40i+20 "   \
          size " }; fail 30M free 20M"
#define OTHER_ERROR(number, text, kind)                                                         \
    {"error_" #number "_is_not_a_lack_of_memory", START "fail 100 pinned error " #number,       \
     "verdict other_error; evidence is the call was refused with " text "; remedies count 1; "  \
     "remedies/0/kind " kind}

static const struct oom_case cases[] = {
    {"a_first_step_too_big_is_true_capacity", START FORWARD(0, 5, "60M") "fail 60M free 48M",
     "verdict true_capacity; device_bytes/free 48M; device_bytes/outside 64M; "
     "device_bytes/allocated 400M; device_bytes/missing 12M; failure/phase step 0 / forward; "
     "sites_live/sites/0/frames/0/function site_activation; steps/allocated_in_this_step_bytes "
     "300M; remedies/kind=bigger_device/bytes 524M; remedies/kind=smaller_step/fits true; "
     "evidence is needs 60.0 MiB, 48.0 MiB available: short by 12.0 MiB"},
    {"a_request_above_the_device_in_the_first_step_is_true_capacity",
     START FORWARD(0, 1, "8M") "fail 9G free 340M", "verdict true_capacity"},
    {"what_holds_less_than_a_fiftieth_is_no_way_out", /* 3 MiB of rounding, of 403 */
     START FORWARD(0, 5, "60M") "repeat 3 { alloc 100i+3000 1M }; fail 42M free 40M",
     "verdict true_capacity; causes/0/name rounding; causes/0/suffices true; evidence_against count 0"},
    {"a_step_of_larger_inputs_is_named",
     START "repeat 4 { step i; at site_batch; alloc 900 8M; at site_activation; "
     "repeat 4 { alloc 100i+1000 80M }; repeat 4 { free 100i+1000 }; free 900; pop }; step 4; "
     "at site_table; alloc 800 256K; at site_batch; alloc 900 12M; at site_activation; "
     "repeat 2 { alloc 100i+1000 120M }; fail 120M free 95M",
     "verdict larger_step; causes/0/bytes 124M; causes/0/suffices true; remedies/0/kind limit_step; "
     "remedies/0/bytes 124M; remedies/0/text has from site_batch; " GUILTY "site_batch; "
     "evidence has so far 4 of its requests are larger than any at these lines before: 372.0 MiB "
     "together instead of at most 248.0 MiB; evidence has : 12.0 MiB, at most 8.0 MiB in "
     "the steps before"},
    {"a_slightly_larger_later_step_is_not_a_spike",
     START STEPS(5, "80M", "") FORWARD(5, 3, "95M") "fail 95M free 63M",
     "verdict larger_step; steps/done 5; steps/earlier_steps_peak_bytes 420M"},
    {"new_lines_after_the_steps_are_named",
     START "repeat 3 { step i; at site_batch; alloc 1000 600M; free 1000; pop }; step 3; at site_table; "
     "repeat 8 { alloc 20i+2000 60M }; at site_log; fail 400M free 344M",
     "verdict after_steps; " GUILTY "site_table; causes/0/bytes 880M; remedies/0/kind less_after_steps; "
     "inside/in_step 0; text has after 3 completed steps; evidence has what failed ran in "
     "none of them"},
    {"a_step_of_known_lines_is_not_after_the_steps",
     START "repeat 3 { step i; at site_batch; alloc 1000 600M; free 1000; pop }; step 3; at site_batch; "
     "alloc 1000 600M; at site_table; repeat 2 { alloc 20i+2000 60M }; at site_log; fail 400M free 104M",
     "verdict not after_steps"},
    {"a_larger_step_that_needs_more_blocks_as_well_is_true_capacity",
     START STEPS(5, "50M", "") FORWARD(5, 5, "55M") "fail 60M free 48M",
     "verdict true_capacity"},
    {"a_leak_per_step_is_growth",
     START STEPS(6, "60M", LEAK("20M")) FORWARD(6, 3, "60M") "fail 60M free 48M",
     "verdict growth; growth/bytes 120M; growth/bytes_per_step 20M; growth/since_step 0; "
     "sites_growing/sites count 1; sites_growing/sites/0/frames/0/function site_leak; "
     "remedies/0/kind free_growth; remedies/0/fits true; evidence is grows every step since step "
     "0: 6 steps × 20 MiB = 120 MiB; remedies/kind=bigger_device/text a larger GPU only delays "
     "it: 1 step per 20 MiB"},
    {"a_buffer_that_a_larger_one_replaces_after_the_steps_is_growth",
     START STEPS(3, "10M", "") "step 3; at site_log; repeat 5 { alloc 200i+2200 34i+34M; alloc 9000 1M; "
     "free 200i+2100; free 9000; alloc 200i+2300 34i+34M; free 200i+2200 }; fail 204M free 178M",
     "verdict growth; growth/bytes 170M; " GUILTY "site_log; remedies/0/kind free_growth; evidence has "
     "17.0 MiB more in each of 10 repetitions, which come after 3 completed steps; evidence has 374.0 MiB"},
    {"growth_over_few_steps_says_so", START STEPS(4, "60M", LEAK("20M")) FORWARD(4, 4,
     "60M") "fail 60M free 28M",
     "verdict growth; evidence_against is only 4 steps were completed"},
    {"a_request_a_little_larger_than_what_is_free_differs_in_print",
     START FORWARD(0, 5, "60M") "fail 50335744 free 48M", /* the device allocates whole pages */
     "device_bytes/missing 2M; evidence is needs 50.0 MiB from the device (48.0 MiB rounded up), "
     "48.0 MiB available: short by 2.0 MiB; remedies/kind=bigger_device/text has 514.0 MiB "
     "instead of 512.0"},
    {"the_leaking_request_itself_failing_is_growth",
     START STEPS(5, "10M", LEAK("60M")) "step 5; at site_leak; fail 60M free 48M",
     "verdict growth; failure/frames/0/function site_leak"},
    /* The driver did not say how much was free, for instance while the process ended. */
    {"growth_is_the_verdict_where_free_memory_is_unknown",
     START STEPS(5, "10M", LEAK("60M")) "step 5; at site_activation; fail 20M",
     "device_bytes/missing 0; verdict growth; sites_growing/sites/0/frames/0/function site_leak"},
    /* Short by 40 MiB, and the leak holds little more than one. */
    {"growth_too_small_to_matter_is_not_the_verdict",
     START STEPS(5, "60M", LEAK("256K")) FORWARD(5, 3, "80M") "fail 147M-262144 free 107M-262144",
     "growth/bytes not 0; verdict not growth"},
    {"memory_kept_for_only_two_steps_is_not_growth",
     START STEPS(2, "60M", LEAK("20M")) FORWARD(2, 4, "70M") "fail 70M free 28M",
     "growth/bytes 0; verdict true_capacity"},
    {"one_request_unlike_any_other_is_a_spike",
     START STEPS(4, "40M", "") "step 4; at site_spike; fail 400M free 348M",
     "verdict single_spike; inside/spike_is_request 1; spike_bytes 400M; remedies/0/kind "
     "avoid_spike; remedies/0/text has peaked at 260.0 MiB"}, /* without it */
    {"a_spike_above_the_device_is_still_a_spike",
     START STEPS(3, "40M", "") "step 3; at site_spike; fail 700M free 348M",
     "verdict single_spike"},
    {"a_live_spike_that_makes_others_fail_is_a_spike",
     START STEPS(4, "40M", "") "step 4; at site_spike; alloc 5000 320M; at site_activation; "
     "fail 40M free 28M",
     "verdict single_spike; inside/spike_is_request 0; spike_bytes 320M; "
     "sites_of_spike/sites/0/frames/0/function site_spike"},
    /* The missing bytes are unknown to every cause, not to growth alone. */
    {"a_spike_is_the_verdict_where_free_memory_is_unknown",
     START STEPS(4, "40M", "") "step 4; at site_spike; alloc 5000 240M; at site_activation; "
     "fail 20M",
     "inside/missing_unknown 1; device_bytes/missing 0; verdict single_spike; "
     "causes/0/bytes 240M; evidence is the device did not report its free memory: the missing "
     "bytes are unknown"},
    {"a_spike_between_two_steps_is_a_spike",
     START "step 0; pop; " STEPS(4, "40M", "")
     "push evaluation; at site_spike; alloc 5000 320M; at site_activation; fail 40M free 28M",
     "verdict single_spike; spike_bytes 320M; inside/in_step 0; failure/phase evaluation"},
    {"a_large_request_that_every_step_makes_is_not_a_spike",
     START "repeat 4 { step i; at site_spike; alloc 5000 200M; free 5000; pop }; step 4; "
     "at site_activation; alloc 1000 100M; alloc 1200 100M; at site_spike; fail 200M free 148M",
     "verdict true_capacity"},
    {"a_spike_is_seen_without_step_marks_when_memory_goes_round",
     START "at site_activation; repeat 40 { alloc 1000 20M; free 1000 }; at site_spike; "
     "fail 420M free 348M",
     "verdict single_spike"},
    {"growth_beside_more_in_holes_says_so",
     SMALL "at site_weights; alloc 9000 190M; at site_activation; repeat 10 { segment 100i 20M; "
     "alloc 100i 5M; alloc 100i+5 5M; alloc 100i+10 5M; alloc 100i+15 5M }; "
     "repeat 10 { free 100i; free 100i+10 }; repeat 10 { step i; at site_leak; "
     "alloc 100i+20000 5M; pop }; step 10; at site_spike; fail 10M free 8M",
     "verdict growth; evidence_against has 100.0 MiB more is cached in 20 holes", .policy = "caching"},
    {"enough_in_pieces_too_small_is_fragmentation", HOLES "at site_spike; fail 120M free 48M",
     "verdict fragmentation; device_bytes/cached 200M; device_bytes/largest_hole 5M; "
     "device_bytes/holes 40; device_bytes/cached_empty_segments 0; remedies/kind=use_holes not "
     "none; remedies/kind=smaller_request/bytes 48M", .policy = "caching"},
    {"more_than_all_pieces_together_is_true_capacity", HOLES "at site_spike; fail 249M free 48M",
     "verdict true_capacity", .policy = "caching"},
    {"a_few_small_holes_do_not_make_it_fragmentation", /* each segment's last MiB is unused */
     SMALL "at site_activation; step 0; repeat 20 { segment 100i 20M; alloc 100i 19M }; "
     "fail 60M free 48M",
     "device_bytes/cached 20M; verdict true_capacity", .policy = "caching"},
    {"gaps_in_segments_of_a_first_step_are_not_fragmentation",
     SMALL "at site_activation; step 0; " GAPS, GAPS_FACTS,
     .policy = "caching"},
    {"gaps_in_segments_of_a_set_up_are_not_fragmentation",
     SMALL "at site_activation; " GAPS, GAPS_FACTS,
     .policy = "caching"},
    {"a_size_no_device_has_is_absurd", START "fail 18446744073709547520 free 348M",
     "verdict absurd_request; remedies/0/kind fix_size"},
    {"a_refusal_with_enough_free_is_called_one", START "fail 20M free 348M", "verdict refused"},
    /* managed memory is not counted */
    {"a_limit_that_was_reached_while_the_device_had_more_is_the_cause",
     START "option limit 3:1GiB,25%; alloc 200 64M managed; fail 29M async free 284M",
     "verdict imposed_limit; inside/limit 128M; device_bytes/limit 128M; device_bytes/total 128M; "
     "device_bytes/unlimited_total 512M; device_bytes/unlimited_free 284M; "
     "device_bytes/free 28M; device_bytes/missing 1M; device_bytes/outside 0; "
     "remedies/0/kind raise_limit; remedies/0/fits true; remedies/0/bytes 129M; "
     "remedies/kind=bigger_device none"},
    /* the device is full before it: other processes hold the rest */
    {"a_limit_that_was_not_reached_is_not_the_cause",
     START "option limit 400MiB; fail 100M free 60M",
     "verdict true_capacity; device_bytes/limit none; device_bytes/total 512M"},
    {"a_refusal_below_the_limit_is_called_one", START "option limit 256MiB; fail 20M free 348M",
     "verdict refused; evidence is 156.0 MiB was free of the limit of 256.0 MiB;; "
     "the request needs 20.0 MiB"},
    {"another_process_in_the_way_is_named", BESIDE("74G", "by_pid") "fail 2G free 1G",
     "verdict other_process; device_bytes/balance/parts/other_processes 74G; "
     "device_bytes/balance/processes/largest/0/pid 77; device_bytes/balance/used_bytes 79G; "
     "device_bytes/balance/parts/unexplained 1G; remedies/0/kind stop_others; "
     "remedies/0/bytes 74G"},
    {"a_small_neighbour_is_a_remedy_but_no_verdict", /* the rest belongs to the context */
     BESIDE("3G", "by_pid") "fail 2G free 1G", "verdict not other_process"},
    {"a_neighbour_whose_end_would_not_do_is_not_to_blame",
     BESIDE("30G", "by_pid") "fail 78G free 46G",
     "device_bytes/missing 32G; verdict true_capacity; remedies/kind=stop_others none"},
    {"processes_that_cannot_be_distinguished_are_outside_memory", BESIDE("74G",
     "unattributed") "fail 2G free 1G",
     "verdict outside_memory; device_bytes/balance/parts/other_processes 0"},
    {"a_device_full_of_others_is_outside_memory",
     "device 80G Shared GPU; at site_activation; alloc 0 4G; fail 2G free 1G",
     "verdict outside_memory; device_bytes/outside 75G"},
    {"page_locked_memory_is_the_hosts_matter", START "fail 64G pinned", "verdict host_memory"},
    /* The call site asks for half as much until it gets it; later the program fails elsewhere. */
    {"a_probe_at_the_start_is_recovered_although_the_program_fails_later",
     START "at site_activation; fail 3200M free 348M; fail 1600M free 348M; fail 800M free 348M; "
     /* of another site */
     "alloc 9000 300M; at site_spike; fail 200M free 48M; at site_leak; alloc 9500 20M",
     "failure_number 4; inside/ended 1; inside/failures_recovered 3"},
    OTHER_ERROR(1, "CUDA_ERROR_INVALID_VALUE", "fix_call"),
    OTHER_ERROR(46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "restore_device"),
    OTHER_ERROR(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "fix_kernel"),
    OTHER_ERROR(709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "fix_context"),
    OTHER_ERROR(711, "CUDA_ERROR_TOO_MANY_PEERS", "look_up_error"),
    OTHER_ERROR(900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "fix_capture"),
    OTHER_ERROR(12345, "CUDA error 12345", "look_up_error"),
    {"remedies_that_suffice_come_first", START FORWARD(0, 5, "60M") "fail 400M free 48M",
     "verdict true_capacity; remedies/0/kind bigger_device; remedies/0/fits true; "
     "remedies/1/kind smaller_step; remedies/2/kind shrink_site; remedies/1/fits false; "
     "remedies/2/fits false"},
    {"memory_kept_by_a_pool_is_named_with_its_site",
     START "at site_activation; alloc 1000 300M async; free 1000; usage pools 300M; "
     "at site_spike; fail 100M free 48M",
     "verdict kept_pool; causes/0/bytes 300M; causes/0/suffices true; causes/0/accused true; "
     GUILTY "site_activation; remedies/0/kind trim_pools"},
    /* A leak beside a pool that keeps memory: the evidence names both. */
    {"a_second_cause_that_suffices_is_evidence",
     START "at site_spike; alloc 2000 120M async; free 2000; usage pools 120M; " STEPS(12,
     "5M", LEAK("16M"))
     "step 12; push forward; at site_activation; fail 40M free 36M",
     "verdict growth; evidence has without the pools' unused memory (120.0 MiB, most at "
     "site_spike; inside/also_count 1; causes/1/name kept_pool; remedies/kind=trim_pools not "
     "none; summary has   why     growth: ; summary has   also    cached in pools: ; "
     "summary has   look at site_spike"},
    /* A leak through a pool: its holes lie beside the leaked blocks, so that trimming is no remedy.
     * */
    {"trimming_does_not_help_a_leak_inside_the_pool",
     START "repeat 20 { step i; at site_activation; alloc 2000 60M async; at site_leak; "
     "alloc 10i+3000 8M async; free 2000; usage pools 13i+93M; pop }; step 20; sample 20M; "
     "at site_activation; fail 60M async free 20M",
     "verdict growth", "remedies/kind=trim_pools none; remedies/0/kind free_growth"},
    /* A spike under a limit: the limit is a remedy, and the figures are its. */
    {"a_spike_below_the_device_but_above_the_limit_names_the_limit",
     START "option limit 300MiB; " STEPS(6, "20M", "") "at site_spike; fail 250M free 348M",
     "verdict single_spike; remedies/kind=raise_limit/bytes 350M; remedies/kind=raise_limit/fits "
     "true; evidence is this is 83.3 % of the limit;; the largest other allocation was 100.0 MiB"},
    /* The unused ends of a pool's chunks, of which none was freed: trimming returns nothing. */
    {"ends_of_a_pools_chunks_are_not_kept", CHUNKS(""),
     "device_bytes/balance/parts/pools 56M; inside/pools_releasable 0; verdict true_capacity",
     "remedies/kind=trim_pools none"},
    {"chunks_of_a_pool_that_were_freed_are_kept", CHUNKS("free 1300; "),
     "device_bytes/balance/parts/pools 106M; inside/pools_releasable 64M; verdict kept_pool",
     "remedies/kind=trim_pools/fits true; remedies/kind=trim_pools/replayed true"},
    {"two_causes_that_suffice_only_together_are_both_named",
     START "usage pools 170M; usage others 140M; at site_spike; fail 300M free 38M",
     "device_bytes/missing 262M; verdict kept_pool; second other_process; causes/0/suffices "
     "false; causes/1/suffices false; evidence is stream-ordered pools (cudaMallocAsync) hold "
     "170.0 MiB, 33.2 % of the device, that nothing uses;; their live allocations take 0 B; "
     "evidence is 1 other process holds 140.0 MiB, 27.3 % of the device (from NVML);; "
     "this program's allocations hold 100.0 MiB; evidence is without both the device would have "
     "had 310.0 MiB more: the request fits; remedies/0/kind both; remedies/0/bytes 310M; "
     "summary has   why     cached in pools: ; summary has (170.0 MiB, 33.2 % of the device); "
     "summary has   and     other process: "},
    {"a_cache_of_another_stream_is_not_fragmentation",
     SMALL "at site_weights; repeat 22 { segment 100i 20M stream 7; alloc 100i 12M; "
     "alloc 100i+12 8M }; repeat 22 { free 100i }; at site_activation; fail 10M free 8M",
     "verdict other_cache; causes/0/bytes 264M; " GUILTY "site_weights", .policy = "caching"},
    {"many_blocks_of_little_more_than_a_page_are_rounding",
     SMALL "at site_activation; repeat 220 { alloc 2i 1049088 }; at site_spike; fail 20M free 8M",
     "verdict rounding; " GUILTY "site_activation; remedies/0/kind suballocate"},
    {"a_huge_context_is_named",
     "device 2G Small GPU; at site_weights; context 1; overhead context 1 2028M; "
     "at site_activation; fail 100M free 20M", "verdict contexts"},
    {"modules_of_usual_size_are_what_the_program_needs",
     "device 2G Small GPU; at site_weights; context 1; overhead context 1 109M; overhead module 1 200M; "
     "alloc 0 1700M; at site_activation; fail 100M free 20M", "verdict true_capacity; evidence_against count 0"},
    {"many_contexts_are_named", FIVE_CONTEXTS("at site_weights; ", "at site_spike; "),
     FIVE_CONTEXTS_FACTS "site_spike; summary has   look at site_spike"},
    {"many_contexts_of_traces_of_earlier_versions_have_no_stacks", FIVE_CONTEXTS("", ""),
     FIVE_CONTEXTS_FACTS "site_activation"},
    {"growth_is_found_without_marked_steps",
     START "repeat 2 { at site_activation; alloc 1000 30M; free 1000 }; repeat 18 { at "
     "site_activation; alloc 1000 30M; at site_leak; alloc 100i+10200 18M; free 1000 }; "
     "at site_activation; fail 30M free 24M",
     "verdict growth; growth/allocations 18; growth/bytes 324M; " GUILTY "site_leak; "
     "remedies/kind=bigger_device/text not has instead"},
    {"a_failure_frames_before_the_end_has_its_history",
     START "repeat 18 { at site_activation; alloc 1000 30M; at site_leak; alloc 100i+10200 18M; free 1000 }; "
     "at site_activation; fail 30M free 24M; repeat 40000 { alloc 9000 1M; free 9000 }",
     "growth/allocations 17; growth/bytes 306M; sites_growing/sites/0/frames/0/function site_leak"},
    {"a_ring_of_buffers_is_not_growth",
     START "at site_leak; repeat 12 { alloc 100i+10000 20M }; repeat 28 { alloc 100i+11200 20M; "
     "free 100i+10000 }; at site_activation; fail 130M free 108M",
     "verdict true_capacity; growth/bytes 0"},
    {"of_identical_failures_the_first_is_explained",
     START "fail 400M free 348M; alloc 9000 400M; free 9000; repeat 5 { fail 420M free 348M }",
     "failure_number 2; identical_failures 4; inside/failures_recovered 1"},
    /* PyTorch's segments hold little; the rest was allocated outside of its allocator. */
    {"memory_outside_the_framework_is_named",
     START "at site_leak; alloc 2000 300M; at site_activation; tensor 0 20M; at site_spike; "
     "fail 100M free 48M",
     "verdict outside_libraries; inside/library_bytes 300M; " GUILTY
     "site_leak"}, /* not the one with the tensor */
    /* Expandable segments: one block in each handle of 20 MiB stays, so that none can be unmapped.
     * The failure has no figures of its own. */
    {"parts_of_expandable_segments_are_fragmentation",
     SMALL "repeat 20 { at site_weights; alloc memory:i+1 20M vmm; map 20i 20M i+1; "
     "at site_leak; tensor 20i 5M; at site_activation; tensor 20i+5 5M; tensor 20i+10 5M; "
     "tensor 20i+15 5M }; repeat 20 { drop 20i+5; drop 20i+10; drop 20i+15 }; sample 48M; "
     "raise 100M",
     "verdict fragmentation; device_bytes/free_reported_by_device true; device_bytes/free 48M; "
     "device_bytes/missing 52M; inside/cache.segments 1; inside/cache.scattered 300M; "
     "" GUILTY "site_leak"},
    {"free_pieces_of_pytorch_are_fragmentation",
     CACHE_OF("stream 0"), "verdict fragmentation; inside/cache.other_streams 0"},
    {"free_pieces_of_another_stream_of_pytorch_are_its_cache", CACHE_OF("stream 1"),
     "verdict other_cache; inside/cache.other_streams 300M"},
    /* A small block needs a segment of small blocks; holes in the large segments are no private
     * pool's. */
    {"holes_in_segments_of_large_blocks_are_not_the_cache_of_others",
     SMALL "repeat 24 { alloc 20i 20M; tensor 20i 10M; tensor 20i+10 10M }; "
     "repeat 24 { drop 20i }; fail 2M free 0; raise 1M",
     "verdict not other_cache; inside/cache.withheld 0; inside/cache.other_class 240M; "
     "evidence has segments of their own"},
    /* PyTorch releases every unused segment before it reports a failure, but for those of private
     * pools. */
    {"unused_segments_of_pytorch_are_of_a_private_pool",
     SMALL "at site_leak; repeat 6 { alloc 40i 40M; tensor 40i 40M }; at site_activation; "
     "repeat 4 { alloc 40i+240 40M; tensor 40i+240 40M }; repeat 6 { drop 40i }; "
     "fail 100M free 24M; raise 100M",
     "verdict other_cache; inside/cache.private_pools 240M; inside/cache.withheld_largest 40M; "
     "inside/withheld_live 0; " GUILTY "site_leak; remedies/0/kind delete_pool"},
    /* It does not release them for a request that was not made to it. With less room it would have
     * run: at most 230 MiB were live. The handle's own memory is no tensor. */
    {"unused_segments_of_pytorch_are_not_released_for_a_library",
     SMALL "at site_leak; repeat 6 { alloc 40i 40M; tensor 40i 40M; drop 40i }; "
     "repeat 4 { alloc 40i+240 40M; tensor 40i+240 40M }; at site_spike; fail 100M free 24M",
     "verdict framework_cache; causes/0/bytes 240M; " GUILTY "site_spike; "
     "remedies/0/kind leave_room; remedies/0/fits true; remedies/0/text has (0.632); "
     "remedies/1/kind empty_cache"},
    {"a_librarys_large_request_is_no_spike_where_pytorch_keeps_as_much_unused",
     SMALL "repeat 4 { step i; at site_activation; tensor 500 20M; drop 500; pop }; step 4; at site_leak; "
     "repeat 6 { alloc 40i 40M; tensor 40i 40M; drop 40i }; at site_spike; fail 200M free 24M",
     "verdict framework_cache"},
    /* What TensorFlow leaves beside its pool is not for its requests. */
    {"memory_beside_a_full_pool_is_not_free_for_its_requests",
     SMALL "at site_weights; alloc 0 400M; repeat 20 { at site_activation; tensor 500 10M; at site_leak; "
     "tensor 20i 20M; drop 500 }; at site_spike; fail 20M free 100M by TensorFlow",
     "verdict growth; device_bytes/free 0; device_bytes/missing 20M; evidence is "
     "TensorFlow's pool does not grow beyond its 400.0 MiB;; 100.0 MiB of the device is free beside it"},
    {"segments_of_pytorch_that_were_all_in_use_cannot_be_smaller",
     SMALL "at site_leak; repeat 10 { alloc 40i 40M; tensor 40i 40M }; "
     "repeat 6 { drop 40i }; at site_spike; fail 100M free 24M",
     "verdict framework_cache; remedies/kind=leave_room/fits false; "
     "evidence has 400.0 MiB was live at the peak, and PyTorch's segments have 400.0 MiB"},
    /* A buffer forgotten in each iteration from the start on, or the chunks of a data set. */
    {"equal_blocks_of_which_none_was_freed_may_be_a_leak", KEPT("12M"),
     "verdict true_capacity; " GUILTY "site_leak; evidence_against has may be a leak; "
     "evidence_against has 33 allocations of 12.0 MiB each, and freed none; "
     "remedies/kind=free_growth not none"},
    {"blocks_of_two_sizes_of_which_none_was_freed_are_no_leak", KEPT("14M"),
     "verdict true_capacity; " GUILTY "site_leak; evidence_against not has may be a leak; "
     "remedies/kind=free_growth none"},
    /* Blocks from before many steps that freed as much: the program keeps running with them. */
    {"equal_blocks_from_before_the_steps_are_no_leak",
     SMALL "at site_leak; repeat 16 { alloc 20i 24M }; at site_activation; "
     "repeat 60 { alloc 900 80M; free 900 }; fail 140M free 128M",
     "verdict true_capacity; remedies/kind=free_growth none; evidence not has may be a leak; "
     "evidence_against not has may be a leak"},
    /* Holes of a twelfth of the device, in a program that never held as much: true capacity by the
     * bytes. But another policy of the same cache serves the request. */
    {"what_another_setting_of_the_cache_serves_is_not_true_capacity",
     SMALL "repeat 20 { segment 20i 20M; at site_activation; alloc 20i 5M; at site_weights; "
     "alloc 20i+5 5M; alloc 20i+10 5M; alloc 20i+15 5M }; repeat 8 { free 20i }; sample 48M; "
     "at site_spike; fail 60M free 48M",
     "verdict true_capacity; device_bytes/missing 12M",
     "verdict fragmentation; causes/0/name fragmentation; remedies/0/kind policy; "
     "remedies/0/replayed true; remedies/0/fits true; remedies/0/text has : this request fits, "
     "later ones are not known;;; evidence_against is the program never ran with as much live: "
     "later requests may not fit", "caching"},
    /* Only the last failures are stored; those of a program that fails again and again are alike.
     * */
    {"the_first_of_hundreds_of_equal_failures_is_explained",
     START "at site_activation; alloc 0 50M; at site_spike; repeat 500 { fail 512M free 48M }",
     "failure_number 1; identical_failures 499; failure_count 500"},
    /* Each step asks for more, in segments of the cache that fit but for their ends. */
    {"holes_that_are_tiny_beside_requests_that_grow_are_true_capacity",
     SMALL "at site_activation; repeat 69 { segment 0 2i+12M; alloc 0 2i+11M; "
     "segment 1000 2i+12M; alloc 1000 2i+11M; segment 2000 2i+12M; alloc 2000 2i+11M; free 0; "
     "unsegment 0 2i+12M; free 1000; unsegment 1000 2i+12M; free 2000; unsegment 2000 2i+12M }; "
     "segment 0 150M; alloc 0 149M; segment 1000 150M; alloc 1000 149M; sample 148M; "
     "fail 149M free 148M",
     "inside/request_first 11M",
     "verdict true_capacity; evidence has grow: the first was 11.0 MiB, this one is 149.0 "
     "MiB", "caching"},
};

ROWS(cases, a_failure_is_explained)
{
    explain(*state);
}

TEST(the_failure_that_ended_the_run_is_chosen_and_nth_overrides)
{
    /* another call site */
    begin_trace("observe", START "fail 400M free 348M; fail 390M free 348M; at site_spike; "
                "alloc 9000 395M"); /* recovers from #2 */
    expect("failure_number 1; inside/ended 1");
    diagnose(2);
    expect("failure/requested_bytes 390M; inside/ended 0");
    struct vs_oom *none = NULL;
    assert_int_equal(vs_oom_build(reader, report, NULL, 3, &none), VS_ERR_NOT_FOUND);
    assert_null(none);
}

/* A leak ends one thread; the other catches its probes, and allocates more than the leak's blocks.
 * */
TEST(a_thread_that_goes_on_does_not_recover_anothers_failure)
{
    begin_trace("observe", SMALL);
    for (unsigned i = 0; i < 20; i++)
        vs_trace(&b, "thread 1; at site_spike; %sat site_activation; alloc 900 100M; free 900; "
                     "thread 0; at site_leak; alloc %u 20M", i % 5 ? "" : "fail 400M free 200M; "
                     "", 20 * i);
    vs_trace(&b, "fail 20M free 12M; thread 1; at site_activation; alloc 900 100M");
    expect("failure/requested_bytes 20M; failure/recovered false; inside/failures_recovered 4; "
           "verdict growth; "
           GUILTY "site_leak");
}

TEST(out_of_memory_is_chosen_before_another_error)
{
    /* it recovers */
    begin_trace("observe", START "fail 400M free 348M; alloc 9000 400M; fail 100 pinned error 1");
    expect("failure_number 1; verdict recovered");
    diagnose(2);
    expect("verdict other_error");
}

TEST(a_program_that_goes_on_and_ends_well_is_not_accused)
{
    begin_trace("observe", START "fail 400M free 348M; alloc 9000 200M"); /* with less */
    vs_builder_close(&b, VS_END_EXIT, 0);
    expect("verdict recovered; inside/went_on 1; inside/ended 0");
}
