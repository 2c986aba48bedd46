/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorded PyTorch runs, imported and then put through the recorder again: their size in the file,
 * with every function's name and every allocation's stack; and the cost of packing and reading. Each
 * is recorded twice: with unchanged times, in whole microseconds, and with three random digits added,
 * as from this machine's clock. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bench.h"
#include "analysis/import/import.h"
#include "base/vs_clock.h"
#include "base/vs_text.h"
#include "bench_trace.h"
#include "trace/format/format.h"
#include "trace/read/reader_internal.h"
#include "trace/record/compress.h"
#include "trace/record/pack.h"
#include "trace/record/recorder_internal.h"

#define REPEATS 9

static struct vs_reader *open_trace(const char *path)
{
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX];
    if (vs_reader_open(path, &reader, why)) {
        fprintf(stderr, "bench_trace: %s\n", why);
        exit(1);
    }
    return reader;
}

double bench_read(void)
{
    struct vs_reader *reader = open_trace(bench_path);
    struct vs_event event;
    double start = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t events = 0;
    while (!vs_reader_next(reader, &event))
        events++;
    double took_ns = bench_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    vs_reader_close(reader);
    return (double)events / took_ns * 1e3;
}

struct run {
    char trace[300]; /* of its snapshot */
    uint64_t events; /* recorded of it */
};

static bool import_run(const char *snapshot, const char *trace)
{
    struct vs_import_result result;
    char why[VS_IMPORT_WHY_MAX];
    FILE *in = fopen(snapshot, "rb"), *out = fopen(trace, "wb");
    bool good = in && out && !vs_import(in, out, snapshot, VS_IMPORT_TORCH_SNAPSHOT, 0, &result, why);
    if (in)
        fclose(in);
    if (out)
        good = !fclose(out) && good;
    return good;
}

/* Makes an event of the driver's memory, which has a stream, a context and a call, of a tensor's. */
static bool as_driver_call(struct vs_event *e, uint64_t api)
{
    const struct vs_event_framework_alloc a = e->framework_alloc;
    uint64_t addr = e->framework_free.addr;
    bool alloc = e->kind == VS_EVENT_framework_alloc;
    if (!alloc && e->kind != VS_EVENT_framework_free)
        return false;
    memset(e->fields, 0, sizeof e->fields);
    e->kind = alloc ? VS_EVENT_alloc : VS_EVENT_free;
    if (alloc)
        e->alloc = (struct vs_event_alloc){.addr = a.addr, .requested = a.size, .size = a.size,
                                           .context = 1, .stream = 1, .api = api, .stack = a.stack};
    else
        e->free = (struct vs_event_free){.addr = addr, .stream = 1, .api = api};
    return true;
}

/* Records *run*, whose texts and stacks get the same numbers again; returns the file's size in bytes.
 * The times are in the past of this machine's clock: they are shifted so that the first is now. */
static uint64_t record(struct run *run, unsigned compression, bool digits)
{
    struct vs_reader *reader = open_trace(run->trace);
    const struct vs_reader_table *table = &reader->table;
    struct vs_recorder *r = bench_open(compression, 0, false);
    struct vs_event e;
    size_t texts = 0, nodes = 0;
    uint64_t random = 1, later_ns = 0, api = 0;
    run->events = 0;
    while (!vs_reader_next(reader, &e)) {
        for (; texts < table->string_count; texts++)
            if (vs_recorder_string(r, vs_reader_string(reader, texts + 1), SIZE_MAX) != texts + 1)
                abort();
        vs_recorder_acquire(r);
        for (; nodes < table->node_count; nodes++) {
            const struct vs_stack_node *node = &table->nodes[nodes];
            uint64_t module = node->module == VS_NO_MODULE ? 0 : node->module + 1u;
            if (vs_window_reserve_locked(r, VS_STACK_NODE_BYTES_MAX) &&
                vs_intern_node_locked(r, node->parent, module, node->pc) != nodes + 1)
                abort();
        }
        vs_recorder_release(r);
        later_ns = later_ns ? later_ns : vs_clock_ns() - e.time_ns;
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        e.time_ns += later_ns + (digits ? (random >> 33) % 1000 : 0);
        api = e.kind == VS_EVENT_alloc ? e.alloc.api : api;
        bool tensor = as_driver_call(&e, api);
        if (tensor || e.kind == VS_EVENT_module)
            vs_recorder_event(r, &e);
        run->events += tensor;
    }
    vs_reader_close(reader);
    vs_recorder_close(r, VS_END_EXIT, 0);
    struct stat st;
    return stat(bench_path, &st) ? 0 : (uint64_t)st.st_size;
}

