/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A step is a code, a window or another choice, and a number of 16 bits. */
#define _GNU_SOURCE
#include "fuzz/live_scene.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/check.h"
#include "trace/format/format.h"

#define LIVE_BYTES_MAX ((size_t)1 << 20)
#define STEP_IN_READING 0x40u
#define STEP_WITHOUT_POLL 0x80u

ssize_t __real_pread(int fd, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at);

static struct {
    char path[64], live_path[72];
    const struct trace_input *input;
    int file, live;        /* descriptors; the first has the lock */
    unsigned char *image;  /* of FILE.live */
    size_t image_bytes;
    uint64_t file_bytes;   /* of FILE by now */
    const unsigned char *step, *end;
    bool inside;           /* a step is being done */
} scene = {.file = -1, .live = -1};

/* --- the files --- */

static void lock_file(short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    check(!fcntl(scene.file, F_OFD_SETLK, &lock));
}

static void show_file(uint64_t bytes)
{
    uint64_t before = scene.file_bytes;
    if (bytes > scene.input->file_bytes)
        bytes = scene.input->file_bytes;
    scene.file_bytes = bytes;
    if (bytes > before)
        check(pwrite(scene.file, scene.input->file + before, bytes - before, (off_t)before) ==
              (ssize_t)(bytes - before));
    else
        check(!ftruncate(scene.file, (off_t)bytes));
}

static void show_live(size_t bytes)
{
    if (bytes > scene.image_bytes)
        bytes = scene.image_bytes;
    if (scene.live >= 0)
        check(pwrite(scene.live, scene.image, bytes, 0) == (ssize_t)bytes &&
              !ftruncate(scene.live, (off_t)bytes));
}

