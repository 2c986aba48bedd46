/* SPDX-License-Identifier: Apache-2.0
 *
 * The hidden file is that of base/vs_output_file.h, as for a rewritten trace: a
 * file that a killed process left is removed by the next one, an interrupt removes it. */
#include "tools/common/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vs_link.h"
#include "base/vs_output_file.h"
#include "tools/common/command.h"

#define BUFFER_BYTES (1 << 20)
#define OPEN_MAX_LOOKED_AT 256

/* One file at a time; static, because standard output is flushed once more when the process
 * ends. */
static char buffer[BUFFER_BYTES];

static bool refuse(const char *who, const char *name)
{
    int error = errno;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", name);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    if (error == ENOENT && slash && access(folder, F_OK))
        vs_tool_fail(who, "cannot write %s: %s; create the folder %s first", name, strerror(error),
                     folder);
    else
        vs_tool_fail(who, "cannot write %s: %s%s", name, strerror(error),
                     error == EISDIR ? "; give the name of a file" : "");
    return false;
}

/* /dev/stdout and the like lead to a file that the shell continues to write to. */
static bool is_open_for_us(const struct stat *st)
{
    struct stat open_one;
    for (int fd = 0; fd < OPEN_MAX_LOOKED_AT; fd++) {
        int flags = fcntl(fd, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !fstat(fd, &open_one) &&
            open_one.st_dev == st->st_dev && open_one.st_ino == st->st_ino)
            return true;
    }
    return false;
}

static bool write_directly(const char *who, struct vs_whole_file *file)
{
    file->stream = fopen(file->name, "we");
    return file->stream || refuse(who, file->name);
}

/* Sets the permissions that open(2) would give, or those of the replaced file. Returns false when
 * its owner cannot be set. */
static bool make_alike(int fd, const struct stat *old)
{
    struct stat made;
    mode_t mask = umask(0);
    umask(mask);
    if (old && !fstat(fd, &made) && (made.st_uid != old->st_uid || made.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid))
        return false;
    int private = fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask);
    (void)private; /* some file systems have no permissions */
    return true;
}

static bool write_beside(struct vs_whole_file *file, const struct stat *old)
{
    vs_tool_discard_on_signals(); /* before there is a file to discard */
    int fd = vs_replacement_make(file->target, &file->temporary);
    if (fd < 0)
        return false;
    file->replaces = old != NULL;
    if (make_alike(fd, old) && (file->stream = fdopen(fd, "w")))
        return true;
    int saved_errno = errno;
    close(fd);
    unlink(file->temporary);
    vs_replacement_forget(file->temporary);
    free(file->temporary);
    file->temporary = NULL;
    errno = saved_errno;
    return false;
}

/* *old*: the file with that name, or NULL. */
static bool write_whole(const char *who, struct vs_whole_file *file, const struct stat *old)
{
    if (snprintf(file->target, PATH_MAX, "%s", file->name) >= PATH_MAX)
        errno = ENAMETOOLONG;
    else if (vs_link_follow(file->target, PATH_MAX) && (!old || !access(file->name, W_OK))) {
        if (write_beside(file, old))
            return true;
        /* the folder is not writable, or the file belongs to another user: only its content can be
         * replaced */
        if (old && !file->mapped && (errno == EACCES || errno == EPERM || errno == EROFS))
            return write_directly(who, file);
    }
    return refuse(who, file->name);
}

bool vs_whole_file_open(const char *who, const char *path, bool mapped,
                        struct vs_whole_file *file)
{
    struct stat st;
    *file = (struct vs_whole_file){.stream = stdout, .name = path ? path : "standard output",
                                   .mapped = mapped};
    bool there = path && !stat(path, &st), opened = true;
    if (there && !mapped && (!S_ISREG(st.st_mode) || is_open_for_us(&st)))
        opened = write_directly(who, file);
    else if (path)
        opened = write_whole(who, file, there ? &st : NULL);
    if (opened)
        setvbuf(file->stream, buffer, _IOFBF, sizeof buffer);
    return opened;
}

void vs_whole_file_like(struct vs_whole_file *file, const char *source)
{
    struct stat of = {.st_mode = S_IRUSR | S_IWUSR}, now;
    if (!file->temporary || file->replaces || (source && stat(source, &of)) ||
        fstat(fileno(file->stream), &now))
        return;
    int private = fchmod(fileno(file->stream), now.st_mode & of.st_mode & 0777);
    (void)private; /* some file systems have no permissions */
}

int vs_whole_file_end(const char *who, struct vs_whole_file *file, int code)
{
    if (file->stream == stdout)
        return code ? code : vs_tool_finish(who, stdout, code);
    bool written = !fflush(file->stream);
    if (written && file->temporary && fsync(fileno(file->stream)) && errno != EINVAL)
        written = false;
    int saved_errno = errno;
    if (fclose(file->stream) && written)
        written = false, saved_errno = errno;
    if (!code && written && file->temporary && rename(file->temporary, file->target))
        written = false, saved_errno = errno;
    if (!written && !code)
        code = vs_tool_fail(who, "cannot write %s: %s", file->name, strerror(saved_errno));
    if (code) {
        if (file->temporary) {
            unlink(file->temporary);
            vs_replacement_forget(file->temporary);
        }
        if (file->temporary && file->replaces)
            vs_tool_fail(who, "%s is unchanged", file->name);
    } else
        vs_replacement_forget(file->temporary);
    free(file->temporary);
    return code;
}
