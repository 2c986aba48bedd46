/* SPDX-License-Identifier: Apache-2.0
 *
 * Rewritten traces: the same events before and after, frames added and found again, traces of
 * killed processes finished, and no change after a failure. */
#include "trace_test.h"

#include <sys/stat.h>

#include "base/vs_output_file.h"
#include "support/child.h"
#include "trace/read/rewrite.h"

#define EVENTS 40000u

static void record_some(struct vs_recorder *r, unsigned events)
{
    char name[64];
    for (unsigned i = 0; i < events; i++) {
        struct vs_event e = {.kind = VS_EVENT_alloc};
        snprintf(name, sizeof name, "name %u", i % 700);
        e.alloc.addr = 0x700000000000 + (uint64_t)i * 512;
        e.alloc.requested = e.alloc.size = 512 + i % 90;
        e.alloc.api = vs_recorder_string(r, name, SIZE_MAX);
        vs_recorder_event(r, &e);
    }
}

static void make_trace(const char *path)
{
    struct vs_recorder *r = open_recorder(path, 1, 0);
    record_some(r, EVENTS);
    vs_recorder_close(r, VS_END_EXIT, 7);
}

static uint64_t sum, reason; /* of the latest digest: of its events, and of its end */

/* A digest of each event except `end`; their number is returned. */
static unsigned digest(const char *path, enum vs_condition condition)
{
    struct vs_reader *r = open_reader(path);
    unsigned n = 0;
    sum = 0;
    reason = UINT64_MAX;
    for (struct vs_event e; next_plain(r, &e);) {
        if (e.kind == VS_EVENT_end) {
            reason = e.end.reason;
            continue;
        }
        n++;
        sum = sum * 31 + e.time_ns + e.tid + e.kind;
        for (unsigned i = 0; i < VS_EVENT_FIELDS_MAX; i++)
            sum = sum * 31 + e.fields[i];
        for (const char *p = vs_reader_string(r, e.alloc.api); *p; p++)
            sum = sum * 31 + (unsigned char)*p;
    }
    close_reader(r, condition);
    return n;
}

/* The events are those of the latest digest. */
static void assert_same(const char *path, enum vs_condition condition, unsigned events)
{
    uint64_t before = sum;
    assert_int_equal(digest(path, condition), events);
    assert_int_equal(sum, before);
}

static char why[VS_READER_WHY_MAX]; /* the latest rewriting failed */

static struct vs_rewrite *begin(const char *path, const char *to, unsigned leave_out)
{
    struct vs_rewrite *w;
    if (vs_rewrite_open(path, to, leave_out, &w, why))
        fail_msg("%s", why);
    return w;
}

/* It cannot be begun, and *part* of why is said. */
static void assert_not_begun(const char *path, const char *to, unsigned leave_out,
                             enum vs_err expected, const char *part)
{
    struct vs_rewrite *w;
    *why = '\0';
    assert_int_equal(vs_rewrite_open(path, to, leave_out, &w, why), expected);
    if (!strstr(why, part))
        fail_msg("%s", why);
}

static void add_frames(const char *path, const char *to, unsigned leave_out, unsigned count)
{
    struct vs_rewrite *w = begin(path, to, leave_out);
    static unsigned char payload[100000];
    for (unsigned i = 0; i < count; i++) {
        memset(payload, (int)i, sizeof payload);
        for (size_t k = 0; k < sizeof payload; k += 3)
            payload[k] = (unsigned char)(k * 2654435761u >> 13);
        assert_int_equal(vs_rewrite_add(w, i % 2 ? VS_FRAME_SYMBOLS : VS_FRAME_CHECKPOINT, 1000 + i,
                                        i, payload, sizeof payload - i), VS_OK);
    }
    assert_int_equal(vs_rewrite_commit(w, why), VS_OK);
}

static size_t directory(const char *path, struct vs_directory_entry **entries)
{
    struct vs_reader *r = open_reader(path);
    size_t n, bytes;
    unsigned char *raw = malloc(VS_FRAME_RAW_MAX);
    assert_int_equal(vs_directory_load(&r->file, entries, &n), VS_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(vs_directory_read(&r->file, &(*entries)[i], raw, &bytes), VS_OK);
        assert_int_equal(bytes, 100000 - (*entries)[i].sequence);
        assert_int_equal(raw[1], (*entries)[i].sequence);
    }
    free(raw);
    vs_reader_close(r);
    return n;
}