static void create_live(void)
{
    if (scene.live >= 0)
        close(scene.live);
    unlink(scene.live_path);
    scene.live = open(scene.live_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    check(scene.live >= 0);
    show_live(scene.image_bytes);
}

/* Room for its windows, which the input may leave out. */
static void make_image(size_t bytes)
{
    struct vs_live_header h;
    uint64_t whole = bytes;
    if (bytes >= sizeof h) {
        memcpy(&h, scene.input->live, sizeof h);
        if (h.window_bytes < LIVE_BYTES_MAX && h.windows <= VS_LIVE_WINDOWS_MAX)
            whole = h.header_bytes + h.windows * h.window_bytes;
    }
    scene.image_bytes = whole < bytes ? bytes : whole < LIVE_BYTES_MAX ? whole : LIVE_BYTES_MAX;
    scene.image = calloc(1, scene.image_bytes + 1);
    check(scene.image != NULL);
    memcpy(scene.image, scene.input->live, bytes);
    if (bytes >= sizeof h) /* no process that happens to run is the recorder */
        memset(scene.image + offsetof(struct vs_live_header, pid), 0, sizeof h.pid);
}

/* --- steps --- */

static void set_field(unsigned window, size_t offset, uint64_t value, bool add)
{
    size_t at = offsetof(struct vs_live_header, window) +
                window % VS_LIVE_WINDOWS_MAX * sizeof(struct vs_live_window) + offset;
    uint64_t *field = at + 8 <= scene.image_bytes ? (uint64_t *)(void *)(scene.image + at) : NULL;
    if (field)
        *field = add ? *field + value : value;
}

static unsigned char *window_data(unsigned window)
{
    struct vs_live_header h;
    if (scene.image_bytes < sizeof h)
        return NULL;
    memcpy(&h, scene.image, sizeof h);
    uint64_t at = h.header_bytes + window % VS_LIVE_WINDOWS_MAX * h.window_bytes;
    return at < scene.image_bytes ? scene.image + at : NULL;
}

static void change_byte(unsigned window, unsigned at)
{
    unsigned char *data = window_data(window);
    if (data && at < (size_t)(scene.image + scene.image_bytes - data))
        data[at] ^= (unsigned char)(1u << (window >> 4) % 8);
}

static void copy_window(unsigned windows)
{
    unsigned char *from = window_data(windows >> 4), *to = window_data(windows);
    if (!from || !to)
        return;
    unsigned char *later = from > to ? from : to;
    size_t bytes = (size_t)(scene.image + scene.image_bytes - later);
    memmove(to, from, bytes < 4096 ? bytes : 4096);
}

static void change_header(unsigned which, unsigned value)
{
    static const size_t fields[] = {offsetof(struct vs_live_header, header_bytes),
                                    offsetof(struct vs_live_header, windows),
                                    offsetof(struct vs_live_header, window_bytes)};
    uint32_t word = value;
    if (scene.image_bytes >= sizeof(struct vs_live_header))
        memcpy(scene.image + fields[which % 3], &word, sizeof word);
}

static void do_step(unsigned code, unsigned choice, unsigned value)
{
    size_t used = offsetof(struct vs_live_window, used);
    size_t live = scene.image_bytes;
    switch (code % 14) {
    case 0: set_field(choice, used, value, true); break;
    case 1: set_field(choice, used, value, false); break;
    case 2: set_field(choice, offsetof(struct vs_live_window, sequence), value, false); break;
    case 3: show_file(scene.file_bytes + value); break;
    case 4: /* earlier than any event, or later by so much */
        set_field(choice, offsetof(struct vs_live_window, base_ns),
                  choice >= 0xf0 ? value : (uint64_t)value << (choice >> 4) * 4, choice < 0xf0);
        break;
    case 5: change_byte(choice, value); break;
    case 6: copy_window(choice); break;
    case 7: live = value; break;
    case 8: create_live(); break;
    case 9: unlink(scene.live_path); break;
    case 10: show_file(value); break;
    case 11: lock_file(choice % 2 ? F_WRLCK : F_UNLCK); break;
    case 12: change_header(choice, value); break;
    default: break;
    }
    show_live(live);
}

bool live_scene_step(bool *poll)
{
    if (!scene.input || scene.step == scene.end)
        return false;
    const unsigned char *p = scene.step;
    scene.step += LIVE_STEP_BYTES;
    scene.inside = true;
    do_step(p[0] & 0x3f, p[1], p[2] | (unsigned)p[3] << 8);
    scene.inside = false;
    *poll = !(p[0] & STEP_WITHOUT_POLL);
    return true;
}

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t at)
{
    ssize_t n = __real_pread(fd, to, bytes, at);
    bool poll;
    while (scene.input && !scene.inside && scene.step != scene.end && *scene.step & STEP_IN_READING)
        live_scene_step(&poll);
    return n;
}

/* --- life --- */

static void name_files(void)
{
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    if (*scene.path)
        return;
    const char *folder = folders[access(folders[0], W_OK) != 0];
    snprintf(scene.path, sizeof scene.path, "%s/vs_fuzz_%ld.vst", folder, (long)getpid());
    snprintf(scene.live_path, sizeof scene.live_path, "%s.live", scene.path);
}

bool live_scene_open(const struct trace_input *input)
{
    if (input->live_bytes < LIVE_SCRIPT_BYTES || !input->file_bytes)
        return false;
    name_files();
    scene.input = NULL;
    unlink(scene.path);
    scene.file = open(scene.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    check(scene.file >= 0);
    scene.end = input->live + input->live_bytes;
    scene.step = scene.end - LIVE_SCRIPT_BYTES;
    scene.input = input;
    scene.inside = true;
    scene.file_bytes = 0;
    make_image(input->live_bytes - LIVE_SCRIPT_BYTES);
    create_live();
    show_file(scene.step[2] | (unsigned)scene.step[3] << 8);
    lock_file(F_WRLCK);
    scene.step += LIVE_STEP_BYTES;
    scene.inside = false;
    return true;
}

const char *live_scene_path(void)
{
    return scene.path;
}

void live_scene_end(void)
{
    scene.step = scene.end;
    lock_file(F_UNLCK);
}

void live_scene_close(void)
{
    scene.input = NULL;
    close(scene.file);
    if (scene.live >= 0)
        close(scene.live);
    scene.file = scene.live = -1;
    unlink(scene.path);
    unlink(scene.live_path);
    free(scene.image);
    scene.image = NULL;
}
