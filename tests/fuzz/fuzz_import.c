/* SPDX-License-Identifier: Apache-2.0
 *
 * vramscope import on any bytes. Input: a byte that selects the format, the rest is the file; of a heap profile its
 * contents, which are compressed here. What is accepted must be a complete trace, and what is refused has a reason.
 * SQLite reads a file with a name only. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "analysis/import/import.h"
#include "analysis/import/pickle.h"
#include "fuzz/check.h"
#include "trace/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_trace(int fd, const struct vs_import_result *result)
{
    struct vs_reader *reader;
    char path[64], why[VS_READER_WHY_MAX];
    uint64_t events = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check(vs_reader_open(path, &reader, why) == VS_OK);
    for (struct vs_event event; vs_reader_next(reader, &event) == VS_OK;)
        events++;
    check(vs_reader_condition(reader, why) == VS_TRACE_COMPLETE && events == result->events);
    vs_reader_close(reader);
}

static void check_memory(const uint8_t *file, size_t size)
{
    struct vs_pickle pickle;
    char why[VS_PICKLE_WHY_MAX];
    FILE *in = fmemopen((void *)(uintptr_t)file, size, "rb");
    check(in != NULL);
    check((vs_pickle_read(in, &pickle, why) == VS_OK) == !*why);
    check(pickle.arena.bytes_mapped <= VS_PICKLE_EXPANSION * size + ((size_t)512 << 10));
    vs_pickle_free(&pickle);
    fclose(in);
}

static uint8_t *compressed(const uint8_t *bytes, size_t size, size_t *packed_size)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)bytes, .avail_in = (unsigned)size};
    uint8_t *packed = malloc(size + 4096);
    check(packed && deflateInit2(&z, Z_NO_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_out = packed;
    z.avail_out = (unsigned)size + 4096;
    check(deflate(&z, Z_FINISH) == Z_STREAM_END);
    *packed_size = z.total_out;
    deflateEnd(&z);
    return packed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_import_result result;
    char why[VS_IMPORT_WHY_MAX];
    if (size < 2)
        return 0;
    unsigned format = data[0] % 5;
    size_t file_size = size - 1;
    uint8_t *packed = format == VS_IMPORT_PPROF ? compressed(data + 1, size - 1, &file_size) : NULL;
    bool database = format == VS_IMPORT_NSYS_SQLITE || (format == VS_IMPORT_AUTO && data[1] == 'S');
    char name[] = P_tmpdir "/vramscope-fuzz-XXXXXX";
    FILE *in = database ? fdopen(mkstemp(name), "w+b")
                        : fmemopen(packed ? packed : (void *)(uintptr_t)(data + 1), file_size, "rb");
    if (in && database)
        check(fwrite(data + 1, 1, size - 1, in) == size - 1 && fflush(in) == 0 && fseek(in, 0, SEEK_SET) == 0);
    int fd = memfd_create("trace", 0);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
    check(in && out);
    enum vs_err err = vs_import(in, out, "file", (enum vs_import_format)format, 0, &result, why);
    check(fflush(out) == 0);
    if (err)
        check(*why || err == VS_ERR_NOMEM);
    else
        check_trace(fd, &result);
    fclose(in);
    fclose(out);
    free(packed);
    if (database)
        unlink(name);
    check_memory(data + 1, size - 1);
    return 0;
}
