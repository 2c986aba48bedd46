/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGBUS and FILE.live: truncating it during a recording ends the recording and not the program,
 * whichever thread faults; every other SIGBUS goes to the program. */
#include "unit/trace/child_test.h"

#include <errno.h>
#include <sys/mman.h>

static void record_some(struct vs_recorder *r, uint64_t events)
{
    for (uint64_t i = 0; i < events; i++)
        record_event(r, EVENT(memset, .correlation = i, .bytes = i * UINT64_C(0x9e3779b97f4a7c15)));
}

static struct vs_recorder *open_slow_recorder(unsigned flush_ms)
{
    return open_with((struct vs_recorder_config){
        .path = path, .compression = 1, .flush_ms = flush_ms});
}

/* --- FILE.live is truncated --- */

static const struct shortening {
    unsigned flush_ms, before, after, wait_ms; /* events recorded before and after it */
    bool end;                                  /* instead of a close */
} *shortening, shortenings[] = {
    {50, 0, 400000, 0, false}, /* while the program records */
    {100, 10, 0, 300, false},  /* the fault comes in the background thread, or in close */
    {100000, 10, 0, 0, true},
};

static int shorten(void)
{
    struct vs_recorder *r = open_slow_recorder(shortening->flush_ms);
    record_some(r, 5000);
    vs_recorder_flush(r);
    record_some(r, shortening->before);
    if (truncate(live, 0))
        _exit(4);
    record_some(r, shortening->after);
    usleep(1000 * shortening->wait_ms);
    (shortening->end ? vs_recorder_end : vs_recorder_close)(r, VS_END_EXIT, 0);
    return 0;
}

TEST(a_live_file_that_is_shortened_stops_the_recording_only)
{
    for (size_t i = 0; i < sizeof shortenings / sizeof *shortenings; i++) {
        shortening = &shortenings[i];
        assert_int_equal(in_child(shorten, "guarded.vst"), 0);
        const char *word = strstr(child_said, "the file was truncated");
        assert_non_null(word);
        assert_null(strstr(word + 1, "vramscope["));
        struct vs_reader *reader = open_reader(path);
        uint64_t n = 0;
        for (struct vs_event got; !vs_reader_next(reader, &got);) {
            if (got.kind != VS_EVENT_memset)
                continue;
            uint64_t number = n < 5000 ? n : n - 5000;
            assert_int_equal(got.memset.correlation, number);
            assert_int_equal(got.memset.bytes, number * UINT64_C(0x9e3779b97f4a7c15));
            n++;
        }
        vs_reader_close(reader);
        assert_in_range(n, 5000, 405000);
    }
}

/* --- faults that are not ours --- */

static int *beyond_the_end(void)
{
    char name[80];
    snprintf(name, sizeof name, "%s/end-XXXXXX", scratch_dir);
    int fd = mkstemp(name);
    int *map = fd < 0 || unlink(name)
                   ? MAP_FAILED
                   : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        _exit(5);
    return map;
}

static int fault_of_its_own(void)
{
    open_slow_recorder(50);
    *(volatile int *)beyond_the_end() = 1;
    return 0;
}

static int sent_by_another(void)
{
    open_slow_recorder(50);
    kill(getpid(), SIGBUS);
    return 0;
}

TEST(other_bus_errors_end_the_program_as_without_us)
{
    assert_int_equal(in_child(fault_of_its_own, "guarded.vst"), 128 + SIGBUS);
    assert_string_equal(child_said, "");
    assert_int_equal(in_child(sent_by_another, "guarded.vst"), 128 + SIGBUS);
    assert_string_equal(child_said, "");
}

static void end_calmly(int number)
{
    _exit(number);
}

static int handled_by_the_program(void)
{
    struct sigaction now;
    signal(SIGBUS, end_calmly);
    open_slow_recorder(50);
    if (sigaction(SIGBUS, NULL, &now) || now.sa_handler != end_calmly)
        return 1;
    *(volatile int *)beyond_the_end() = 1;
    return 0;
}

static int ignored_by_the_program(void)
{
    struct sigaction now;
    signal(SIGBUS, SIG_IGN);
    open_slow_recorder(50);
    return sigaction(SIGBUS, NULL, &now) || now.sa_handler != SIG_IGN;
}

TEST(what_the_program_does_with_the_signal_is_left_alone)
{
    assert_int_equal(in_child(handled_by_the_program, "guarded.vst"), SIGBUS);
    assert_int_equal(in_child(ignored_by_the_program, "guarded.vst"), 0);
}