TEST(test_added_frames_are_found_and_events_stay)
{
    const char *path = scratch("a.vst");
    struct vs_directory_entry *entries;
    make_trace(path);
    unsigned n = digest(path, VS_TRACE_COMPLETE);
    assert_int_equal(n, EVENTS);
    assert_int_equal(directory(path, &entries), 0);
    add_frames(path, NULL, 0, 5);
    assert_same(path, VS_TRACE_COMPLETE, n);
    assert_int_equal(reason, VS_END_EXIT);
    assert_int_equal(directory(path, &entries), 5);
    assert_int_equal(entries[3].type, VS_FRAME_SYMBOLS);
    assert_int_equal(entries[3].time_ns, 1003);
    free(entries);

    /* symbols are removed, checkpoints stay, two more are added */
    add_frames(path, NULL, 1u << VS_FRAME_SYMBOLS, 2);
    assert_same(path, VS_TRACE_COMPLETE, n);
    assert_int_equal(directory(path, &entries), 5);
    assert_int_equal(entries[2].type, VS_FRAME_CHECKPOINT);
    assert_int_equal(entries[2].sequence, 4);
    assert_int_equal(entries[4].sequence, 1);
    free(entries);

    /* and without all of them the file is as before, byte by byte */
    size_t old_bytes;
    make_trace(scratch("b.vst"));
    unsigned char *old = slurp(scratch("b.vst"), &old_bytes);
    add_frames(scratch("b.vst"), NULL, 0, 3);
    add_frames(scratch("b.vst"), NULL, ~0u, 0);
    assert_holds(scratch("b.vst"), old, old_bytes);
    free(old);
}

/* A child is killed while it records; its tally counts the calls reported as recorded. */
static void killed_trace(const char *path, unsigned events)
{
    if (child_begin()) {
        record_some(open_recorder(path, 1, 0), events);
        raise(SIGKILL);
    }
    assert_int_equal(child_ending(), 128 + SIGKILL);
}

TEST(test_killed_trace_becomes_whole)
{
    SKIP_UNDER_TSAN();
    static const unsigned lengths[] = {0, 1, 900, 60000, 200000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const char *path = scratch("killed.vst");
        struct vs_directory_entry *entries;
        killed_trace(path, lengths[i]);
        assert_int_equal(digest(path, VS_TRACE_LIVE), lengths[i]);
        add_frames(path, NULL, 0, 2);
        assert_int_equal(access(scratch("killed.vst.live"), F_OK), -1);
        assert_same(path, VS_TRACE_COMPLETE, lengths[i]);
        assert_int_equal(reason, VS_END_KILLED);
        assert_int_equal(directory(path, &entries), 2);
        free(entries);
        add_frames(path, NULL, ~0u, 0); /* again: it already has its one end */
        assert_same(path, VS_TRACE_COMPLETE, lengths[i]);
    }
}

/* In place; *path* stays unchanged, byte by byte. */
static void assert_refused(const char *path, enum vs_err expected, const char *part)
{
    size_t bytes;
    unsigned char *old = slurp(path, &bytes);
    assert_not_begun(path, NULL, 0, expected, part);
    assert_not_begun(path, path, 0, expected, ""); /* the same file */
    assert_holds(path, old, bytes);
    free(old);
}

static uint64_t end_of_first_frame(const char *path)
{
    struct vs_reader *r = open_reader(path);
    struct vs_event e;
    assert_int_equal(vs_reader_next(r, &e), VS_OK);
    uint64_t end = r->offset;
    vs_reader_close(r);
    return end;
}

