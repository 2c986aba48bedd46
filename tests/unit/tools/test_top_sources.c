/* SPDX-License-Identifier: Apache-2.0
 *
 * The traces that `vramscope top` watches: which stay open, what a row keeps of a trace that ended or
 * can no longer be read. Recorders are children that work in steps; nothing depends on the clock. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cmocka_test.h"
#include "support/scratch_folder.h"
#include "support/trace_text.h"
#include "tools/top/top_command.h"
#include "trace/format/format.h"

#define FIFTY "device 1G GPU; repeat 50 { alloc i 1M }"

/* Sends the trace's path, then uses every window for each byte that it is sent. */
static void record(int order, int answer)
{
    struct vs_builder b;
    char byte;
    vs_builder_open(&b, "observe");
    vs_trace(&b, FIFTY);
    if (write(answer, b.path, sizeof b.path) != sizeof b.path)
        _exit(1);
    while (read(order, &byte, 1) == 1) {
        for (unsigned i = 0; i < 50; i++) {
            vs_trace(&b, "alloc %u 1M", 50 + i);
            vs_recorder_flush(b.recorder);
        }
        if (write(answer, "f", 1) != 1)
            _exit(1);
    }
    vs_builder_close(&b, VS_END_EXIT, 0);
    _exit(0);
}

/* Changes a bit of the last allocation in the window of FILE.live, not one of its size. */
static void change_window(const char *path)
{
    char live[600];
    struct vs_live_header header;
    unsigned char byte;
    unsigned i = 0;
    snprintf(live, sizeof live, "%s.live", path);
    int fd = open(live, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &header, sizeof header, 0), sizeof header);
    while (!header.window[i].used)
        i++;
    off_t at = (off_t)(header.header_bytes + i * header.window_bytes + header.window[i].used - 3);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void update(struct vs_top_sources *sources)
{
    assert_false(vs_top_sources_read(sources, UINT64_MAX, true, true));
}

