/* SPDX-License-Identifier: Apache-2.0
 *
 * Following a trace while another process records it. Each event must arrive once, in order, as
 * the finished trace has it. The writer works in steps that it is told through a pipe, or runs
 * freely; nothing depends on the clock. */
#include "unit/trace/trace_test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "trace/format/format.h"
#include "trace/read/follower.h"

#define WINDOW_BYTES ((size_t)16 << 10) /* the smallest: they are reused all the time */

static char path[512];
static struct writer {
    pid_t pid;
    int order, answer; /* pipes: one byte each */
} w; /* of the trace */

static struct vs_recorder *open_small(void)
{
    return open_with((struct vs_recorder_config){
        .path = path, .compression = 1, .flush_ms = 600000, .window_bytes = WINDOW_BYTES});
}

/* Events with addresses, texts and all lengths of numbers. */
static void put(struct vs_recorder *r, uint64_t n, uint64_t *seed)
{
    char text[64];
    struct vs_event e = {.kind = n % 2 ? VS_EVENT_free : VS_EVENT_alloc};
    uint64_t word = vs_random(seed);
    if (n % 7 == 0) {
        snprintf(text, sizeof text, "range %llu of the writer", (unsigned long long)(n % 101));
        e.kind = VS_EVENT_mark;
        e.mark.name = vs_recorder_string(r, text, SIZE_MAX);
    } else if (n % 2) {
        e.free.addr = UINT64_C(0x7f0000000000) + (word & 0xffffff00);
    } else {
        e.alloc.addr = UINT64_C(0x7f0000000000) + (word & 0xffffff00);
        e.alloc.size = e.alloc.requested = word >> (word % 50);
    }
    vs_recorder_event(r, &e);
}

enum order { ORDER_WRITE = 'w', ORDER_FLUSH = 'f', ORDER_EXEC = 'x', ORDER_CLOSE = 'c' };

/* The writer: *burst* events for each order. */
static void write_by_order(unsigned burst, int order, int answer)
{
    struct vs_recorder *r = open_small();
    uint64_t n = 1, seed = 1;
    char what, done = 'r';
    while (write(answer, &done, 1) == 1 && read(order, &what, 1) == 1) {
        for (unsigned i = 0; what == ORDER_WRITE && i < burst; i++)
            put(r, n++, &seed);
        if (what == ORDER_FLUSH)
            vs_recorder_flush(r);
        if (what == ORDER_EXEC && vs_recorder_exec_begin(r)) {
            done = 'x';
            if (write(answer, &done, 1) != 1 || read(order, &what, 1) != 1)
                break;
            vs_recorder_exec_failed(r);
            done = 'r';
        }
        if (what == ORDER_CLOSE)
            vs_recorder_end(r, VS_END_EXIT, 0);
    }
    _exit(0);
}

static void start(const char *name, unsigned burst)
{
    int order[2], answer[2];
    char ready;
    snprintf(path, sizeof path, "%s", scratch(name));
    assert_int_equal(pipe(order) | pipe(answer), 0);
    w = (struct writer){.pid = fork(), .order = order[1], .answer = answer[0]};
    assert_true(w.pid >= 0);
    if (!w.pid) {
        close(order[1]);
        close(answer[0]);
        write_by_order(burst, order[0], answer[1]);
    }
    close(order[0]);
    close(answer[1]);
    assert_int_equal(read(w.answer, &ready, 1), 1);
    assert_int_equal(ready, 'r');
}

static char tell(enum order what)
{
    char byte = (char)what, done = 0;
    assert_int_equal(write(w.order, &byte, 1), 1);
    assert_int_equal(read(w.answer, &done, 1), 1);
    return done;
}

static void stop(int number)
{
    int status;
    if (number)
        kill(w.pid, number);
    close(w.order);
    close(w.answer);
    assert_int_equal(waitpid(w.pid, &status, 0), w.pid);
}

static struct vs_follower *f;

/* What arrived, compared with the finished trace in the end. */
static struct {
    struct vs_event *items;
    size_t count, capacity;
} seen;

