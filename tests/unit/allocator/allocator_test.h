/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the allocator's tests: an allocator on a fake device that is checked after every step,
 * and an event log. */
#ifndef ALLOCATOR_TEST_H
#define ALLOCATOR_TEST_H

#include <stdio.h>

#include "support/cmocka_test.h"
#include "allocator/core/allocator.h"
#include "support/fake_device.h"

#define LOG_MAX 256
struct fixture {
    struct fake_device device;
    struct vs_allocator *allocator;
    struct vs_allocator_event events[LOG_MAX];
    size_t event_count;
};

static inline void fixture_log(void *ctx, const struct vs_allocator_event *event)
{
    struct fixture *f = ctx;
    if (f->event_count < LOG_MAX)
        f->events[f->event_count++] = *event;
}

static inline void fixture_start(struct fixture *f, const struct vs_allocator_config *config,
                                 uint64_t capacity)
{
    static const struct vs_event_sink sink = {.event = fixture_log};
    memset(f, 0, sizeof *f);
    fake_device_init(&f->device, capacity);
    assert_int_equal(
        vs_allocator_create(config, &fake_device_ops, &f->device, &sink, f, &f->allocator), VS_OK);
}

/* Ends an allocator that was abandoned: what it held of the device stays. */
static inline void fixture_destroy(struct fixture *f)
{
    vs_allocator_destroy(f->allocator);
    fake_device_free(&f->device);
    f->allocator = NULL;
}

static inline void fixture_stop(struct fixture *f)
{
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
    vs_allocator_destroy(f->allocator);
    assert_int_equal(f->device.segment_count, 0);
    assert_int_equal(f->device.events_held, 0);
    assert_int_equal(f->device.memory.range_count, 0);
    assert_int_equal(f->device.memory.mapping_count, 0);
    if (f->device.memory.next_range)
        assert_int_equal(f->device.used, 0); /* no handle was leaked */
    fake_device_free(&f->device);
    f->allocator = NULL;
}

/* A request that must succeed. */
static inline struct vs_allocation take_on(struct fixture *f, uint64_t bytes, uint64_t stream)
{
    struct vs_allocation got;
    assert_int_equal(vs_allocator_malloc(f->allocator, bytes, stream, &got), VS_OK);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
    return got;
}

static inline uint64_t take(struct fixture *f, uint64_t bytes)
{
    return take_on(f, bytes, 0).addr;
}

/* A request that must fail with *want*. */
static inline void refuse(struct fixture *f, uint64_t bytes, enum vs_err want)
{
    struct vs_allocation got = {.addr = 1, .requested = 2, .size = 3};
    assert_int_equal(vs_allocator_malloc(f->allocator, bytes, 0, &got), want);
    assert_int_equal(got.addr, 1); /* unwritten */
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
}

static inline void give(struct fixture *f, uint64_t addr)
{
    assert_int_equal(vs_allocator_free(f->allocator, addr), VS_OK);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
}

/* The same without the check after each step, which would take too long. */
static inline uint64_t take_unchecked(struct fixture *f, uint64_t bytes, uint64_t stream)
{
    struct vs_allocation got;
    assert_int_equal(vs_allocator_malloc(f->allocator, bytes, stream, &got), VS_OK);
    return got.addr;
}

static inline void give_unchecked(struct fixture *f, uint64_t addr)
{
    assert_int_equal(vs_allocator_free(f->allocator, addr), VS_OK);
}

static inline struct vs_allocator_stats stats_of(struct fixture *f)
{
    struct vs_allocator_stats stats;
    vs_allocator_stats(f->allocator, &stats);
    return stats;
}

static inline uint64_t empty(struct fixture *f)
{
    uint64_t released = 0;
    assert_int_equal(vs_allocator_empty_cache(f->allocator, &released), VS_OK);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
    return released;
}

static inline uint64_t reserved(struct fixture *f)
{
    return stats_of(f).reserved_bytes[VS_STAT_ALL].current;
}

#define assert_stat(stat, current_, peak_, allocated_, freed_)  \
    do {                                                        \
        struct vs_stat stat_ = (stat);                          \
        assert_int_equal(stat_.current, (current_));            \
        assert_int_equal(stat_.peak, (peak_));                  \
        assert_int_equal(stat_.allocated, (allocated_));        \
        assert_int_equal(stat_.freed, (freed_));                \
    } while (0)

