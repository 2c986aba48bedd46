/* SPDX-License-Identifier: Apache-2.0
 *
 * Victim programs without us, under observe and under caching: same output, same
 * exit status, and a trace that agrees with the victim's own tally. Paths of the
 * programs come from CMake. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/reader.h"

enum front { ALONE, OBSERVE, CACHING };

struct outcome {
    int status; /* as waitpid gives it */
    char out[8192], err[8192];
    char trace[PATH_MAX + 300]; /* first trace written, "" when none */
    unsigned traces;
};

static char folder[PATH_MAX];

static void clean_folder(void)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        assert_return_code(unlinkat(dirfd(d), e->d_name, 0), errno);
    }
    closedir(d);
}

static void find_traces(struct outcome *o)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 4, ".vst") != 0)
            continue;
        if (!o->traces++)
            snprintf(o->trace, sizeof o->trace, "%s/%s", folder, e->d_name);
    }
    closedir(d);
}

static void read_all(int fd, char *out, size_t max)
{
    size_t n = 0;
    for (ssize_t m; (m = read(fd, out + n, max - 1 - n)) > 0;)
        n += (size_t)m;
    out[n] = 0;
    close(fd);
}

static void child_environment(enum front front)
{
    setenv("LD_LIBRARY_PATH", VS_SIMULATOR_PATH, 1);
    setenv("VRAMSCOPE_SIMULATE", "t4-16g,capacity=1GiB", 1);
    /* victims leave memory behind on purpose; a fork that goes on is what is tested;
     * tsan cannot follow libunwind's thread destructors */
    setenv("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0:handle_abort=0", 1);
    setenv("TSAN_OPTIONS", "die_after_fork=0:handle_segv=0:handle_abort=0", 1);
    if (strstr(VS_SANITIZER_PRELOAD, "tsan"))
        setenv("VRAMSCOPE_STACKS", "none", 1);
    if (front == ALONE)
        return;
    char pattern[PATH_MAX + 32], preload[2 * PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/%%n.%%p.vst", folder);
    setenv("VRAMSCOPE_OUTPUT", pattern, 1);
    setenv("VRAMSCOPE_ALLOCATOR", front == OBSERVE ? "observe" : "caching", 1);
    /* a sanitizer's runtime must be the first library */
    snprintf(preload, sizeof preload, "%s%s", VS_SANITIZER_PRELOAD, VS_PRELOAD_PATH);
    setenv("LD_PRELOAD", preload, 1);
    setenv("NVTX_INJECTION64_PATH", VS_PRELOAD_PATH, 1);
}

static void run_with(struct outcome *o, enum front front, void (*prepare)(void),
                     const char *program, const char *mode)
{
    memset(o, 0, sizeof *o);
    clean_folder();
    int out[2], err[2];
    assert_return_code(pipe(out), errno);
    assert_return_code(pipe(err), errno);
    fflush(NULL);
    pid_t pid = fork();
    assert_return_code(pid, errno);
    if (pid == 0) {
        dup2(out[1], 1);
        dup2(err[1], 2);
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        child_environment(front);
        if (prepare)
            prepare();
        execl(program, program, mode, (char *)NULL);
        _exit(126);
    }
    close(out[1]);
    close(err[1]);
    read_all(out[0], o->out, sizeof o->out);
    read_all(err[0], o->err, sizeof o->err);
    assert_int_equal(waitpid(pid, &o->status, 0), pid);
    find_traces(o);
}

static void run(struct outcome *o, enum front front, const char *program, const char *mode)
{
    run_with(o, front, NULL, program, mode);
}

/* What a trace says, counted by hand rather than by the analysis. */
struct count {
    uint64_t allocs[VS_FAMILY_COUNT], frees, failed, segments, segment_frees, maps, unmaps;
    uint64_t reserved; /* by the cache */
    uint64_t requested_live, requested_peak; /* device family */
    uint64_t kernels, copies, copy_bytes, sets;
    uint64_t live; /* all families */
    bool ended;
    uint64_t end_reason, end_status;
    enum vs_condition condition;
    char phases[2048], apis[2048], notes[2048];
};

#define LIVE_MAX 8192
static struct {
    uint64_t addr, requested, family;
} live[LIVE_MAX];

static bool count_unpaired; /* too many for the table: counted without pairing */

static void note_name(char *list, size_t max, const char *name)
{
    char item[512];
    snprintf(item, sizeof item, "[%s]", name);
    if (!strstr(list, item) && strlen(list) + strlen(item) < max)
        strcat(list, item);
}

static void count_alloc(struct count *c, const struct vs_reader *r, const struct vs_event *e)
{
    c->allocs[e->alloc.family]++;
    c->live++;
    note_name(c->apis, sizeof c->apis, vs_reader_string(r, e->alloc.api));
    if (count_unpaired)
        return;
    for (size_t i = 0; i < LIVE_MAX; i++) {
        if (live[i].addr)
            continue;
        live[i].addr = e->alloc.addr;
        live[i].requested = e->alloc.requested;
        live[i].family = e->alloc.family;
        break;
    }
    if (e->alloc.family == VS_FAMILY_DEVICE) {
        assert_true(e->alloc.size >= e->alloc.requested);
        c->requested_live += e->alloc.requested;
        if (c->requested_live > c->requested_peak)
            c->requested_peak = c->requested_live;
    }
}

static void count_free(struct count *c, const struct vs_event *e)
{
    if (count_unpaired) {
        c->frees++;
        return;
    }
    for (size_t i = 0; i < LIVE_MAX; i++) {
        if (live[i].addr != e->free.addr)
            continue;
        if (live[i].family == VS_FAMILY_DEVICE)
            c->requested_live -= live[i].requested;
        live[i].addr = 0;
        c->frees++;
        c->live--;
        return;
    }
    fail_msg("a free of an address that is not live: %llx", (unsigned long long)e->free.addr);
}

static void count_one(struct count *c, const struct vs_reader *r, const struct vs_event *e)
{
    switch (e->kind) {
    case VS_EVENT_alloc: count_alloc(c, r, e); break;
    case VS_EVENT_free: count_free(c, e); break;
    case VS_EVENT_alloc_failed: c->failed++; break;
    case VS_EVENT_segment_alloc:
        c->segments++;
        c->reserved += e->segment_alloc.size;
        break;
    case VS_EVENT_segment_free:
        c->segment_frees++;
        c->reserved -= e->segment_free.size;
        break;
    case VS_EVENT_segment_map:
        c->maps++;
        c->reserved += e->segment_map.reserved;
        break;
    case VS_EVENT_segment_unmap:
        c->unmaps++;
        c->reserved -= e->segment_unmap.reserved;
        break;
    case VS_EVENT_kernel: c->kernels++; break;
    case VS_EVENT_memcpy:
        c->copies++;
        c->copy_bytes += e->memcpy.bytes;
        assert_true(e->memcpy.end_ns >= e->memcpy.start_ns);
        break;
    case VS_EVENT_memset: c->sets++; break;
    case VS_EVENT_range_push:
        note_name(c->phases, sizeof c->phases, vs_reader_string(r, e->range_push.name));
        break;
    case VS_EVENT_range_start:
        note_name(c->phases, sizeof c->phases, vs_reader_string(r, e->range_start.name));
        break;
    case VS_EVENT_note:
        note_name(c->notes, sizeof c->notes, vs_reader_string(r, e->note.text));
        break;
    case VS_EVENT_mark:
        note_name(c->phases, sizeof c->phases, vs_reader_string(r, e->mark.name));
        break;
    case VS_EVENT_end:
        c->ended = true;
        c->end_reason = e->end.reason;
        c->end_status = e->end.status;
        break;
    default: break;
    }
}

static void count_trace(struct count *c, const char *path)
{
    struct vs_reader *r;
    struct vs_event e;
    char why[VS_READER_WHY_MAX] = "";
    uint64_t last = 0;
    memset(c, 0, sizeof *c);
    memset(live, 0, sizeof live);
    enum vs_err err = vs_reader_open(path, &r, why);
    if (err)
        fail_msg("%s", why);
    while ((err = vs_reader_next(r, &e)) == VS_OK) {
        assert_true(e.time_ns >= last);
        last = e.time_ns;
        count_one(c, r, &e);
    }
    assert_int_equal(err, VS_ERR_END);
    c->condition = vs_reader_condition(r, NULL);
    vs_reader_close(r);
}

static void assert_same(const struct outcome *with, const struct outcome *alone)
{
    assert_string_equal(with->out, alone->out);
    assert_int_equal(with->status, alone->status);
    assert_string_equal(with->err, alone->err);
}

static const char *const builds[] = {VS_VICTIM_SHARED, VS_VICTIM_STATIC};

/* Runs *mode* in both builds and both ways, and gives the counts. */
static void everywhere(const char *mode, struct count counts[2][2])
{
    struct outcome *alone = malloc(sizeof *alone), *with = malloc(sizeof *with);
    for (int b = 0; b < 2; b++) {
        run(alone, ALONE, builds[b], mode);
        assert_int_equal(alone->traces, 0);
        for (int front = OBSERVE; front <= CACHING; front++) {
            run(with, (enum front)front, builds[b], mode);
            assert_same(with, alone);
            assert_true(with->traces >= 1);
            if (counts)
                count_trace(&counts[b][front - OBSERVE], with->trace);
        }
    }
    free(alone);
    free(with);
}

static void device_counts_equal_the_programs_own_in_both_builds_and_both_ways(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("device", c);
    struct outcome o;
    run(&o, ALONE, VS_VICTIM_SHARED, "device");
    unsigned long allocations, frees;
    size_t at_end, peak;
    assert_int_equal(sscanf(o.out, "allocations %lu frees %lu live %zu peak %zu", &allocations,
                            &frees, &at_end, &peak), 4);
    for (int b = 0; b < 2; b++) {
        for (int f = 0; f < 2; f++) {
            assert_int_equal(c[b][f].allocs[VS_FAMILY_DEVICE], allocations);
            assert_int_equal(c[b][f].frees, frees);
            assert_int_equal(c[b][f].requested_peak, peak);
            assert_int_equal(c[b][f].requested_live, at_end);
            assert_int_equal(c[b][f].condition, VS_TRACE_COMPLETE);
            assert_true(c[b][f].ended);
        }
        assert_int_equal(c[b][0].segments, 0);
        assert_true(c[b][1].segments > 0);
    }
    assert_non_null(strstr(c[0][0].apis, "[cudaMalloc]"));
    assert_non_null(strstr(c[1][0].apis, "[cuMemAlloc]"));
}

static void every_family_is_recorded_once_under_its_name(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("families", c);
    for (int b = 0; b < 2; b++) {
        for (int f = 0; f < 2; f++) {
            assert_int_equal(c[b][f].allocs[VS_FAMILY_DEVICE], 3);
            assert_int_equal(c[b][f].allocs[VS_FAMILY_MANAGED], 1);
            assert_int_equal(c[b][f].allocs[VS_FAMILY_PINNED], 2);
            assert_int_equal(c[b][f].allocs[VS_FAMILY_ASYNC], 1);
            assert_int_equal(c[b][f].frees, 7);
            assert_int_equal(c[b][f].live, 0);
        }
    }
}

static void out_of_memory_looks_the_same_and_cached_memory_makes_room(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("oom", c);
    assert_int_equal(c[0][0].failed, 1);
    assert_int_equal(c[0][1].failed, 1);
    assert_true(c[0][1].segment_frees > 0);
}

static void questions_about_pointers_get_the_same_answers(void **state)
{
    (void)state;
    everywhere("query", NULL);
}

static void a_device_reset_ends_what_was_live(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("reset", c);
    for (int b = 0; b < 2; b++) {
        for (int f = 0; f < 2; f++) {
            assert_int_equal(c[b][f].allocs[VS_FAMILY_DEVICE], 3);
            assert_int_equal(c[b][f].frees, 3);
        }
    }
}

static void threads_are_counted_without_loss(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("threads", c);
    assert_int_equal(c[0][0].live, 0);
    assert_int_equal(c[0][1].live, 0);
    assert_int_equal(c[0][0].allocs[VS_FAMILY_DEVICE], c[1][1].allocs[VS_FAMILY_DEVICE]);
}

static void frees_in_exit_handlers_and_destructors_are_recorded(void **state)
{
    (void)state;
    static const char *const modes[] = {"atexit", "destructor"};
    for (int m = 0; m < 2; m++) {
        struct count c[2][2];
        everywhere(modes[m], c);
        for (int b = 0; b < 2; b++) {
            assert_int_equal(c[b][0].frees, 1);
            assert_int_equal(c[b][1].frees, 1);
            assert_int_equal(c[b][1].end_status, 5 + m);
        }
    }
}

static void underscore_exit_ends_the_trace_with_its_status(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("_exit", c);
    assert_int_equal(c[0][0].condition, VS_TRACE_COMPLETE);
    assert_int_equal(c[0][0].end_status, 9);
}

static void killed_programs_leave_everything_they_did(void **state)
{
    (void)state;
    static const char *const modes[] = {"sigkill", "sigsegv", "abort"};
    for (int m = 0; m < 3; m++) {
        struct count c[2][2];
        everywhere(modes[m], c);
        for (int f = 0; f < 2; f++) {
            assert_int_equal(c[0][f].allocs[VS_FAMILY_DEVICE], 2);
            assert_int_equal(c[0][f].frees, 1);
            assert_false(c[0][f].ended);
            assert_int_equal(c[0][f].condition, VS_TRACE_LIVE);
        }
    }
}

static void a_forked_child_leaves_the_parents_trace_alone(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("fork", c);
    assert_int_equal(c[0][1].allocs[VS_FAMILY_DEVICE], 2);
    assert_int_equal(c[0][1].condition, VS_TRACE_COMPLETE);
    struct outcome o;
    run(&o, CACHING, VS_VICTIM_SHARED, "fork");
    assert_int_equal(o.traces, 1);
}

static void processes_that_fork_before_using_cuda_each_leave_a_trace(void **state)
{
    (void)state;
    struct outcome o;
    run(&o, OBSERVE, VS_VICTIM_SHARED, "fork-first");
    assert_int_equal(o.status, 0);
    assert_int_equal(o.traces, 2);
}

static void exec_goes_on_in_a_trace_of_its_own_name_and_the_first_is_kept(void **state)
{
    (void)state;
    struct outcome alone, with;
    run(&alone, ALONE, VS_VICTIM_SHARED, "exec");
    run(&with, OBSERVE, VS_VICTIM_SHARED, "exec");
    assert_same(&with, &alone);
    assert_int_equal(with.traces, 2); /* same pid and name, yet nothing lost */
}

static void nvtx_ranges_arrive_also_those_opened_before_cuda(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("nvtx", c);
    assert_string_equal(c[0][0].phases, "[before cuda][step 0][forward][half][step 1][step 2]");
    assert_string_equal(c[1][1].phases, c[0][0].phases);
}

static void nvtx_ranges_of_other_threads_that_were_open_are_known_too(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("nvtx-threads", c);
    assert_string_equal(c[0][0].phases, "[of another thread][of its domain][of no thread]");
    assert_string_equal(c[1][1].phases, c[0][0].phases);
}

static void what_was_collected_before_another_profiler_came_is_kept(void **state)
{
    (void)state;
    struct outcome *o = malloc(sizeof *o);
    struct count c;
    run(o, OBSERVE, VS_PROFILED, "comes_later");
    assert_int_equal(o->status, 0);
    assert_non_null(strstr(o->err, "another tool in this process uses CUPTI"));
    count_trace(&c, o->trace);
    assert_int_equal(c.copies, 30); /* its own 20, and the 10 after it, are not ours */
    assert_int_equal(c.sets, 60);
    assert_non_null(strstr(c.notes, "kernels and copies are left to it"));
    assert_int_equal(c.live, 0);
    free(o);
}

static void in_two_devices(void)
{
    setenv("VRAMSCOPE_SIMULATE", "t4-16g,capacity=1GiB,devices=2", 1);
}

static void copies_between_devices_are_collected(void **state)
{
    (void)state;
    struct outcome *o = malloc(sizeof *o);
    struct count c;
    run_with(o, OBSERVE, in_two_devices, VS_PROFILED, "peer_copies");
    assert_int_equal(o->status, 0);
    count_trace(&c, o->trace);
    assert_int_equal(c.copies, 5);
    assert_int_equal(c.copy_bytes, 5 << 20);
    free(o);
}

static void closed_standard_streams_are_left_closed(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("closed-stdio", c);
    assert_int_equal(c[0][0].frees, 1);
}

static void dlsym_answers_as_it_would_without_us(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("dlsym", c);
    assert_int_equal(c[0][0].allocs[VS_FAMILY_DEVICE], 1);
    assert_non_null(strstr(c[0][0].apis, "[cuMemAlloc]"));
}

static void copies_and_memsets_are_collected_with_their_bytes(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("copies", c);
    for (int b = 0; b < 2; b++) {
        assert_int_equal(c[b][0].copies, 40);
        assert_int_equal(c[b][0].copy_bytes, (uint64_t)40 << 20);
        assert_int_equal(c[b][1].sets, 20);
    }
}

static void a_driver_program_is_seen_through_its_own_contexts(void **state)
{
    (void)state;
    struct outcome alone, with;
    run(&alone, ALONE, VS_DRIVER_VICTIM, "");
    assert_int_equal(alone.status, 0);
    for (int f = OBSERVE; f <= CACHING; f++) {
        struct count c;
        run(&with, (enum front)f, VS_DRIVER_VICTIM, "");
        assert_same(&with, &alone);
        count_trace(&c, with.trace);
        assert_int_equal(c.allocs[VS_FAMILY_DEVICE], 4);
        assert_int_equal(c.frees, 4); /* one of them by the context's end */
    }
}

static void freed_memory_is_not_reused_under_queued_work(void **state)
{
    (void)state;
    struct outcome o;
    for (int f = ALONE; f <= CACHING; f++) {
        run(&o, (enum front)f, VS_REUSE_VICTIM, "");
        assert_string_equal(o.out, "bytes overwritten: 0\n");
        assert_int_equal(o.status, 0);
    }
}

static void a_process_without_cuda_leaves_no_file(void **state)
{
    (void)state;
    struct outcome o;
    run(&o, CACHING, VS_VICTIM_SHARED, "nothing");
    assert_int_equal(WEXITSTATUS(o.status), 7);
    assert_string_equal(o.out, "no CUDA here\n");
    assert_string_equal(o.err, "");
    assert_int_equal(o.traces, 0);
}

static void unwritable_output(void)
{
    setenv("VRAMSCOPE_OUTPUT", "/nonexistent-folder/trace.vst", 1);
}

static void a_trace_that_cannot_be_written_costs_one_line_and_nothing_else(void **state)
{
    (void)state;
    struct outcome alone, with;
    run(&alone, ALONE, VS_VICTIM_SHARED, "device");
    run_with(&with, CACHING, unwritable_output, VS_VICTIM_SHARED, "device");
    assert_string_equal(with.out, alone.out);
    assert_int_equal(with.status, alone.status);
    assert_non_null(strstr(with.err, "cannot write the trace /nonexistent-folder/trace.vst"));
    assert_ptr_equal(strchr(with.err, '\n'), with.err + strlen(with.err) - 1);
}

static void small_files_only(void)
{
    struct rlimit limit = {20000, 20000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void a_full_disk_stops_the_recording_not_the_program(void **state)
{
    (void)state;
    struct outcome alone, with;
    run(&alone, ALONE, VS_VICTIM_SHARED, "threads");
    run_with(&with, OBSERVE, small_files_only, VS_VICTIM_SHARED, "threads");
    assert_string_equal(with.out, alone.out);
    assert_int_equal(with.status, alone.status);
}

/* A simulated GPU without its CUPTI: the driver and the runtime alone. */
static void driver_and_runtime_alone(void)
{
    static const char *const names[] = {"libcuda.so.1", "libcudart.so.13"};
    char place[PATH_MAX + 16], from[PATH_MAX], to[PATH_MAX + 64];
    snprintf(place, sizeof place, "%s/.sim", folder);
    mkdir(place, 0700);
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof from, "%s/%s", VS_SIMULATOR_PATH, names[i]);
        snprintf(to, sizeof to, "%s/%s", place, names[i]);
        if (symlink(from, to) && errno != EEXIST)
            _exit(125);
    }
    setenv("LD_LIBRARY_PATH", place, 1);
}

static void remove_driver_and_runtime(void)
{
    char command[PATH_MAX + 32];
    snprintf(command, sizeof command, "rm -rf '%s/.sim'", folder);
    assert_int_equal(system(command), 0);
}

static void without_cupti_memory_is_recorded_and_it_is_said_once(void **state)
{
    (void)state;
    struct outcome alone, with;
    struct count c;
    run(&alone, ALONE, VS_VICTIM_SHARED, "copies");
    run_with(&with, OBSERVE, driver_and_runtime_alone, VS_VICTIM_SHARED, "copies");
    remove_driver_and_runtime();
    assert_string_equal(with.out, alone.out);
    assert_int_equal(with.status, alone.status);
    char *said = strstr(with.err, "libcupti was not found");
    assert_non_null(said);
    assert_null(strstr(said + 1, "libcupti was not found"));
    count_trace(&c, with.trace);
    assert_int_equal(c.allocs[VS_FAMILY_DEVICE], 1);
    assert_int_equal(c.copies + c.kernels, 0);
}

static void memory_that_the_driver_has_is_given_also_where_no_segment_fits(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("nearly-full", c);
    assert_int_equal(c[0][1].failed, 0);
    assert_int_equal(c[0][1].allocs[VS_FAMILY_DEVICE], 2);
    assert_int_equal(c[0][1].frees, 2);
}

/* How they are found is counted in unit/intercept/test_tracker.c. */
static void a_reset_ends_very_many_allocations(void **state)
{
    (void)state;
    struct outcome o;
    struct count c;
    run(&o, OBSERVE, VS_VICTIM_SHARED, "reset-of-many");
    assert_string_equal(o.out, "reset\n");
    count_unpaired = true;
    count_trace(&c, o.trace);
    count_unpaired = false;
    assert_int_equal(c.allocs[VS_FAMILY_PINNED], 100000);
    assert_int_equal(c.frees, 100000);
}

/* Flushing CUPTI and recording took locks that the interrupted thread held. */
static void programs_that_end_in_signal_handlers_end(void **state)
{
    (void)state;
    static const char *const modes[] = {"handler-_exit", "handler-exit"};
    struct outcome o;
    for (int i = 0; i < 20; i++) {
        run(&o, i % 4 < 2 ? OBSERVE : CACHING, VS_VICTIM_SHARED, modes[i % 2]);
        assert_string_equal(o.err, "");
        assert_true(WIFEXITED(o.status));
        assert_int_equal(WEXITSTATUS(o.status), 11);
        assert_int_equal(o.traces, 1);
    }
}

static void an_exit_handler_that_ends_the_process_gives_the_status(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("exit-handler-ends", c);
    assert_int_equal(c[0][0].condition, VS_TRACE_COMPLETE);
    assert_int_equal(c[0][0].end_status, 8);
}

static void a_child_that_no_fork_handler_hears_of_leaves_the_trace_alone(void **state)
{
    (void)state;
    struct count c[2][2];
    everywhere("silent-fork", c);
    for (int f = 0; f < 2; f++) {
        assert_int_equal(c[0][f].allocs[VS_FAMILY_DEVICE], 2);
        assert_int_equal(c[0][f].condition, VS_TRACE_COMPLETE);
        assert_int_equal(c[0][f].end_status, 0);
    }
}

static void one_name_for_all(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/one.vst", folder);
    setenv("VRAMSCOPE_OUTPUT", path, 1);
}

static void processes_given_one_name_lose_no_trace(void **state)
{
    (void)state;
    struct outcome o;
    for (int i = 0; i < 5; i++) {
        run_with(&o, OBSERVE, one_name_for_all, VS_VICTIM_STATIC, "fork-race");
        assert_string_equal(o.out, "failed 0\n");
        assert_int_equal(o.traces, 6);
    }
}

static void cuda_is_not_found_where_it_is_not(void **state)
{
    (void)state;
    everywhere("presence", NULL);
}

/* The driver knew nothing of the blocks, or took a whole segment back for one. */
static void libraries_free_cached_memory_after_our_own_end(void **state)
{
    (void)state;
    struct outcome alone, with;
    run(&alone, ALONE, VS_DRIVER_VICTIM, "library");
    assert_string_equal(alone.out, "library started: 1\nlibrary ended: 0 0 0 byte 7\n");
    for (int f = OBSERVE; f <= CACHING; f++) {
        run(&with, (enum front)f, VS_DRIVER_VICTIM, "library");
        assert_same(&with, &alone);
    }
}

static void two_devices(void)
{
    setenv("VRAMSCOPE_SIMULATE", "t4-16g,capacity=1GiB,devices=2", 1);
}

static void freed_memory_is_not_reused_under_another_devices_work(void **state)
{
    (void)state;
    static const char *const modes[] = {"peer", "devices"};
    struct outcome o;
    for (int m = 0; m < 2; m++) {
        /* the cache alone: the simulated cudaFree does not wait for peers, the real one does */
        run_with(&o, CACHING, two_devices, VS_REUSE_VICTIM, modes[m]);
        assert_string_equal(o.out, "bytes overwritten: 0\n");
        assert_int_equal(o.status, 0);
    }
}

static void the_public_interface_agrees_with_what_the_program_did(void **state)
{
    (void)state;
    static const char *const modes[] = {"statistics", "snapshot", "fraction"};
    struct outcome o;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        run(&o, ALONE, VS_API_WEAK, modes[m]);
        assert_string_equal(o.out, "absent\n");
        run(&o, CACHING, VS_API_WEAK, modes[m]);
        assert_string_equal(o.out, "ok\n");
        assert_string_equal(o.err, "");
    }
}