static void follow(const char *followed)
{
    char why[VS_READER_WHY_MAX] = "";
    if (vs_follower_open(followed, &f, why))
        fail_msg("%s", why);
}

static void forget(void)
{
    vs_follower_close(f);
    free(seen.items);
    memset(&seen, 0, sizeof seen);
}

/* Takes what there is, until *end*; *count* events have arrived then. */
static void take_until(enum vs_err end, size_t count)
{
    struct vs_event event;
    enum vs_err err;
    while ((err = vs_follower_next(f, &event)) == VS_OK) {
        if (seen.count == seen.capacity) {
            seen.capacity = seen.capacity ? 2 * seen.capacity : 1024;
            seen.items = realloc(seen.items, seen.capacity * sizeof event);
            assert_non_null(seen.items);
        }
        seen.items[seen.count++] = event;
    }
    assert_int_equal(err, end);
    if (count != SIZE_MAX)
        assert_int_equal(seen.count, count);
}

static void take(size_t count)
{
    take_until(VS_ERR_END, count);
}

#define ANY SIZE_MAX

static void finish(const char *followed, enum vs_condition condition)
{
    take(ANY);
    assert_true(vs_follower_ended(f));
    assert_int_equal(vs_follower_recorder(f), 0);
    assert_condition(vs_follower_reader(f), condition);
    struct vs_reader *r = open_reader(followed);
    size_t n = 0;
    for (struct vs_event event; vs_reader_next(r, &event) == VS_OK;) {
        assert_true(n < seen.count);
        const struct vs_event *got = &seen.items[n++];
        if (got->kind != event.kind || got->tid != event.tid || got->time_ns != event.time_ns ||
            memcmp(got->fields, event.fields, sizeof event.fields) != 0)
            fail_msg("event %zu differs", n);
        if (event.kind == VS_EVENT_mark)
            assert_string_equal(vs_reader_string(vs_follower_reader(f), event.mark.name),
                                vs_reader_string(r, event.mark.name));
    }
    assert_int_equal(n, seen.count);
    vs_reader_close(r);
    forget();
}

/* --- tests --- */

TEST(every_event_arrives_after_the_step_that_recorded_it)
{
    static const unsigned bursts[] = {1, 7, 300, 4000};
    for (size_t i = 0; i < sizeof bursts / sizeof *bursts; i++) {
        start("steps.vst", bursts[i]);
        follow(path);
        size_t expected = 0;
        assert_int_equal(vs_follower_recorder(f), w.pid);
        for (unsigned step = 0; step < 40; step++) {
            tell(ORDER_WRITE);
            expected += bursts[i];
            if (step % 9 == 8)
                tell(ORDER_FLUSH);
            if (step % 3 == 2) /* others are read together */
                continue;
            take(expected);
            assert_false(vs_follower_ended(f));
        }
        tell(ORDER_CLOSE);
        take(expected); /* the end may be taken back */
        stop(0);
        finish(path, VS_TRACE_COMPLETE);
    }
}

TEST(the_events_of_a_killed_process_arrive_as_the_reader_recovers_them)
{
    for (unsigned polls = 0; polls < 3; polls++) {
        start("killed.vst", 1500);
        follow(path);
        for (unsigned step = 0; step < 5; step++) {
            tell(ORDER_WRITE);
            if (step < polls)
                take(ANY);
        }
        stop(SIGKILL);
        finish(path, VS_TRACE_LIVE);
    }
}

TEST(an_end_that_is_taken_back_does_not_arrive)
{
    start("exec.vst", 100);
    follow(path);
    for (unsigned round = 1; round <= 4; round++) {
        tell(ORDER_WRITE);
        assert_int_equal(tell(ORDER_EXEC), 'x');
        if (round % 2) /* the end is in the file */
            take(ANY);
        assert_int_equal(tell(ORDER_WRITE), 'r'); /* exec failed */
        take(round * 100);
    }
    stop(SIGKILL);
    finish(path, VS_TRACE_LIVE);
}