static unsigned char *slurp(size_t *bytes)
{
    FILE *file = fopen(bench_path, "r");
    struct stat st;
    unsigned char *data = NULL;
    if (file && !fstat(fileno(file), &st) && (data = malloc((size_t)st.st_size)))
        *bytes = fread(data, 1, (size_t)st.st_size, file);
    if (file)
        fclose(file);
    return data;
}

struct pace {
    double raw, packed, seconds;
};

/* Every frame of a stored trace, packed. */
static void pack_frames(struct vs_packer *packer, const unsigned char *file, size_t bytes,
                        bool hurried, struct pace *pace)
{
    unsigned char *out = malloc(vs_packer_bound(VS_FRAME_RAW_MAX));
    struct vs_frame_header h;
    for (size_t at = sizeof(struct vs_file_header); out && at + sizeof h < bytes;) {
        memcpy(&h, file + at, sizeof h);
        if (h.sync != VS_FRAME_SYNC)
            break;
        unsigned codec;
        double start = bench_ns(CLOCK_THREAD_CPUTIME_ID);
        size_t n = vs_packer_pack(packer, file + at + h.header_bytes, h.raw_bytes, hurried, out,
                                  &codec);
        pace->seconds += (bench_ns(CLOCK_THREAD_CPUTIME_ID) - start) / 1e9;
        pace->raw += h.raw_bytes;
        pace->packed += (double)n;
        at += h.header_bytes + (size_t)h.stored_bytes;
    }
    free(out);
}

/* By CPU time: other programs may use the other processor. */
static void report_packing(struct run *runs, int count)
{
    vs_compress_load();
    struct vs_packer *packer = vs_packer_open(VS_FRAME_RAW_MAX, 1);
    struct pace columns = {0}, rows = {0};
    for (int i = 0; packer && i < count; i++) {
        size_t bytes = 0;
        record(&runs[i], 0, true);
        unsigned char *file = slurp(&bytes);
        for (int repeat = 0; file && repeat < REPEATS; repeat++) {
            pack_frames(packer, file, bytes, false, &columns);
            pack_frames(packer, file, bytes, true, &rows);
        }
        free(file);
    }
    vs_packer_close(packer);
    printf("packing, of processor time\n"
           "  %-44s %8.0f MB/s of rows, to %4.1f %%\n  %-44s %8.0f MB/s of rows, to %4.1f %%\n",
           "columns, zstd 1", columns.raw / columns.seconds / 1e6,
           100 * columns.packed / columns.raw, "rows, zstd 1 (when windows queue up)",
           rows.raw / rows.seconds / 1e6, 100 * rows.packed / rows.raw);
}

bool bench_snapshots(char **paths, int count, double limit)
{
    static struct run runs[64];
    double bytes = 0, bytes_digits = 0, events = 0;
    int n = 0, largest = 0;
    if (!count) {
        printf("no recorded runs given: sizes, packing and reading are left out\n");
        return true;
    }
    printf("bytes an event in the file, names and stacks included\n  %-44s %8s %8s %8s\n", "",
           "events", "us", "ns");
    for (int i = 0; i < count && n < 64; i++, n++) {
        snprintf(runs[n].trace, sizeof runs[n].trace, "%s.%d", bench_path, n);
        if (!import_run(paths[i], runs[n].trace)) {
            fprintf(stderr, "bench_trace: %s cannot be read\n", paths[i]);
            return false;
        }
        double plain = (double)record(&runs[n], 1, false);
        double digits = (double)record(&runs[n], 1, true);
        double number = (double)runs[n].events;
        printf("  %-44s %8.0f %8.2f %8.2f\n", vs_text_base_name(paths[i]), number, plain / number,
               digits / number);
        bytes += plain;
        bytes_digits += digits;
        events += number;
        if (runs[n].events > runs[largest].events)
            largest = n;
    }
    printf("  %-44s %8.0f %8.2f %8.2f\n", "all", events, bytes / events, bytes_digits / events);
    if (!(limit > 0)) {
        report_packing(runs, n);
        /* The largest of them, repeated several times in one trace. */
        static const char *const names[] = {"stored", "columns"};
        printf("reading, of processor time, median of %d\n", REPEATS);
        for (unsigned compression = 0; compression < 2; compression++) {
            double paces[REPEATS];
            record(&runs[largest], compression, true);
            for (int i = 0; i < REPEATS; i++)
                paces[i] = bench_read();
            printf("  %-44s %8.1f M events/s\n", names[compression], bench_median(paces, REPEATS));
        }
    }
    for (int i = 0; i < n; i++)
        unlink(runs[i].trace);
    return !(limit > 0) || (bytes <= limit * events && bytes_digits <= limit * events);
}