TEST(a_trace_that_cannot_be_read_any_more_leaves_no_figures)
{
    struct vs_top_sources sources = {0};
    char path[sizeof ((struct vs_builder *)0)->path], moved[sizeof path + 8], byte = 'f';
    int order[2], answer[2], status;
    assert_non_null(scratch_folder()); /* the child's trace is in it, and it is removed here */
    assert_int_equal(pipe(order) | pipe(answer), 0);
    pid_t pid = fork();
    if (!pid) {
        close(order[1]);
        close(answer[0]);
        record(order[0], answer[1]);
    }
    close(order[0]);
    close(answer[1]);
    assert_int_equal(read(answer[0], path, sizeof path), sizeof path);
    vs_top_sources_add(&sources, path, 0);
    change_window(path); /* as it is read now; FILE gets it as it was */
    update(&sources);
    const struct vs_top_process *process = &sources.model.processes[0];
    assert_null(process->error);
    assert_string_equal(process->view.exe, "/opt/demo/train_demo");
    assert_int_equal(process->view.device_count, 1);
    change_window(path);
    assert_int_equal(write(order[1], &byte, 1), 1);
    assert_int_equal(read(answer[0], &byte, 1), 1);
    snprintf(moved, sizeof moved, "%s.moved", path);
    assert_int_equal(rename(path, moved), 0);
    update(&sources); /* what is read now differs; another reading is not possible */
    update(&sources);
    assert_non_null(process->error);
    assert_string_equal(process->view.exe, "");
    assert_string_equal(process->view.path, path);
    assert_int_equal(process->view.device_count, 0);
    assert_int_equal(rename(moved, path), 0);
    update(&sources);
    assert_null(process->error);
    assert_int_equal(process->view.devices[0].allocated, 100 * MIB);
    vs_top_sources_free(&sources);
    close(order[1]);
    close(answer[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* --- processes that have ended --- */

static unsigned open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void finished_trace(struct vs_builder *b)
{
    vs_builder_open(b, "observe");
    vs_trace(b, FIFTY);
    vs_builder_close(b, VS_END_EXIT, 3);
}

static void assert_last_figures(const struct vs_top_process *process)
{
    assert_null(process->error);
    assert_false(process->view.running);
    assert_string_equal(process->view.ending, "the program exited with status 3");
    assert_string_equal(process->view.exe, "/opt/demo/train_demo");
    assert_int_equal(process->view.device_count, 1);
    const struct vs_watch_device *device = &process->view.devices[0];
    assert_string_equal(device->name, "GPU");
    assert_int_equal(device->allocated, 50 * MIB);
    assert_int_equal(device->history->level, 50 * MIB);
    assert_true(device->site_count == 1 && device->sites[0].name);
}

TEST(the_trace_of_an_ended_process_is_closed_and_its_figures_stay)
{
    struct vs_builder b;
    struct vs_top_sources sources = {0};
    finished_trace(&b);
    unsigned before = open_files();
    vs_top_sources_add(&sources, b.path, 0);
    for (unsigned round = 0; round < 3; round++) {
        update(&sources);
        assert_int_equal(open_files(), before);
        assert_null(sources.items[0].watch);
        assert_last_figures(&sources.model.processes[0]);
        if (round == 1)
            unlink(b.path); /* is not read again */
    }
    vs_top_sources_free(&sources);
}

/* Names for one finished trace, for processes *first* to before *end*. */
static void add_links(struct vs_top_sources *sources, const struct vs_builder *b, uint64_t first,
                      uint64_t end)
{
    char path[sizeof b->path + 32];
    for (uint64_t pid = first; pid < end; pid++) {
        snprintf(path, sizeof path, "%s.%u", b->path, (unsigned)pid);
        assert_int_equal(link(b->path, path), 0);
        vs_top_sources_add(sources, path, pid);
    }
}

/* Each watched process once had two descriptors for good: after some 500, none could be opened. */
TEST(more_processes_end_than_descriptors_are_available)
{
    struct vs_builder b;
    struct rlimit before, few;
    struct vs_top_sources sources = {.search = true};
    uint64_t end = 100;
    finished_trace(&b);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = open_files() + 8;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (uint64_t pid = 100; pid < 400; pid = end) {
        end = pid + 60;
        add_links(&sources, &b, pid, end);
        update(&sources);
        assert_int_equal(sources.count, end - 100 < 100 ? end - 100 : 100);
    }
    for (size_t i = 0; i < sources.count; i++) { /* the latest */
        assert_int_equal(sources.model.processes[i].pid, end - 100 + i);
        assert_last_figures(&sources.model.processes[i]);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    vs_top_sources_free(&sources);
}

TEST(a_selected_row_stays_selected_when_others_go)
{
    struct vs_builder b;
    struct vs_top_sources sources = {.search = true};
    finished_trace(&b);
    add_links(&sources, &b, 100, 200);
    update(&sources);
    sources.model.selected = 70;
    sources.model.chosen = true;
    add_links(&sources, &b, 200, 230);
    update(&sources);
    const struct vs_top_row *row = &sources.model.rows[sources.model.selected];
    assert_int_equal(sources.model.processes[row->process].pid, 170);
    vs_top_sources_free(&sources);
}

TEST(a_trace_that_was_deleted_before_it_was_read_is_left_out)
{
    struct vs_builder b;
    struct vs_top_sources found = {.search = true}, named = {0};
    finished_trace(&b);
    vs_top_sources_add(&found, b.path, VS_BUILDER_PID);
    vs_top_sources_add(&named, b.path, 0);
    unlink(b.path);
    update(&found);
    assert_int_equal(found.model.count, 0);
    assert_int_equal(found.model.row_count, 0);
    update(&named); /* by the user */
    assert_int_equal(named.model.count, 1);
    assert_non_null(strstr(named.model.processes[0].error, "no such file"));
    vs_top_sources_free(&found);
    vs_top_sources_free(&named);
}

TEST(a_process_that_records_to_its_path_again_is_read_again)
{
    struct vs_builder b, other;
    struct vs_top_sources sources = {.search = true};
    finished_trace(&b);
    vs_top_sources_add(&sources, b.path, VS_BUILDER_PID);
    update(&sources);
    vs_builder_open(&other, "observe"); /* another program that the process executed */
    vs_builder_close(&other, VS_END_EXIT, 0);
    assert_int_equal(rename(other.path, b.path), 0);
    update(&sources);
    assert_last_figures(&sources.model.processes[0]);
    vs_top_sources_add(&sources, b.path, VS_BUILDER_PID);
    update(&sources);
    assert_int_equal(sources.model.count, 1);
    assert_int_equal(sources.model.processes[0].view.device_count, 0);
    vs_top_sources_free(&sources);
}

/* The names of call sites of a running process are looked up by another process; while the view is
 * paused its rows showed names that had been freed. */
TEST(names_replace_their_substitutes_in_the_view)
{
    struct vs_top_sources sources = {0};
    struct vs_builder b;
    finished_trace(&b);
    vs_top_sources_add(&sources, b.path, 0);
    vs_top_sources_read(&sources, UINT64_MAX, true, false);
    struct vs_top_names *names = &sources.items[0].names;
    struct vs_watch_view *view = &sources.model.processes[0].view;
    assert_true(names->child);
    assert_non_null(sources.items[0].watch); /* until the names are there */
    while (names->child) {
        struct pollfd fd = {.fd = names->fd, .events = POLLIN};
        assert_int_equal(poll(&fd, 1, -1), 1);
        vs_top_names_read(names, view);
    }
    const struct vs_watch_site *site = &view->devices[0].sites[0];
    assert_ptr_equal(site->name, names->items[0].name);
    assert_ptr_equal(site->chain, names->items[0].chain);
    assert_non_null(site->chain);
    vs_top_sources_read(&sources, 0, false, false);
    assert_null(sources.items[0].watch);
    assert_last_figures(&sources.model.processes[0]);
    vs_top_sources_free(&sources);
}