TEST(a_live_file_that_was_removed_and_created_again_is_found)
{
    start("again.vst", 200);
    follow(path);
    tell(ORDER_WRITE);
    take(ANY);
    assert_int_equal(unlink(live_of(path)), 0);
    tell(ORDER_WRITE);
    take(400); /* it is open here */
    tell(ORDER_EXEC);              /* with a new FILE.live from here on, if there was one */
    tell(ORDER_WRITE);
    tell(ORDER_WRITE);
    take(600);
    tell(ORDER_CLOSE);
    stop(0);
    finish(path, VS_TRACE_COMPLETE);
}

/* The writer reuses its windows while they are read. */
TEST(nothing_is_lost_or_misread_beside_a_writer_that_runs_freely)
{
    for (unsigned round = 0; round < 6; round++) {
        char byte;
        int ready[2];
        snprintf(path, sizeof path, "%s", scratch("free.vst"));
        assert_int_equal(pipe(ready), 0);
        pid_t pid = fork();
        if (!pid) {
            struct vs_recorder *r = open_small();
            uint64_t seed = round;
            if (write(ready[1], "r", 1) != 1)
                _exit(1);
            for (uint64_t n = 1; n <= 60000; n++)
                put(r, n, &seed);
            if (round % 2)
                raise(SIGKILL);
            vs_recorder_end(r, VS_END_EXIT, 0);
            _exit(0);
        }
        close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        follow(path);
        while (!vs_follower_ended(f))
            take(ANY);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        finish(path, round % 2 ? VS_TRACE_LIVE : VS_TRACE_COMPLETE);
    }
}

/* --- a recording whose bytes the test places itself --- */

static struct {
    char path[512];
    pid_t owner; /* holds the recorder's lock */
    int order;
    struct vs_live_header *header; /* of the copied FILE.live */
    size_t bytes;
    unsigned window; /* that has events */
} s;

/* Copies the files of a recording in progress, and has another process lock the copy. */
static void stage(void)
{
    int order[2], answer[2];
    char byte;
    snprintf(s.path, sizeof s.path, "%s", scratch("staged.vst"));
    start("original.vst", 50);
    tell(ORDER_WRITE);
    copy_file(path, s.path);
    copy_file(live_of(path), live_of(s.path));
    free(slurp(live_of(s.path), &s.bytes));
    assert_int_equal(pipe(order) | pipe(answer), 0);
    s.owner = fork();
    if (!s.owner) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET,
                             .l_start = (off_t)1 << 62, .l_len = 1};
        close(order[1]);
        int fd = open(s.path, O_RDWR);
        if (fcntl(fd, F_SETLK, &lock) || write(answer[1], "l", 1) != 1)
            _exit(1);
        (void)!read(order[0], &byte, 1);
        _exit(0);
    }
    close(order[0]);
    s.order = order[1];
    assert_int_equal(read(answer[0], &byte, 1), 1);
    close(answer[0]);
    close(answer[1]);
    int fd = open(live_of(s.path), O_RDWR);
    s.header = mmap(NULL, s.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(s.header != MAP_FAILED);
    s.window = 0;
    while (!s.header->window[s.window].used)
        s.window++;
}

static void unstage(void)
{
    close(s.order);
    if (s.owner)
        assert_int_equal(waitpid(s.owner, NULL, 0), s.owner);
    munmap(s.header, s.bytes);
    stop(SIGKILL);
}

/* Follows the copy, of which 50 events arrive. */
static void follow_staged(void)
{
    stage();
    follow(s.path);
    take(50);
}

static unsigned char *window_bytes(void)
{
    return (unsigned char *)s.header + s.header->header_bytes +
           s.window * s.header->window_bytes;
}

TEST(a_record_that_is_not_whole_yet_is_read_again)
{
    stage();
    uint64_t whole = s.header->window[s.window].used;
    for (uint64_t less = 1; less < 40; less++) {
        s.header->window[s.window].used = whole - less;
        follow(s.path);
        take(ANY);
        size_t before = seen.count;
        assert_true(before < 50);
        take(before);
        s.header->window[s.window].used = whole;
        take(50);
        forget();
    }
    unstage();
}