TEST(test_cut_and_damaged_traces)
{
    size_t bytes;
    struct vs_rewrite *w;
    char path[512]; /* scratch has four names only */
    snprintf(path, sizeof path, "%s", scratch("cut.vst"));
    make_trace(path);
    unsigned char *data = slurp(path, &bytes);
    uint64_t end = end_of_first_frame(path);
    spit(path, data, end + 100); /* frame sizes depend on the time available for packing */
    unsigned n = digest(path, VS_TRACE_TRUNCATED);
    assert_refused(path, VS_ERR_CORRUPT, "-o");
    w = begin(path, scratch("other.vst"), 0);
    assert_true(vs_rewrite_left_out(w) > 0);
    assert_int_equal(vs_rewrite_commit(w, why), VS_OK);
    assert_same(scratch("other.vst"), VS_TRACE_COMPLETE, n);

    /* where it ends between two frames, the rest may be in a FILE.live elsewhere */
    spit(path, data, end);
    n = digest(path, VS_TRACE_TRUNCATED);
    assert_refused(path, VS_ERR_CORRUPT, "FILE.live");
    add_frames(path, scratch("other.vst"), 0, 1);
    assert_same(scratch("other.vst"), VS_TRACE_COMPLETE, n);

    /* where only the trailer is missing, nothing can be */
    spit(path, data, bytes - sizeof(struct vs_trailer));
    n = digest(path, VS_TRACE_TRUNCATED);
    assert_int_equal(reason, VS_END_EXIT);
    add_frames(path, NULL, 0, 1);
    assert_same(path, VS_TRACE_COMPLETE, n);
    assert_int_equal(reason, VS_END_EXIT);

    /* a page that was never written: the data after it is not dropped in place */
    memset(data + end, 0, 4096);
    spit(path, data, bytes - 5);
    digest(path, VS_TRACE_TRUNCATED);
    assert_refused(path, VS_ERR_CORRUPT, "-o");
    free(data);
    make_trace(path);
    data = slurp(path, &bytes);

    /* damaged in the middle, and without an end: not in place, but elsewhere */
    data[end_of_first_frame(path) + 200] ^= 1; /* in the second frame's payload */
    spit(path, data, bytes - 5);
    n = digest(path, VS_TRACE_DAMAGED);
    assert_not_begun(path, NULL, 0, VS_ERR_CORRUPT, "-o");
    add_frames(path, scratch("other.vst"), 0, 1);
    assert_same(scratch("other.vst"), VS_TRACE_COMPLETE, n);
    assert_holds(path, data, bytes - 5);

    /* damaged, and with its end: unchanged in place, or its readable part elsewhere */
    spit(path, data, bytes);
    n = digest(path, VS_TRACE_DAMAGED);
    add_frames(path, NULL, 0, 1);
    assert_same(path, VS_TRACE_DAMAGED, n);
    assert_not_begun(path, NULL, VS_REWRITE_READABLE, VS_ERR_CORRUPT, "");
    w = begin(path, scratch("other.vst"), VS_REWRITE_READABLE);
    assert_true(vs_rewrite_left_out(w) > 0);
    assert_int_equal(vs_rewrite_commit(w, why), VS_OK);
    assert_same(scratch("other.vst"), VS_TRACE_COMPLETE, n);
    free(data);
}

TEST(test_the_rest_of_damaged_columns_is_not_dropped_in_place)
{
    const char *path = scratch("columns.vst");
    char part[64];
    make_trace(path);
    uint64_t end = end_of_first_frame(path);
    assert_int_equal(truncate(path, (off_t)end), 0);
    unsigned n = digest(path, VS_TRACE_TRUNCATED);
    append_columns(path, 2, INT64_MAX, 4, 0);
    assert_int_equal(digest(path, VS_TRACE_DAMAGED), n + 3);
    snprintf(part, sizeof part, "is damaged at byte %llu,", (unsigned long long)end);
    assert_refused(path, VS_ERR_CORRUPT, part);
    add_frames(path, scratch("other.vst"), 0, 0);
    assert_same(scratch("other.vst"), VS_TRACE_COMPLETE, n + 3);
}

TEST(test_a_link_leads_to_the_live_window_too)
{
    SKIP_UNDER_TSAN();
    assert_int_equal(mkdir(scratch("elsewhere"), 0700), 0);
    killed_trace(scratch("elsewhere/killed.vst"), 900);
    assert_int_equal(digest(scratch("elsewhere/killed.vst"), VS_TRACE_LIVE), 900);
    assert_int_equal(symlink("elsewhere/killed.vst", scratch("link.vst")), 0);
    assert_same(scratch("link.vst"), VS_TRACE_LIVE, 900);
    add_frames(scratch("link.vst"), NULL, 0, 0);
    assert_same(scratch("elsewhere/killed.vst"), VS_TRACE_COMPLETE, 900);
    assert_int_equal(access(scratch("elsewhere/killed.vst.live"), F_OK), -1);
    assert_int_equal(unlink(scratch("link.vst")), 0);
}