static void only_ordinals_of_devices_that_exist_are_taken(void **state)
{
    (void)state;
    struct outcome o;
    run(&o, CACHING, VS_API_WEAK, "one-device");
    assert_string_equal(o.out, "ok\n");
    run(&o, OBSERVE, VS_API_WEAK, "one-device");
    assert_string_equal(o.out, "ok\n");
    run_with(&o, CACHING, two_devices, VS_API_WEAK, "two-devices");
    assert_string_equal(o.out, "ok\n");
    assert_string_equal(o.err, "");
}

static void a_forked_child_is_told_of_no_memory(void **state)
{
    (void)state;
    struct outcome o;
    run(&o, CACHING, VS_API_WEAK, "fork");
    assert_string_equal(o.out, "ok\n");
    assert_string_equal(o.err, "");
}

static void an_eighth(void)
{
    setenv("VRAMSCOPE_ALLOC_CONF", "per_process_memory_fraction:0.125", 1);
}

static void the_options_may_limit_what_is_taken_from_the_device(void **state)
{
    (void)state;
    struct outcome o;
    run_with(&o, CACHING, an_eighth, VS_API_WEAK, "limited");
    assert_string_equal(o.out, "ok\n");
    assert_string_equal(o.err, "");
}

/* Linked, the library is in front without LD_PRELOAD; a second copy of it is not. */
static void not_preloaded(void)
{
    unsetenv("LD_PRELOAD");
    if (*VS_SANITIZER_PRELOAD)
        setenv("LD_PRELOAD", VS_SANITIZER_PRELOAD, 1);
}