/* The test's own; `stop_fixture` after each test stops it if it runs. */
static struct fixture f;

AFTER(stop_fixture)
{
    f.device.on_sync = NULL; /* its argument may be a variable of the test */
    if (f.allocator)
        fixture_stop(&f);
    return 0;
}

static const struct vs_allocator_config pytorch_config = {.reuse = VS_REUSE_STREAM_ORDERED};
static const struct vs_allocator_config after_sync_config = {.reuse = VS_REUSE_AFTER_SYNC};

/* A call of the allocator of *f*, the fixture, that must succeed, or must return *err*. */
#define ok(call)                                                      \
    do {                                                              \
        assert_int_equal((call), VS_OK);                              \
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);     \
    } while (0)

#define fails(call, err)                                              \
    do {                                                              \
        assert_int_equal((call), (err));                              \
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);     \
    } while (0)

/* --- what a program does, as text --- */

enum { NAMES_MAX = 24 };
static struct {
    char name[16];
    uint64_t value;
} names[NAMES_MAX]; /* of addresses, tickets and figures */

static inline struct vs_pool_id pool_of(const char *name)
{
    return strcmp(name, "one") == 0 ? (struct vs_pool_id){0, 1} : (struct vs_pool_id){7, 0};
}

static inline uint64_t *place_of(const char *name, size_t length)
{
    size_t i = 0;
    while (i < NAMES_MAX && *names[i].name &&
           (strlen(names[i].name) != length || strncmp(names[i].name, name, length) != 0))
        i++;
    assert_true(i < NAMES_MAX && length < sizeof names[0].name);
    memcpy(names[i].name, name, length);
    return &names[i].value;
}

/* What `play` called so. */
static inline uint64_t named(const char *name)
{
    return *place_of(name, strlen(name));
}

/* A sum of sizes (20M-512) and of names (a+4M). */
static inline uint64_t value_of(const char *text)
{
    uint64_t sum = 0;
    for (int sign = 1; *text; text += *text == '+') {
        char *end;
        uint64_t term = strtoull(text, &end, 10);
        if (end == text) {
            end += strcspn(end, "+-");
            term = *place_of(text, (size_t)(end - text));
        }
        for (const char *unit = "KMG"; *end && *unit; unit++)
            term *= strchr(unit, *end) ? 1024 : 1;
        text = end + (*end && strchr("KMG", *end));
        sum = sign > 0 ? sum + term : sum - term;
        sign = *text == '-' ? -1 : 1;
        text += *text == '-';
    }
    return sum;
}

/* A figure of the device or of the statistics. */
static inline uint64_t figure_of(const char *name)
{
    static const struct {
        const char *name;
        size_t at;
    } of_fixture[] = {
#define FIGURE(figure) {#figure, offsetof(struct fixture, device.figure)}
        FIGURE(allocs), FIGURE(frees), FIGURE(syncs), FIGURE(event_waits), FIGURE(creates), FIGURE(maps),
        FIGURE(unmaps), FIGURE(stream_syncs), FIGURE(used), FIGURE(events_held), FIGURE(segment_count),
        {"ranges", offsetof(struct fixture, device.memory.range_count)}, {"event_count", offsetof(struct fixture, event_count)},
#undef FIGURE
    }, of_stats[] = {
#define FIGURE(figure) {#figure, offsetof(struct vs_allocator_stats, figure)}
#define NOW(figure) {#figure, offsetof(struct vs_allocator_stats, figure[VS_STAT_ALL].current)}
        FIGURE(num_ooms), FIGURE(num_alloc_retries), FIGURE(num_sync_all_streams), FIGURE(num_reuse_syncs),
        FIGURE(num_device_alloc), FIGURE(num_device_free), NOW(allocation), NOW(allocated_bytes),
        NOW(requested_bytes), NOW(active), NOW(active_bytes), NOW(inactive_split),
        NOW(inactive_split_bytes),
        {"reserved", offsetof(struct vs_allocator_stats, reserved_bytes[VS_STAT_ALL].current)},
#undef NOW
#undef FIGURE
    };
    struct vs_allocator_stats stats = stats_of(&f);
    if (strcmp(name, "cached_bytes") == 0)
        return vs_allocator_cached_bytes(f.allocator);
    for (size_t i = 0; i < sizeof of_fixture / sizeof *of_fixture; i++)
        if (strcmp(of_fixture[i].name, name) == 0)
            return *(const uint64_t *)((const char *)&f + of_fixture[i].at);
    for (size_t i = 0; i < sizeof of_stats / sizeof *of_stats; i++)
        if (strcmp(of_stats[i].name, name) == 0)
            return *(const uint64_t *)((const char *)&stats + of_stats[i].at);
    fail_msg("no figure is called %s", name);
    return 0;
}