TEST(test_failure_leaves_everything)
{
    struct vs_rewrite *w;
    size_t bytes;
    const char *path = scratch("kept.vst");
    make_trace(path);
    unsigned char *old = slurp(path, &bytes);
    assert_not_begun(path, "/nonexistent/folder/x.vst", 0, VS_ERR_IO, "/nonexistent/folder/x.vst");
    assert_not_begun(scratch("missing.vst"), NULL, 0, VS_ERR_IO, "");

    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = bytes / 2;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    enum vs_err err = vs_rewrite_open(path, NULL, 0, &w, why);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(err, VS_ERR_IO);

    vs_rewrite_cancel(begin(path, NULL, 0));
    assert_holds(path, old, bytes);
    free(old);
    char command[600];
    snprintf(command, sizeof command, "test -z \"$(find '%s' -name '.*.new')\"", scratch_dir);
    assert_int_equal(system(command), 0);
}

TEST(test_recorded_now_is_refused)
{
    const char *path = scratch("now.vst");
    struct vs_recorder *r = open_recorder(path, 1, 0);
    record_some(r, 10);
    assert_not_begun(path, NULL, 0, VS_ERR_STATE, "");
    vs_recorder_close(r, VS_END_EXIT, 0);
}

/* A killed trace whose file lost its last frames: FILE.live holds later ones. */
TEST(test_live_is_kept_where_it_is_not_all_taken)
{
    SKIP_UNDER_TSAN();
    const char *path = scratch("gap.vst");
    killed_trace(path, 200000);
    assert_int_equal(truncate(path, (off_t)end_of_first_frame(path)), 0);
    assert_refused(path, VS_ERR_CORRUPT, "FILE.live");
    assert_int_equal(vs_rewrite_commit(begin(path, scratch("gap2.vst"), 0), why), VS_OK);
    assert_int_equal(access(scratch("gap.vst.live"), F_OK), 0);
}

TEST(test_of_two_at_once_one_fails)
{
    const char *path = scratch("two.vst");
    size_t bytes;
    make_trace(path);
    struct vs_rewrite *a = begin(path, NULL, 0), *b = begin(path, NULL, 0); /* and the same pid */
    assert_int_equal(vs_rewrite_add(a, VS_FRAME_SYMBOLS, 0, 0, "abc", 3), VS_OK);
    assert_int_equal(vs_rewrite_commit(a, why), VS_OK);
    unsigned char *first = slurp(path, &bytes);
    assert_int_equal(vs_rewrite_commit(b, why), VS_ERR_STATE);
    assert_non_null(strstr(why, "replaced meanwhile"));
    assert_holds(path, first, bytes);

    /* a program records to the path meanwhile */
    a = begin(path, NULL, 0);
    unlink(path);
    struct vs_recorder *r = open_recorder(path, 1, 0);
    record_some(r, 10);
    assert_int_equal(vs_rewrite_commit(a, why), VS_ERR_STATE);
    assert_non_null(strstr(why, "being recorded"));
    assert_int_equal(access(scratch("two.vst.live"), F_OK), 0);
    vs_recorder_close(r, VS_END_EXIT, 0);
    free(first);
}