static void the_public_interface_serves_programs_linked_with_it(void **state)
{
    (void)state;
    static const char *const modes[] = {"statistics", "snapshot", "fraction"};
    struct outcome o;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        run_with(&o, CACHING, not_preloaded, VS_API_LINKED, modes[m]);
        assert_string_equal(o.out, "ok\n");
        assert_int_equal(o.traces, 1);
    }
}

static void the_public_interface_is_usable_from_cpp(void **state)
{
    (void)state;
#ifdef VS_API_CPP
    struct outcome o;
    run(&o, ALONE, VS_API_CPP, "");
    assert_string_equal(o.out, "absent\n");
    run(&o, CACHING, VS_API_CPP, "");
    assert_string_equal(o.out, "ok\n");
    assert_int_equal(o.traces, 0);
#else
    skip(); /* no C++ compiler */
#endif
}

#ifdef VS_API_CPP
static void checked(void)
{
    setenv("VRAMSCOPE_SIMULATE", "t4-16g,capacity=1GiB,check=fail", 1);
}

static void checked_and_compact(void)
{
    checked();
    setenv("VRAMSCOPE_POLICY", "compact", 1);
}

static void checked_and_not_preloaded(void)
{
    checked();
    not_preloaded();
}
#endif

static void memory_in_stream_order_is_served_in_front_of_cuda_and_behind_it(void **state)
{
    (void)state;
#ifdef VS_API_CPP
    struct outcome o;
    struct count c;
    void (*const ways[])(void) = {checked, checked_and_not_preloaded, checked_and_compact};
    for (int i = 0; i < 3; i++) {
        run_with(&o, OBSERVE, ways[i], VS_ENTRY_VICTIM, "");
        assert_string_equal(o.out, "ok\n");
        assert_int_equal(o.status, 0);
        count_trace(&c, o.trace);
        assert_non_null(strstr(c.apis, "[vramscope_torch_alloc]"));
        assert_int_equal(c.requested_live, 1); /* left alive on purpose */
        assert_true(c.segments > 0 && c.segment_frees > 0);
        assert_true(c.failed >= 1);
    }
    run(&o, OBSERVE, VS_ENTRY_VICTIM, VS_C10_LIBRARY);
    assert_string_equal(o.out, "ok\n");
#else
    skip(); /* no C++ compiler */
#endif
}