static inline enum vs_err error_of(const char *name)
{
    static const struct {
        const char *name;
        enum vs_err err;
    } errors[] = {{"", VS_OK}, {"ok", VS_OK}, {"oom", VS_ERR_DEVICE_OOM}, {"device", VS_ERR_DEVICE}, {"state", VS_ERR_STATE},
                  {"foreign", VS_ERR_FOREIGN}, {"arg", VS_ERR_ARG}, {"absent", VS_ERR_NOT_FOUND}};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].err;
    fail_msg("no error is called %s", name);
    return VS_OK;
}

/* play: statements on the allocator of *f*, separated by `;`. Each call must succeed.
 *
 *     NAME = SIZE [on STREAM] [at ADDRESS | not ADDRESS]   takes a block, at an address or not there
 *     take SIZE ...              likewise, without a name
 *     punch SIZE COUNT           takes blocks a0, a1, ... and frees every second one from a0 on
 *     free ADDRESS [ERROR] | use ADDRESS STREAM [ERROR]
 *     done STREAM COUNT          the first COUNT events of the stream are complete
 *     refuse SIZE ERROR          a request that fails
 *     empty [SIZE]               the cache is emptied, of so many bytes
 *     kept ERROR                 it cannot be emptied, of no byte
 *     begin POOL [ERROR] | end POOL [ERROR] | release POOL [ERROR]    one or two
 *     sync | NAME = ticket | ended NAME     the program synchronises; in two parts
 *     fail OPERATION ERROR       of the device from now on
 *     forget                     the events of the allocator so far
 *     event N KIND ADDRESS SIZE  what the allocator reported, from 0
 *     NAME is ADDRESS | NAME isnt ADDRESS
 *     NAME = FIGURE | FIGURE VALUE       what figure_of says now; recorded STREAM COUNT: events of a stream */
