/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Checked: that all counts and offsets are inside the file and inside each stream's
 * memory, and the checksum. Not checked: that blocks alive together do not overlap; the allocator
 * checks that when it places them. */
#include "allocator/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static enum vs_err refuse(char why[VS_PLAN_WHY_MAX], enum vs_err err, const char *text)
{
    snprintf(why, VS_PLAN_WHY_MAX, "%s", text);
    return err;
}

static uint64_t checksum(const struct vs_plan_header *header, size_t size)
{
    struct vs_plan_header zeroed = *header;
    XXH64_state_t state;
    zeroed.checksum = 0;
    XXH64_reset(&state, 0);
    XXH64_update(&state, &zeroed, sizeof zeroed);
    XXH64_update(&state, header + 1, size - sizeof *header);
    return XXH64_digest(&state);
}

static enum vs_err check_header(const struct vs_plan_header *h, size_t size,
                                char why[VS_PLAN_WHY_MAX])
{
    if (size < sizeof *h || h->magic != VS_PLAN_MAGIC)
        return refuse(why, VS_ERR_FORMAT, "not a plan");
    if (h->version != VS_PLAN_VERSION)
        return refuse(why, VS_ERR_VERSION, "a plan of a version this build cannot read");
    if (h->file_bytes != size)
        return refuse(why, VS_ERR_CORRUPT, "the plan is cut off or has something behind it");
    if (h->checksum != checksum(h, size))
        return refuse(why, VS_ERR_CORRUPT, "the plan is damaged: its checksum is wrong");
    if (h->header_bytes < sizeof *h || h->header_bytes % 8 || h->header_bytes > size ||
        h->stream_count > VS_PLAN_STREAMS_MAX || h->entry_count > VS_PLAN_ENTRIES_MAX ||
        h->header_bytes + h->stream_count * sizeof(struct vs_plan_stream) +
                h->entry_count * sizeof(struct vs_plan_entry) != size ||
        !memchr(h->program, 0, sizeof h->program))
        return refuse(why, VS_ERR_CORRUPT, "the plan's header contradicts itself");
    return VS_OK;
}

static enum vs_err check_entry(const struct vs_plan_entry *e, const struct vs_plan_stream *s,
                               char why[VS_PLAN_WHY_MAX])
{
    if (!e->granules)
        return refuse(why, VS_ERR_CORRUPT, "the plan has an entry without a size");
    if (e->offset == VS_PLAN_NONE)
        return VS_OK;
    if (e->granules > s->granules || e->offset > s->granules - e->granules)
        return refuse(why, VS_ERR_CORRUPT, "the plan places a block outside its memory");
    return VS_OK;
}

static enum vs_err check_streams(const struct vs_plan *plan, char why[VS_PLAN_WHY_MAX])
{
    uint32_t next = 0, total = plan->header->entry_count;
    for (uint32_t i = 0; i < plan->header->stream_count; i++) {
        const struct vs_plan_stream *s = &plan->streams[i];
        if (s->first != next || s->prologue > total - next ||
            s->period > total - next - s->prologue || s->granules == VS_PLAN_NONE)
            return refuse(why, VS_ERR_CORRUPT, "the plan's streams overlap");
        next += s->prologue + s->period;
        for (uint32_t k = s->first; k < next; k++) {
            enum vs_err err = check_entry(&plan->entries[k], s, why);
            if (err)
                return err;
        }
    }
    return next == total ? VS_OK
                         : refuse(why, VS_ERR_CORRUPT, "the plan has entries of no stream");
}

enum vs_err vs_plan_open_bytes(const void *bytes, size_t size, struct vs_plan *out,
                               char why[VS_PLAN_WHY_MAX])
{
    const struct vs_plan_header *header = bytes;
    enum vs_err err = check_header(header, size, why);
    if (err)
        return err;
    struct vs_plan plan = {.header = header};
    plan.streams = (const void *)((const char *)bytes + header->header_bytes);
    plan.entries = (const void *)(plan.streams + header->stream_count);
    err = check_streams(&plan, why);
    if (!err)
        *out = plan;
    return err;
}

/* Reads *size* bytes, or as many as are left if the file is truncated meanwhile. */
static enum vs_err read_whole(int fd, char *bytes, size_t *size)
{
    size_t at = 0;
    while (at < *size) {
        ssize_t n = read(fd, bytes + at, *size - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return VS_ERR_IO;
        if (n == 0)
            break;
        at += (size_t)n;
    }
    memset(bytes + at, 0, *size - at);
    return VS_OK;
}

/* Reads into private memory: if a mapped file is truncated the process gets SIGBUS, and if it is
 * written to its contents change after the checks. */
static enum vs_err load_file(const char *path, void **bytes, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return VS_ERR_IO;
    enum vs_err err = fstat(fd, &st) ? VS_ERR_IO : VS_OK;
    if (!err && (!S_ISREG(st.st_mode) || st.st_size <= 0))
        err = VS_ERR_FORMAT;
    if (!err) {
        *size = (size_t)st.st_size;
        *bytes = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (*bytes == MAP_FAILED)
            err = VS_ERR_IO;
        else if ((err = read_whole(fd, *bytes, size)))
            munmap(*bytes, *size);
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return err;
}

enum vs_err vs_plan_open(const char *path, struct vs_plan *out, char why[VS_PLAN_WHY_MAX])
{
    void *bytes;
    size_t size;
    enum vs_err err = load_file(path, &bytes, &size);
    if (err == VS_ERR_IO) {
        snprintf(why, VS_PLAN_WHY_MAX, "%s", strerror(errno));
        return err;
    }
    if (err)
        return refuse(why, err, "not a plan");
    err = vs_plan_open_bytes(bytes, size, out, why);
    if (err)
        munmap(bytes, size);
    else
        out->mapped_bytes = size;
    return err;
}

void vs_plan_close(struct vs_plan *plan)
{
    if (plan->mapped_bytes)
        munmap((void *)(uintptr_t)plan->header, plan->mapped_bytes);
    *plan = (struct vs_plan){0};
}
