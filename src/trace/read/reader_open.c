/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a trace, with FILE.live where it is needed, and reports why a file is not a trace. */
#define _GNU_SOURCE
#include "trace/read/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/reading/vs_xalloc.h"
#include "trace/read/reader_internal.h"

/* Limits of the tables' memory: this much, and this many times the bytes read (a stack node is 6
 * bytes before compression and 32 in memory). */
#define BUDGET_BASE ((uint64_t)48 << 20)
#define BUDGET_FACTOR 32u
#define SNIFF_BYTES 512u
/* a trace that is finished or recovered while it is being opened is opened again */
#define OPENINGS_MAX 4u

#define TO_RECORD "; record a trace with: vramscope run -o FILE.vst -- PROGRAM"
#define OR_RECORD ", or record a trace with: vramscope run -o FILE.vst -- PROGRAM"

static void say(char *why, const char *fmt, ...) VS_PRINTF(2, 3);
static void say(char *why, const char *fmt, ...)
{
    if (!why)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, VS_READER_WHY_MAX, fmt, ap);
    va_end(ap);
}

static bool is_text(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] < 0x20 && p[i] != '\n' && p[i] != '\r' && p[i] != '\t' && p[i] != '\f')
            return false;
        if (p[i] == 0x7f)
            return false;
    }
    return n > 0;
}

static void explain_not_a_trace(const struct vs_reader *r, char *why)
{
    unsigned char p[SNIFF_BYTES];
    size_t n = vs_source_read(&r->file, 0, p, sizeof p), i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\t' || p[i] == '\r'))
        i++;
    if (n >= 8 && !memcmp(p, VS_LIVE_MAGIC, 8))
        say(why, "%s is the .live file of a trace, not the trace; give the file without .live",
            r->path);
    else if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b)
        say(why, "%s is not a vramscope trace but a gzip file; unpack it first (gunzip)", r->path);
    else if (n >= 4 && !memcmp(p, "\x28\xb5\x2f\xfd", 4))
        say(why, "%s is not a vramscope trace but a zstd file; unpack it first (zstd -d)", r->path);
    else if (n >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5)
        say(why,
            "%s is not a vramscope trace but a Python pickle (a PyTorch memory snapshot?); record "
            "a trace with: vramscope run -o FILE.vst -- PROGRAM",
            r->path);
    else if (n >= 4 && !memcmp(p, "PK\x03\x04", 4))
        say(why, "%s is not a vramscope trace but a zip file; unpack it first", r->path);
    else if (n >= 16 && !memcmp(p, "SQLite format 3", 16))
        say(why, "%s is not a vramscope trace but an SQLite database" TO_RECORD, r->path);
    else if (n >= 4 && !memcmp(p, "\x7f" "ELF", 4))
        say(why,
            "%s is not a vramscope trace but a program; record it with: vramscope run -o FILE.vst "
            "-- %s",
            r->path, r->path);
    else if (i < n && (p[i] == '{' || p[i] == '['))
        say(why,
            "%s is not a vramscope trace but looks like JSON; give the .vst file it was made from",
            r->path);
    else if (is_text(p, n))
        say(why, "%s is not a vramscope trace but a text file" TO_RECORD, r->path);
    else
        say(why, "%s is not a vramscope trace" TO_RECORD, r->path);
}

static enum vs_err read_header(struct vs_reader *r, char *why)
{
    struct vs_file_header *h = &r->header;
    size_t got = vs_source_read(&r->file, 0, h, sizeof *h);
    if (!r->file.size) {
        say(why, "%s is empty: its program was probably killed before the first write; record it "
                 "again", r->path);
        return VS_ERR_FORMAT;
    }
    if (memcmp(h->magic, VS_FILE_MAGIC, got < VS_MAGIC_BYTES ? got : VS_MAGIC_BYTES)) {
        explain_not_a_trace(r, why);
        return VS_ERR_FORMAT;
    }
    if (got < sizeof *h) {
        say(why, "%s is cut off after %zu bytes, inside the file header; nothing can be recovered",
            r->path, got);
        return VS_ERR_CORRUPT;
    }
    if (h->byte_order == __builtin_bswap32(VS_BYTE_ORDER)) {
        say(why, "%s was written on a big-endian machine, which this vramscope cannot read",
            r->path);
        return VS_ERR_VERSION;
    }
    if (h->checksum != XXH64(h, offsetof(struct vs_file_header, checksum), 0) ||
        h->byte_order != VS_BYTE_ORDER || h->header_bytes < sizeof *h) {
        say(why, "%s: the file header is damaged; nothing can be recovered", r->path);
        return VS_ERR_CORRUPT;
    }
    if (h->major > VS_FORMAT_MAJOR) {
        say(why,
            "%s is in trace format %u.%u and this vramscope reads up to %u; use a newer vramscope",
            r->path, h->major, h->minor, VS_FORMAT_MAJOR);
        return VS_ERR_VERSION;
    }
    return VS_OK;
}

static struct vs_reader *make(const char *path)
{
    struct vs_reader *r = vs_xcalloc(1, sizeof *r);
    r->file.fd = -1;
    r->path = vs_xstrdup(path);
    return r;
}

static void look_again(struct vs_reader *r)
{
    struct stat st;
    if (r->file.fd >= 0 && !fstat(r->file.fd, &st))
        r->file.size = (uint64_t)st.st_size;
}