/* --- other ways of placing memory --- */

static void expandable(void)
{
    setenv("VRAMSCOPE_ALLOC_CONF", "expandable_segments:True", 1);
}

static void expandable_with_an_unknown_key(void)
{
    setenv("VRAMSCOPE_ALLOC_CONF", "no_such_key:1,expandable_segments:True", 1);
}

static void unreadable_conf(void)
{
    setenv("VRAMSCOPE_ALLOC_CONF", "max_split_size_mb:many", 1);
}

static void conf_of_pytorch(void)
{
    setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 1);
}

static const char *const ordinary_modes[] = {"device", "families", "oom",     "query",
                                             "reset",  "threads",  "atexit",  "destructor",
                                             "_exit",  "fork",     "copies",  "nearly-full",
                                             "silent-fork"};

static void expandable_segments_look_the_same_to_programs(void **state)
{
    (void)state;
    struct outcome alone, with;
    struct count c;
    for (size_t m = 0; m < sizeof ordinary_modes / sizeof *ordinary_modes; m++) {
        run(&alone, ALONE, builds[m % 2], ordinary_modes[m]);
        run_with(&with, CACHING, expandable, builds[m % 2], ordinary_modes[m]);
        assert_same(&with, &alone);
        count_trace(&c, with.trace);
        assert_true(c.maps > 0);
        assert_int_equal(c.segments, 0);
    }
    run_with(&with, CACHING, expandable, VS_REUSE_VICTIM, "");
    assert_string_equal(with.out, "bytes overwritten: 0\n");
    run_with(&with, CACHING, expandable, VS_DRIVER_VICTIM, "");
    assert_int_equal(with.status, 0);
}

