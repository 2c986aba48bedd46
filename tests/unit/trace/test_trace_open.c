/* SPDX-License-Identifier: Apache-2.0
 *
 * One clear line for each kind of file that is not a trace. */
#include "unit/trace/trace_test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/format/format.h"

static void assert_refused(const char *path, enum vs_err expected, const char *part)
{
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX] = "";
    assert_int_equal(vs_reader_open(path, &reader, why), expected);
    assert_null(reader);
    assert_memory_equal(why, path, strlen(path));
    assert_null(strchr(why, '\n'));
    if (!strstr(why, part))
        fail_msg("\"%s\" does not say \"%s\"", why, part);
    assert_int_equal(vs_reader_open(path, &reader, NULL), expected);
}

static void assert_bytes_refused(const void *bytes, size_t n, enum vs_err expected,
                                 const char *part)
{
    const char *path = scratch("what.bin");
    spit(path, bytes, n);
    assert_refused(path, expected, part);
}

TEST(files_that_are_not_there_or_not_files)
{
    assert_refused(scratch("missing.vst"), VS_ERR_IO, "no such file");
    assert_refused(scratch_dir, VS_ERR_IO, "is a directory");
    assert_refused("/dev/null", VS_ERR_IO, "not a regular file");
    const char *path = scratch("fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, VS_ERR_IO, "not a regular file");
}

TEST(a_file_without_permission)
{
    if (!geteuid())
        skip(); /* root may read every file */
    const char *path = scratch("secret.vst");
    spit(path, "x", 1);
    chmod(path, 0);
    assert_refused(path, VS_ERR_IO, "no permission");
}

TEST(files_of_other_kinds_are_named)
{
    assert_bytes_refused("", 0, VS_ERR_FORMAT,
                         "is empty: its program was probably killed before the first write");
    assert_bytes_refused("hello world\n", 12, VS_ERR_FORMAT, "a text file");
    assert_bytes_refused("  {\"a\": 1}", 10, VS_ERR_FORMAT, "JSON");
    assert_bytes_refused("[1]", 3, VS_ERR_FORMAT, "JSON");
    assert_bytes_refused("\x1f\x8b\x08\x00", 4, VS_ERR_FORMAT, "gunzip");
    assert_bytes_refused("\x28\xb5\x2f\xfd", 4, VS_ERR_FORMAT, "zstd -d");
    assert_bytes_refused("\x80\x04\x95\x00", 4, VS_ERR_FORMAT, "Python pickle");
    assert_bytes_refused("PK\x03\x04", 4, VS_ERR_FORMAT, "zip");
    assert_bytes_refused("\x7f" "ELF\x02", 5, VS_ERR_FORMAT, "vramscope run");
    assert_bytes_refused("SQLite format 3\0", 16, VS_ERR_FORMAT, "SQLite");
    assert_bytes_refused("\x00\x01\x02\x03", 4, VS_ERR_FORMAT, "is not a vramscope trace");
}

TEST(the_live_window_is_not_the_trace)
{
    struct vs_recorder *r = open_recorder(scratch("t.vst"), 1, 0);
    assert_refused(scratch("t.vst.live"), VS_ERR_FORMAT, "without .live");
    vs_recorder_close(r, VS_END_EXIT, 0);
}

static struct vs_file_header good_header(void)
{
    struct vs_file_header h = {.magic = VS_FILE_MAGIC,
                               .major = VS_FORMAT_MAJOR,
                               .byte_order = VS_BYTE_ORDER,
                               .header_bytes = sizeof h};
    return h;
}

static void assert_header(struct vs_file_header *h, enum vs_err expected, const char *part)
{
    h->checksum = XXH64(h, offsetof(struct vs_file_header, checksum), 0);
    assert_bytes_refused(h, sizeof *h, expected, part);
}

TEST(headers_of_other_versions_and_machines)
{
    struct vs_file_header h = good_header();
    h.major = 7;
    assert_header(&h, VS_ERR_VERSION, "trace format 7.0");
    h = good_header();
    h.byte_order = 0x04030201;
    assert_header(&h, VS_ERR_VERSION, "big-endian");
    h = good_header();
    h.byte_order = 5;
    assert_header(&h, VS_ERR_CORRUPT, "header is damaged");
    h = good_header();
    h.header_bytes = 8;
    assert_header(&h, VS_ERR_CORRUPT, "header is damaged");
    h = good_header();
    h.checksum = 1;
    assert_bytes_refused(&h, sizeof h, VS_ERR_CORRUPT, "header is damaged");
    assert_bytes_refused(&h, 12, VS_ERR_CORRUPT, "cut off after 12 bytes");
}

TEST(a_header_alone_is_an_empty_trace_that_was_cut_off)
{
    struct vs_file_header h = good_header();
    h.minor = 9; /* later minor versions only add fields */
    h.checksum = XXH64(&h, offsetof(struct vs_file_header, checksum), 0);
    const char *path = scratch("bare.vst");
    spit(path, &h, sizeof h);
    struct vs_reader *reader = open_reader(path);
    struct vs_event got;
    assert_int_equal(vs_reader_next(reader, &got), VS_ERR_END);
    close_reader(reader, VS_TRACE_TRUNCATED);
}
