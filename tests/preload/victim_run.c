/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths of the programs come from CMake. */
#define _GNU_SOURCE
#include "preload/victim_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char folder[PATH_MAX];

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
    putenv((char *)SIMULATED);
    /* victims leak memory on purpose and continue after a fork; tsan cannot follow libunwind's
     * thread destructors */
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

void run_with(struct outcome *o, enum front front, const char *settings, const char *program,
              const char *mode)
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
        char *copy = settings ? strdup(settings) : NULL, *rest = copy;
        for (char *setting; (setting = strsep(&rest, " "));)
            putenv(setting);
        execl(program, program, mode, (char *)NULL);
        _exit(126);
    }
    close(out[1]);
    close(err[1]);
    read_all(out[0], o->out, sizeof o->out);
    read_all(err[0], o->err, sizeof o->err);
    assert_int_equal(waitpid(pid, &o->status, 0), pid);
    /* that neither of two programs started is no equality */
    if (WIFEXITED(o->status) && (WEXITSTATUS(o->status) == 126 || WEXITSTATUS(o->status) == 127))
        fail_msg("%s did not start: %s", program, o->err);
    find_traces(o);
}

void run(struct outcome *o, enum front front, const char *program, const char *mode)
{
    run_with(o, front, NULL, program, mode);
}

void assert_one_line(const char *err, const char *text)
{
    assert_non_null(strstr(err, text));
    assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
}

void run_printing(struct outcome *o, enum front front, const char *settings, const char *program,
                  const char *mode, const char *out, const char *err)
{
    run_with(o, front, settings, program, mode);
    assert_string_equal(o->out, out);
    if (err && *err)
        assert_one_line(o->err, err);
    else if (err)
        assert_string_equal(o->err, "");
    assert_int_equal(o->status, 0);
}

#define LIVE_MAX 8192
static struct {
    uint64_t addr, requested, family;
} live[LIVE_MAX];

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

void count_trace(struct count *c, const char *path)
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

void assert_same(const struct outcome *with, const struct outcome *alone)
{
    assert_string_equal(with->out, alone->out);
    assert_int_equal(with->status, alone->status);
    assert_string_equal(with->err, alone->err);
}

const char *const builds[2] = {VS_VICTIM_SHARED, VS_VICTIM_STATIC};

void everywhere(const char *mode, struct count counts[2][2])
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

SETUP(make_folder)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/vramscope-preload-XXXXXX", temporary ? temporary : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

TEARDOWN(remove_folder)
{
    clean_folder();
    return rmdir(folder);
}