static void compact(void)
{
    setenv("VRAMSCOPE_POLICY", "compact", 1);
}

static void compact_placement_looks_the_same_to_programs(void **state)
{
    (void)state;
    struct outcome alone, with;
    struct count c;
    for (size_t m = 0; m < sizeof ordinary_modes / sizeof *ordinary_modes; m++) {
        run(&alone, ALONE, builds[m % 2], ordinary_modes[m]);
        run_with(&with, CACHING, compact, builds[m % 2], ordinary_modes[m]);
        assert_same(&with, &alone);
        count_trace(&c, with.trace);
        assert_true(c.maps > 0);
        assert_int_equal(c.segments, 0);
    }
    run_with(&with, CACHING, compact, VS_REUSE_VICTIM, "");
    assert_string_equal(with.out, "bytes overwritten: 0\n");
    run_with(&with, CACHING, compact, VS_DRIVER_VICTIM, "");
    assert_int_equal(with.status, 0);
    run_with(&with, CACHING, compact, VS_VICTIM_SHARED, "resets");
    assert_string_equal(with.out, "40 resets\n");
    count_trace(&c, with.trace);
    assert_int_equal(c.reserved, 0);
}

static void memory_of_expandable_segments_goes_back_with_its_context(void **state)
{
    (void)state;
    struct outcome o;
    struct count c;
    run_with(&o, CACHING, expandable, VS_VICTIM_SHARED, "resets");
    assert_string_equal(o.out, "40 resets\n");
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 40);
    assert_int_equal(c.unmaps, 40);
    assert_int_equal(c.reserved, 0);
}