TEST(test_what_the_dead_left_is_removed)
{
    const char *path = scratch("dead.vst");
    struct vs_rewrite *w;
    char name[64], mine[64];
    make_trace(path);
    if (child_begin())
        _exit(vs_rewrite_open(path, NULL, 0, &w, why) != VS_OK); /* leaves the file */
    assert_int_equal(child_ending(), 0);
    snprintf(name, sizeof name, ".dead.vst.%ld.new", (long)child_pid);
    snprintf(mine, sizeof mine, ".dead.vst.%ld.new", (long)getpid());
    assert_int_equal(access(scratch(name), F_OK), 0);
    spit(scratch(mine), (const unsigned char *)"x", 1); /* of an earlier process with this pid */
    spit(scratch(".dead.vst.notes.new"), (const unsigned char *)"x", 1);
    w = begin(path, NULL, 0);
    assert_int_equal(access(scratch(name), F_OK), -1);
    char *kept = NULL, *beside = NULL; /* several at a time */
    close(vs_replacement_make(scratch("kept.vst"), &kept));
    close(vs_replacement_make(scratch("beside.vst"), &beside));
    vs_replacement_forget(kept);
    vs_replacement_discard(); /* as a signal handler does */
    assert_int_equal(access(beside, F_OK), -1);
    assert_int_equal(unlink(kept), 0);
    vs_replacement_forget(beside);
    free(kept);
    free(beside);
    vs_rewrite_cancel(w);
    snprintf(name, sizeof name, ".dead.vst.%ld.1.new", (long)getpid());
    assert_int_equal(access(scratch(name), F_OK), -1);
    assert_int_equal(unlink(scratch(mine)), 0);
    assert_int_equal(unlink(scratch(".dead.vst.notes.new")), 0);
}

TEST(test_owner_stays)
{
    const char *path = scratch("owner.vst");
    struct stat st;
    make_trace(path);
    if (geteuid() || chown(path, 12345, 23456))
        skip();
    add_frames(path, NULL, 0, 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, 12345);
    assert_int_equal(st.st_gid, 23456);
}

/* --- damaged directories --- */

static uint64_t directory_at(const char *path, size_t *count)
{
    struct vs_reader *r = open_reader(path);
    struct vs_trailer trailer;
    struct vs_frame_header header;
    struct vs_index_extension extension;
    struct vs_directory_entry *entries;
    unsigned char *rest;
    assert_true(vs_directory_final_index(&r->file, &trailer, &header, &rest));
    memcpy(&extension, rest, sizeof extension);
    assert_int_equal(vs_directory_load(&r->file, &entries, count), VS_OK);
    free(entries);
    free(rest);
    vs_reader_close(r);
    return extension.directory_offset;
}

TEST(test_a_damaged_directory_is_none)
{
    const char *path = scratch("directory.vst");
    struct vs_directory_entry *entries;
    size_t bytes, count;
    make_trace(path);
    unsigned n = digest(path, VS_TRACE_COMPLETE);
    for (unsigned part = 0; part < 2; part++) { /* its header, its payload */
        add_frames(path, NULL, ~0u, 4);
        uint64_t at = directory_at(path, &count);
        unsigned char *data = slurp(path, &bytes);
        data[at + (part ? sizeof(struct vs_frame_header) + 3 : 0)] ^= 0x40;
        spit(path, data, bytes);
        free(data);
        add_frames(path, NULL, 0, 2);
        assert_same(path, VS_TRACE_COMPLETE, n);
        assert_int_equal(directory(path, &entries), 2);
        free(entries);
    }
}

TEST(test_entries_are_not_copied_twice_nor_for_events)
{
    const char *path = scratch("entries.vst");
    struct vs_directory_entry *entries;
    size_t bytes, again, count;
    make_trace(path);
    unsigned n = digest(path, VS_TRACE_COMPLETE);
    add_frames(path, NULL, 0, 4);
    uint64_t at = directory_at(path, &count);
    assert_int_equal(count, 4);
    unsigned char *data = slurp(path, &bytes);
    struct vs_directory_entry list[4];
    struct vs_frame_header h;
    memcpy(&h, data + at, sizeof h);
    unsigned char *payload = data + at + h.header_bytes;
    memcpy(list, payload, sizeof list);
    list[1] = list[2] = list[0];
    list[3].offset = sizeof(struct vs_file_header); /* an event frame */
    list[3].type = VS_FRAME_EVENTS;
    memcpy(payload, list, sizeof list);
    vs_frame_seal(&h, NULL, payload);
    memcpy(data + at, &h, sizeof h);
    spit(path, data, bytes);
    free(data);
    add_frames(path, NULL, 0, 0);
    free(slurp(path, &again));
    assert_true(again < bytes);
    assert_same(path, VS_TRACE_COMPLETE, n);
    assert_int_equal(directory(path, &entries), 1);
    free(entries);
}
