/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorded PyTorch runs through the recorder: their size in the file, with every function's name
 * and every stack; and the cost of packing and reading. Each is recorded twice: with unchanged
 * times, in whole microseconds, and with three random digits added, as from this machine's clock.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../bench.h"
#include "base/vs_text.h"
#include "bench_trace.h"
#include "snapshot_feed.h"
#include "trace/format/format.h"
#include "trace/read/reader.h"
#include "trace/record/compress.h"
#include "trace/record/pack.h"

#define REPEATS 9

double bench_read(void)
{
    struct vs_reader *reader = NULL;
    struct vs_event event;
    char why[VS_READER_WHY_MAX];
    if (vs_reader_open(bench_path, &reader, why)) {
        fprintf(stderr, "bench_trace: %s\n", why);
        exit(1);
    }
    double start = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t events = 0;
    while (!vs_reader_next(reader, &event))
        events++;
    double took_ns = bench_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    vs_reader_close(reader);
    return (double)events / took_ns * 1e3;
}

/* Records *s*; returns the file's size in bytes. */
static uint64_t record(struct vs_snapshot *s, unsigned compression, bool digits)
{
    struct stat st;
    struct vs_recorder *r = bench_open(compression, 0, false);
    vs_snapshot_feed(s, r, digits);
    vs_recorder_close(r, VS_END_EXIT, 0);
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
static void report_packing(struct vs_snapshot **snapshots, int count)
{
    vs_compress_load();
    struct vs_packer *packer = vs_packer_open(VS_FRAME_RAW_MAX, 1);
    struct pace columns = {0}, rows = {0};
    for (int i = 0; packer && i < count; i++) {
        size_t bytes = 0;
        record(snapshots[i], 0, true);
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

/* The largest of them, repeated several times in one trace. */
static void report_reading(struct vs_snapshot *s)
{
    static const char *const names[] = {"stored", "columns"};
    printf("reading, of processor time, median of %d\n", REPEATS);
    for (unsigned compression = 0; compression < 2; compression++) {
        double paces[REPEATS];
        record(s, compression, true);
        for (int i = 0; i < REPEATS; i++)
            paces[i] = bench_read();
        printf("  %-44s %8.1f M events/s\n", names[compression], bench_median(paces, REPEATS));
    }
}

bool bench_snapshots(char **paths, int count, double limit)
{
    struct vs_snapshot *snapshots[64];
    double bytes = 0, bytes_digits = 0, events = 0, most = 0;
    int n = 0, largest = 0;
    if (!count) {
        printf("no recorded runs given: sizes, packing and reading are left out\n");
        return true;
    }
    printf("bytes an event in the file, names and stacks included\n  %-44s %8s %8s %8s\n", "",
           "events", "us", "ns");
    for (int i = 0; i < count && n < 64; i++) {
        struct vs_snapshot *s = snapshots[n] = vs_snapshot_load(paths[i]);
        if (!s) {
            fprintf(stderr, "bench_trace: %s cannot be read\n", paths[i]);
            return false;
        }
        double number = (double)vs_snapshot_events(s);
        double plain = (double)record(s, 1, false), digits = (double)record(s, 1, true);
        printf("  %-44s %8.0f %8.2f %8.2f\n", vs_text_base_name(paths[i]), number, plain / number,
               digits / number);
        bytes += plain;
        bytes_digits += digits;
        events += number;
        if (number > most) {
            most = number;
            largest = n;
        }
        n++;
    }
    printf("  %-44s %8.0f %8.2f %8.2f\n", "all", events, bytes / events, bytes_digits / events);
    if (!(limit > 0)) {
        report_packing(snapshots, n);
        report_reading(snapshots[largest]);
    }
    for (int i = 0; i < n; i++)
        vs_snapshot_free(snapshots[i]);
    return !(limit > 0) || (bytes <= limit * events && bytes_digits <= limit * events);
}