static void what_the_cache_is_told_wrongly_costs_a_line(void **state)
{
    (void)state;
    struct outcome o;
    struct count c;
    run_with(&o, CACHING, expandable_with_an_unknown_key, VS_VICTIM_SHARED, "device");
    assert_non_null(strstr(o.err, "no_such_key"));
    assert_ptr_equal(strchr(o.err, '\n'), o.err + strlen(o.err) - 1);
    count_trace(&c, o.trace);
    assert_true(c.maps > 0);
    run_with(&o, CACHING, unreadable_conf, VS_VICTIM_SHARED, "device");
    assert_non_null(strstr(o.err, "max_split_size_mb"));
    assert_ptr_equal(strchr(o.err, '\n'), o.err + strlen(o.err) - 1);
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 0);
    assert_true(c.segments > 0);
}

static void cached_memory_may_be_freed_in_stream_order(void **state)
{
    (void)state;
    struct outcome o;
    struct count c;
    run(&o, CACHING, VS_VICTIM_SHARED, "free-async");
    assert_string_equal(o.out, "served again\n");
    count_trace(&c, o.trace);
    assert_int_equal(c.requested_live, 0);
    assert_int_equal(c.segments, 1);
}

/* --- sharing between processes --- */

static const char *policy_to_share;

static void always(void)
{
    setenv("VRAMSCOPE_POLICY", policy_to_share, 1);
    setenv("VRAMSCOPE_IPC", "always", 1);
}