/* The part common to files and memory, once r->file is set. */
static enum vs_err open_source(struct vs_reader *r, const struct vs_source *live, char *why)
{
    enum vs_err err = read_header(r, why);
    if (err)
        return err;
    uint64_t live_bytes = 0;
    if (live && !vs_frame_has_trailer(&r->file)) {
        vs_recovery_load(&r->recovery, live, r->header.uuid);
        live_bytes = live->size;
        look_again(r); /* reads events written in the meantime */
        vs_recovered_counts_confirm(&r->recovery.counts, live);
    }
    uint64_t present = r->file.size + live_bytes;
    r->table.budget = BUDGET_BASE + (present < UINT64_MAX / BUDGET_FACTOR / 2
                                         ? present * BUDGET_FACTOR
                                         : UINT64_MAX / 2);
    vs_reader_rewind(r);
    return VS_OK;
}

char *vs_reader_live_path(const char *path)
{
    char *name = NULL, *linked;
    if (asprintf(&name, "%s.live", path) < 0)
        return NULL;
    if (!access(name, F_OK) || !(linked = realpath(path, NULL)))
        return name;
    free(name);
    if (asprintf(&name, "%s.live", linked) < 0)
        name = NULL;
    free(linked);
    return name;
}

/* Opens FILE.live; false when there is none to read. */
static bool open_live(struct vs_reader *r, struct vs_source *live)
{
    struct stat st;
    r->live_path = vs_reader_live_path(r->path);
    live->fd = r->live_path ? open(r->live_path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (live->fd < 0)
        return false;
    if (fstat(live->fd, &st) || !S_ISREG(st.st_mode)) {
        close(live->fd);
        live->fd = -1;
        return false;
    }
    live->size = (uint64_t)st.st_size;
    return true;
}

static enum vs_err open_file(struct vs_reader *r, char *why)
{
    struct stat st;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        if (errno == ENOENT)
            say(why, "%s: no such file; check its name" OR_RECORD, r->path);
        else if (errno == EACCES)
            say(why, "%s: no permission to read it", r->path);
        else
            say(why, "cannot open %s: %s", r->path, strerror(errno));
        return VS_ERR_IO;
    }
    r->file.fd = fd;
    if (fstat(fd, &st)) {
        say(why, "cannot read %s: %s", r->path, strerror(errno));
        return VS_ERR_IO;
    }
    if (S_ISDIR(st.st_mode)) {
        say(why, "%s is a directory; give a trace file (.vst)", r->path);
        return VS_ERR_IO;
    }
    if (!S_ISREG(st.st_mode)) {
        say(why, "%s is not a regular file; save the trace to a file first", r->path);
        return VS_ERR_IO;
    }
    r->file.size = (uint64_t)st.st_size;
    return VS_OK;
}

/* Whether the trace was finished, or replaced by a finished one, after it was opened. FILE.live is
 * removed after that, and only then. */
static bool is_outdated(struct vs_reader *r)
{
    struct stat opened, there;
    look_again(r);
    return vs_frame_has_trailer(&r->file) ||
           (!fstat(r->file.fd, &opened) && !stat(r->path, &there) &&
            (opened.st_dev != there.st_dev || opened.st_ino != there.st_ino));
}

static enum vs_err open_once(const char *path, bool last, struct vs_reader **out, bool *outdated,
                             char *why)
{
    struct vs_source live = {.fd = -1};
    struct vs_reader *r = make(path);
    enum vs_err err = open_file(r, why);
    if (!err)
        err = open_source(r, open_live(r, &live) ? &live : NULL, why);
    if (!err && !vs_frame_has_trailer(&r->file)) {
        vs_reader_find_outcome(r);
        *outdated = !last && !r->recovery.found && is_outdated(r);
    }
    if (live.fd >= 0)
        close(live.fd);
    if (err || *outdated)
        vs_reader_close(r);
    else
        *out = r;
    return err;
}

enum vs_err vs_reader_open(const char *path, struct vs_reader **out, char *why)
{
    enum vs_err err;
    bool outdated;
    unsigned round = 0;
    do {
        outdated = false;
        err = open_once(path, ++round == OPENINGS_MAX, out, &outdated, why);
    } while (!err && outdated);
    return err;
}

enum vs_err vs_reader_open_bytes(const void *file, size_t bytes, const void *live,
                                 size_t live_bytes, const char *name, struct vs_reader **out,
                                 char *why)
{
    struct vs_source live_source = {.fd = -1, .bytes = live, .size = live_bytes};
    struct vs_reader *r = make(name);
    r->file = (struct vs_source){.fd = -1, .bytes = file, .size = bytes};
    enum vs_err err = open_source(r, live ? &live_source : NULL, why);
    if (err) {
        vs_reader_close(r);
        return err;
    }
    *out = r;
    return VS_OK;
}

bool vs_trace_uuid(const char *path, uint8_t uuid[16])
{
    struct vs_file_header header;
    struct vs_source file = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
                             .size = sizeof header};
    bool good = file.fd >= 0 &&
                vs_source_read(&file, 0, &header, sizeof header) == sizeof header &&
                memcmp(header.magic, VS_FILE_MAGIC, VS_MAGIC_BYTES) == 0;
    if (file.fd >= 0)
        close(file.fd);
    if (good)
        memcpy(uuid, header.uuid, sizeof header.uuid);
    return good;
}