TEST(a_window_left_incomplete_by_a_dead_process_ends_the_trace)
{
    stage();
    s.header->window[s.window].used -= 1;
    follow(s.path);
    take(ANY);
    assert_false(vs_follower_ended(f));
    close(s.order);
    assert_int_equal(waitpid(s.owner, NULL, 0), s.owner);
    s.owner = 0;
    finish(s.path, VS_TRACE_LIVE);
    s.order = -1;
    unstage();
}

/* The original writes its window to the file; the copy's window is in use for another frame. */
static void replace_by_frame(void)
{
    size_t bytes;
    tell(ORDER_WRITE); /* 50 more, of which the follower has seen none */
    tell(ORDER_FLUSH);
    unsigned char *data = slurp(path, &bytes);
    int fd = open(s.path, O_WRONLY);
    assert_int_equal(pwrite(fd, data, bytes, 0), bytes);
    close(fd);
    free(data);
    s.header->window[s.window].used = 0;
    s.header->window[s.window].sequence += 4;
    memset(window_bytes(), 0xee, s.header->window_bytes);
}

TEST(a_reused_window_continues_in_the_file)
{
    follow_staged();
    replace_by_frame();
    take(100);
    assert_false(vs_follower_ended(f));
    forget();
    unstage();
}

/* The frame after the present one begins before it: it is refused, and the present one stays as it
 * was, whatever its window says from then on. */
TEST(a_refused_next_frame_leaves_the_present_one_as_it_was)
{
    follow_staged();
    unsigned other = s.window ? 0 : 1;
    assert_true(other < s.header->windows);
    uint64_t sequence = s.header->window[other].sequence;
    s.header->window[other].base_ns = 0;
    s.header->window[other].sequence = s.header->window[s.window].sequence + 1;
    s.header->window[other].used = 3;
    take(ANY);
    s.header->window[s.window].used = s.header->window_bytes + 1;
    for (int i = 0; i < 3; i++)
        take(50);
    s.header->window[other].used = 0;
    s.header->window[other].sequence = sequence;
    replace_by_frame();
    take(ANY); /* the bytes of the window are compared */
    assert_int_equal(seen.count, 100);
    forget();
    unstage();
}

/* Columns that go back in time, or of impossible sizes and larger than those before them. */
TEST(a_refused_next_frame_of_the_file_gives_no_events)
{
    for (unsigned inconsistent = 0; inconsistent < 2; inconsistent++) {
        follow_staged();
        replace_by_frame();
        append_columns(s.path, 2, INT64_MAX, 1, 0);
        take(101);
        append_columns(s.path, 3, inconsistent ? INT64_MAX : 0, inconsistent ? 64 << 10 : 3,
                       inconsistent ? 1 << 20 : 0);
        for (int i = 0; i < 3; i++)
            take(101);
        close(s.order);
        assert_int_equal(waitpid(s.owner, NULL, 0), s.owner);
        s.owner = 0;
        finish(s.path, VS_TRACE_DAMAGED);
        s.order = -1;
        unstage();
    }
}

TEST(bytes_that_the_file_has_differently_are_not_taken_for_the_trace)
{
    stage();
    /* the stream of the last event, an allocation; api and stack follow */
    window_bytes()[s.header->window[s.window].used - 3] ^= 1;
    follow(s.path);
    take(50);
    replace_by_frame();
    take_until(VS_ERR_STATE, 50);
    forget();
    unstage();
}

TEST(a_finished_trace_is_read_to_its_end)
{
    start("finished.vst", 100);
    tell(ORDER_WRITE);
    tell(ORDER_CLOSE);
    stop(0);
    follow(path);
    finish(path, VS_TRACE_COMPLETE);
}

int main(void)
{
    if (!THREADS_UNWIND) { /* ThreadSanitizer: the writers are children that start threads */
        puts("skipped: ThreadSanitizer does not support a child that starts threads");
        return 77;
    }
    return vs_run_tests(NULL, NULL);
}