static void automatic(void)
{
    setenv("VRAMSCOPE_POLICY", policy_to_share, 1);
}

static void with_ipc_always_every_block_is_shared_as_it_is(void **state)
{
    (void)state;
    static const char *const policies[] = {"pytorch", "compact"};
    struct outcome o;
    for (int i = 0; i < 2; i++) {
        policy_to_share = policies[i];
        run_with(&o, CACHING, always, VS_IPC_VICTIM, "all");
        assert_string_equal(o.out, "ok\n");
        assert_string_equal(o.err, "");
        assert_int_equal(o.status, 0);
    }
}

static void without_it_programs_under_us_share_blocks_inside_segments(void **state)
{
    (void)state;
    struct outcome o;
    policy_to_share = "pytorch";
    static const char *const modes[] = {"all", "base"};
    for (int i = 0; i < 2; i++) {
        run_with(&o, CACHING, automatic, VS_IPC_VICTIM, modes[i]);
        assert_string_equal(o.out, "ok\n");
        assert_string_equal(o.err, "");
        assert_int_equal(o.status, 0);
    }
}

static void without_it_mapped_memory_is_refused_once_and_never_wrong(void **state)
{
    (void)state;
    static const char *const modes[] = {"late", "late-ordered"};
    struct outcome o;
    policy_to_share = "compact";
    for (int i = 0; i < 2; i++) {
        run_with(&o, CACHING, automatic, VS_IPC_VICTIM, modes[i]);
        assert_string_equal(o.out, "ok\n");
        assert_non_null(strstr(o.err, "--ipc=always"));
        assert_ptr_equal(strchr(o.err, '\n'), o.err + strlen(o.err) - 1);
        assert_int_equal(o.status, 0);
    }
}

#ifdef VS_API_CPP
static void checked_and_unwritable(void)
{
    checked();
    unwritable_output();
}

static void checked_and_expandable(void)
{
    checked();
    expandable();
}
#endif

/* The driver took the whole segment back, under the other blocks in it. */
static void memory_in_stream_order_is_not_freed_by_cudas_own_functions(void **state)
{
    (void)state;
#ifdef VS_API_CPP
    struct outcome o;
    void (*const ways[])(void) = {checked, checked_and_not_preloaded, checked_and_compact,
                                  checked_and_expandable, checked_and_unwritable};
    for (int f = OBSERVE; f <= CACHING; f++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            run_with(&o, (enum front)f, ways[i], VS_ENTRY_VICTIM, "frees");
            assert_string_equal(o.out, "ok\n");
            assert_int_equal(o.status, 0);
        }
    }
#else
    skip(); /* no C++ compiler */
#endif
}

static void pytorchs_variable_is_for_its_entry_points_alone(void **state)
{
    (void)state;
    struct outcome o;
    struct count c;
    run_with(&o, CACHING, conf_of_pytorch, VS_VICTIM_SHARED, "device");
    count_trace(&c, o.trace);
    assert_int_equal(c.maps, 0);
#ifdef VS_API_CPP
    run_with(&o, CACHING, conf_of_pytorch, VS_ENTRY_VICTIM, "streams");
    assert_string_equal(o.out, "ok\n");
    count_trace(&c, o.trace);
    assert_true(c.maps > 0);
#endif
}

static void libraries_get_the_drivers_answers_about_cached_memory(void **state)
{
    (void)state;
    struct outcome alone, with;
    run(&alone, ALONE, VS_DRIVER_VICTIM, "questions");
    assert_int_equal(alone.status, 0);
    assert_string_equal(alone.err, "exported 0 0 then 0\n");
    run(&with, CACHING, VS_DRIVER_VICTIM, "questions");
    assert_string_equal(with.out, alone.out);
    assert_string_equal(with.err, "exported 0 0 then 0\n");
    run_with(&with, CACHING, expandable, VS_DRIVER_VICTIM, "questions");
    assert_string_equal(with.out, alone.out);
    assert_non_null(strstr(with.err, "exported 801 801 then 0\n"));
    assert_non_null(strstr(with.err, "--ipc=always"));
}