static inline void play_one(const char *line, char word[6][24])
{
    const char *verb = word[0];
    bool given = strcmp(word[1], "=") == 0;
    if (strcmp(verb, "take") == 0 || (given && *word[2] >= '0' && *word[2] <= '9')) {
        char(*rest)[24] = &word[given ? 2 : 1];
        uint64_t stream = strcmp(rest[1], "on") == 0 ? value_of(rest[2]) : 0;
        uint64_t addr = take_on(&f, value_of(rest[0]), stream).addr;
        rest += strcmp(rest[1], "on") == 0 ? 3 : 1;
        if (rest < word + 5 && *rest[0] && (addr == value_of(rest[1])) != (strcmp(rest[0], "at") == 0))
            fail_msg("%s: 0x%llx", line, (unsigned long long)addr);
        if (given)
            *place_of(verb, strlen(verb)) = addr;
    } else if (given) {
        *place_of(verb, strlen(verb)) =
            strcmp(word[2], "ticket") == 0 ? vs_allocator_sync_begin(f.allocator) : figure_of(word[2]);
    } else if (strcmp(word[1], "is") == 0) {
        assert_int_equal(named(verb), value_of(word[2]));
    } else if (strcmp(word[1], "isnt") == 0) {
        assert_int_not_equal(named(verb), value_of(word[2]));
    } else if (strcmp(verb, "punch") == 0) {
        uint64_t count = value_of(word[2]);
        char name[16];
        for (uint64_t i = 0; i < 2 * count; i++) {
            uint64_t *addr = place_of(name, (size_t)snprintf(name, sizeof name, "a%u", (unsigned)(i % count)));
            if (i < count)
                *addr = take(&f, value_of(word[1]));
            else if (i % 2 == count % 2)
                give(&f, *addr);
        }
    } else if (strcmp(verb, "free") == 0) {
        fails(vs_allocator_free(f.allocator, value_of(word[1])), error_of(word[2]));
    } else if (strcmp(verb, "use") == 0) {
        fails(vs_allocator_record_stream(f.allocator, value_of(word[1]), value_of(word[2])), error_of(word[3]));
    } else if (strcmp(verb, "done") == 0) {
        fake_device_complete(&f.device, value_of(word[1]), value_of(word[2]));
    } else if (strcmp(verb, "refuse") == 0) {
        refuse(&f, value_of(word[1]), error_of(word[2]));
    } else if (strcmp(verb, "empty") == 0) {
        uint64_t released = empty(&f);
        if (*word[1])
            assert_int_equal(released, value_of(word[1]));
    } else if (strcmp(verb, "kept") == 0) {
        uint64_t released = 1;
        fails(vs_allocator_empty_cache(f.allocator, &released), error_of(word[1]));
        assert_int_equal(released, 0);
    } else if (strcmp(verb, "sync") == 0) {
        vs_allocator_sync_end(f.allocator, vs_allocator_sync_begin(f.allocator));
    } else if (strcmp(verb, "ended") == 0) {
        vs_allocator_sync_end(f.allocator, value_of(word[1]));
    } else if (strcmp(verb, "fail") == 0) {
#define OPERATION(name) {#name, &f.device.fail_##name}
        const struct {
            const char *name;
            enum vs_err *err;
        } operations[] = {OPERATION(alloc), OPERATION(free), OPERATION(sync), OPERATION(record), OPERATION(query),
                          OPERATION(create), OPERATION(map), OPERATION(unmap)};
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
            if (strcmp(operations[i].name, word[1]) == 0)
                *operations[i].err = error_of(word[2]);
    } else if (strcmp(verb, "forget") == 0) {
        f.event_count = 0;
    } else if (strcmp(verb, "event") == 0) {
        static const char *const kinds[] = {
            [VS_ALLOCATOR_SEGMENT_ALLOC] = "segment_alloc", [VS_ALLOCATOR_SEGMENT_FREE] = "segment_free",
            [VS_ALLOCATOR_ALLOC] = "alloc",                 [VS_ALLOCATOR_FREE] = "free",
            [VS_ALLOCATOR_SEGMENT_MAP] = "segment_map",     [VS_ALLOCATOR_SEGMENT_UNMAP] = "segment_unmap",
            [VS_ALLOCATOR_OOM] = "oom"};
        const struct vs_allocator_event *event = &f.events[value_of(word[1])];
        assert_true(value_of(word[1]) < f.event_count);
        assert_string_equal(kinds[event->kind], word[2]);
        assert_int_equal(event->addr, value_of(word[3]));
        assert_int_equal(event->size, value_of(word[4]));
    } else if (strcmp(verb, "recorded") == 0) {
        assert_int_equal(f.device.recorded[value_of(word[1])], value_of(word[2]));
    } else if (strcmp(verb, "begin") == 0) {
        fails(vs_allocator_pool_begin(f.allocator, pool_of(word[1]), NULL, NULL), error_of(word[2]));
    } else if (strcmp(verb, "end") == 0) {
        fails(vs_allocator_pool_end(f.allocator, pool_of(word[1])), error_of(word[2]));
    } else if (strcmp(verb, "release") == 0) {
        fails(vs_allocator_pool_release(f.allocator, pool_of(word[1])), error_of(word[2]));
    } else if (figure_of(verb) != value_of(word[1])) {
        fail_msg("%s: it is %llu", line, (unsigned long long)figure_of(verb));
    }
}

static inline void play(const char *text)
{
    while (*(text += strspn(text, "; "))) {
        char line[128], word[6][24] = {{0}};
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, ";"), text);
        text += strlen(line);
        sscanf(line, "%23s %23s %23s %23s %23s %23s", word[0], word[1], word[2], word[3], word[4], word[5]);
        play_one(line, word);
    }
}

static inline void play_with(const struct vs_allocator_config *config, uint64_t capacity, const char *text)
{
    fixture_start(&f, config, capacity);
    play(text);
}

/* A test that is only what a program does. */
struct program {
    const char *name;
    const struct vs_allocator_config *config;
    uint64_t capacity;
    const char *text;
};

static inline void play_program(const struct program *program)
{
    play_with(program->config, program->capacity, program->text);
}

#endif
