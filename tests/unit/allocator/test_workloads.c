/* SPDX-License-Identifier: Apache-2.0
 *
 * The generated programs: the same on every machine, and valid. */

#include "support/cmocka_test.h"
#include "support/workloads.h"

TEST(a_name_and_a_seed_give_the_same_requests_everywhere)
{
    static const struct {
        const char *name;
        uint64_t seed, hash;
    } known[] = {
        {"varlen", 1, UINT64_C(0x9861cf3abddbb16d)},
        {"serving", 1, UINT64_C(0x8cd95d39a0f2480c)},
        {"moe", 1, UINT64_C(0x86b31cdc82876555)},
        {"fragmentation", 1, UINT64_C(0x1b2fb9bf6019c1a4)},
        {"fragmentation_large", 1, UINT64_C(0x722c517b31504031)},
        {"streams", 1, UINT64_C(0x279667ae4a31d6c5)},
        {"varlen", 2, UINT64_C(0xa179e8a46f36ac6d)},
        {"serving", 2, UINT64_C(0xce15b77203d5ace8)},
    };
    struct request_log log;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(workload_make(known[i].name, known[i].seed, &log));
        assert_int_equal(request_log_hash(&log), known[i].hash);
        request_log_clear(&log);
    }
    assert_false(workload_make("no such program", 1, &log));
}

/* Live bytes at every request, computed slowly and simply. */
static void check_program(const struct request_log *log)
{
    bool *alive = calloc(log->id_count, 1);
    uint64_t live = 0, peak = 0;
    uint32_t next = 0;
    assert_non_null(alive);
    for (size_t i = 0; i < log->count; i++) {
        const struct request *r = &log->requests[i];
        if (r->kind == REQUEST_ALLOC) {
            assert_int_equal(r->id, next++);
            assert_true(r->size > 0 && r->size == log->sizes[r->id] && r->stream < 16);
            alive[r->id] = true;
            live += r->size;
            peak = live > peak ? live : peak;
        } else {
            assert_true(r->id < next && alive[r->id]);
            if (r->kind == REQUEST_FREE)
                alive[r->id] = false, live -= log->sizes[r->id];
        }
    }
    assert_int_equal(next, log->id_count);
    assert_int_equal(peak, request_log_peak(log));
    free(alive);
}

TEST(every_program_frees_only_what_is_alive_and_is_as_large_as_said)
{
    struct request_log log;
    for (size_t i = 0; workload_names[i]; i++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            assert_true(workload_make(workload_names[i], seed, &log));
            check_program(&log);
            assert_in_range(log.count, 50000, 500000);
            assert_in_range(request_log_peak(&log), UINT64_C(8) << 30, UINT64_C(64) << 30);
            request_log_clear(&log);
        }
    }
}