static void expandable_on_two_devices(void)
{
    expandable();
    two_devices();
}

static void mapped_memory_is_open_to_peers_let_in_before_and_after(void **state)
{
    (void)state;
    struct outcome o;
    run_with(&o, CACHING, expandable_on_two_devices, VS_DRIVER_VICTIM, "peers");
    assert_string_equal(o.out, "access 0 then 3, of new memory 3\n");
    static const char *const modes[] = {"peer", "devices"};
    for (int m = 0; m < 2; m++) {
        run_with(&o, CACHING, expandable_on_two_devices, VS_REUSE_VICTIM, modes[m]);
        assert_string_equal(o.out, "bytes overwritten: 0\n");
    }
}

static int make_folder(void **state)
{
    (void)state;
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/vramscope-preload-XXXXXX", temporary ? temporary : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    clean_folder();
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_without_cuda_leaves_no_file),
        cmocka_unit_test(device_counts_equal_the_programs_own_in_both_builds_and_both_ways),
        cmocka_unit_test(every_family_is_recorded_once_under_its_name),
        cmocka_unit_test(out_of_memory_looks_the_same_and_cached_memory_makes_room),
        cmocka_unit_test(questions_about_pointers_get_the_same_answers),
        cmocka_unit_test(a_device_reset_ends_what_was_live),
        cmocka_unit_test(threads_are_counted_without_loss),
        cmocka_unit_test(frees_in_exit_handlers_and_destructors_are_recorded),
        cmocka_unit_test(underscore_exit_ends_the_trace_with_its_status),
        cmocka_unit_test(killed_programs_leave_everything_they_did),
        cmocka_unit_test(a_forked_child_leaves_the_parents_trace_alone),
        cmocka_unit_test(processes_that_fork_before_using_cuda_each_leave_a_trace),
        cmocka_unit_test(exec_goes_on_in_a_trace_of_its_own_name_and_the_first_is_kept),
        cmocka_unit_test(nvtx_ranges_arrive_also_those_opened_before_cuda),
        cmocka_unit_test(nvtx_ranges_of_other_threads_that_were_open_are_known_too),
        cmocka_unit_test(what_was_collected_before_another_profiler_came_is_kept),
        cmocka_unit_test(copies_between_devices_are_collected),
        cmocka_unit_test(closed_standard_streams_are_left_closed),
        cmocka_unit_test(dlsym_answers_as_it_would_without_us),
        cmocka_unit_test(copies_and_memsets_are_collected_with_their_bytes),
        cmocka_unit_test(a_driver_program_is_seen_through_its_own_contexts),
        cmocka_unit_test(freed_memory_is_not_reused_under_queued_work),
        cmocka_unit_test(a_trace_that_cannot_be_written_costs_one_line_and_nothing_else),
        cmocka_unit_test(without_cupti_memory_is_recorded_and_it_is_said_once),
        cmocka_unit_test(a_full_disk_stops_the_recording_not_the_program),
        cmocka_unit_test(memory_that_the_driver_has_is_given_also_where_no_segment_fits),
        cmocka_unit_test(a_reset_ends_very_many_allocations),
        cmocka_unit_test(programs_that_end_in_signal_handlers_end),
        cmocka_unit_test(an_exit_handler_that_ends_the_process_gives_the_status),
        cmocka_unit_test(a_child_that_no_fork_handler_hears_of_leaves_the_trace_alone),
        cmocka_unit_test(processes_given_one_name_lose_no_trace),
        cmocka_unit_test(cuda_is_not_found_where_it_is_not),
        cmocka_unit_test(libraries_free_cached_memory_after_our_own_end),
        cmocka_unit_test(freed_memory_is_not_reused_under_another_devices_work),
        cmocka_unit_test(the_public_interface_agrees_with_what_the_program_did),
        cmocka_unit_test(the_options_may_limit_what_is_taken_from_the_device),
        cmocka_unit_test(the_public_interface_serves_programs_linked_with_it),
        cmocka_unit_test(the_public_interface_is_usable_from_cpp),
        cmocka_unit_test(expandable_segments_look_the_same_to_programs),
        cmocka_unit_test(compact_placement_looks_the_same_to_programs),
        cmocka_unit_test(memory_of_expandable_segments_goes_back_with_its_context),
        cmocka_unit_test(what_the_cache_is_told_wrongly_costs_a_line),
        cmocka_unit_test(cached_memory_may_be_freed_in_stream_order),
        cmocka_unit_test(with_ipc_always_every_block_is_shared_as_it_is),
        cmocka_unit_test(without_it_programs_under_us_share_blocks_inside_segments),
        cmocka_unit_test(without_it_mapped_memory_is_refused_once_and_never_wrong),
        cmocka_unit_test(only_ordinals_of_devices_that_exist_are_taken),
        cmocka_unit_test(a_forked_child_is_told_of_no_memory),
        cmocka_unit_test(memory_in_stream_order_is_not_freed_by_cudas_own_functions),
        cmocka_unit_test(pytorchs_variable_is_for_its_entry_points_alone),
        cmocka_unit_test(libraries_get_the_drivers_answers_about_cached_memory),
        cmocka_unit_test(mapped_memory_is_open_to_peers_let_in_before_and_after),
        cmocka_unit_test(memory_in_stream_order_is_served_in_front_of_cuda_and_behind_it),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
