/* SPDX-License-Identifier: Apache-2.0
 *
 * Every user who has its name may append to it; the name cannot be guessed, and
 * nobody can list its folder: only processes that inherited the name have it. The folder is locked
 * while its command runs; that of a killed command is removed by the next one. */
#define _GNU_SOURCE
#include "tools/run/run_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "base/vs_text.h"
#include "trace/read/reader.h"

#define SECRET_BYTES 16
#define RESERVED_BYTES 32768
#define FOLDER_PREFIX "vramscope-run-"
#define ABANDONED_AFTER_S 60 /* a new folder is not locked yet */

static bool secret_name(char out[2 * SECRET_BYTES + 1])
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Removes the folder *name* if it is this user's and its command was killed: nobody holds its lock. */
static void remove_if_abandoned(int temporary, const char *name)
{
    struct stat st;
    int fd = openat(temporary, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool abandoned = fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid() &&
                     time(NULL) - st.st_mtime > ABANDONED_AFTER_S && !flock(fd, LOCK_EX | LOCK_NB);
    DIR *folder = abandoned ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strlen(entry->d_name) == 2 * SECRET_BYTES)
            unlinkat(fd, entry->d_name, 0);
    unlinkat(temporary, name, AT_REMOVEDIR);
    closedir(folder);
}

bool vs_run_manifest_create(char *path)
{
    const char *temporary = vs_environment("TMPDIR");
    char secret[2 * SECRET_BYTES + 1];
    temporary = temporary && *temporary ? temporary : "/tmp";
    DIR *dir = opendir(temporary);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (vs_text_begins(entry->d_name, FOLDER_PREFIX))
            remove_if_abandoned(dirfd(dir), entry->d_name);
    if (dir)
        closedir(dir);
    int n = snprintf(path, PATH_MAX, "%s/" FOLDER_PREFIX "XXXXXX", temporary);
    errno = ENAMETOOLONG;
    if (n + sizeof secret + 1 > PATH_MAX || !secret_name(secret) || !mkdtemp(path))
        return false;
    chmod(path, 0711);
    /* held until this process ends, however it ends: see remove_if_abandoned */
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0)
        flock(lock, LOCK_EX | LOCK_NB);
    snprintf(path + n, PATH_MAX - (size_t)n, "/%s", secret);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    fchmod(fd, 0622); /* a process may change to another user */
    /* room for some hundred traces: a full disk is better reported now than at the end */
    bool room = !fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, RESERVED_BYTES) || errno != ENOSPC;
    close(fd);
    if (!room) {
        vs_run_manifest_remove(path);
        errno = ENOSPC;
    }
    return room;
}

void vs_run_manifest_remove(const char *path)
{
    char folder[PATH_MAX] = "";
    const char *slash = strrchr(path, '/');
    unlink(path);
    if (slash && slash - path < PATH_MAX) {
        memcpy(folder, path, (size_t)(slash - path));
        rmdir(folder);
    }
}

bool vs_run_manifest_line(FILE *manifest, char *line, size_t max)
{
    size_t n = 0;
    int c;
    while ((c = getc(manifest)) != EOF && c != '\n') {
        if (n + 1 < max)
            line[n++] = c ? (char)c : '\n';
    }
    line[n] = 0;
    return c != EOF || n;
}

void vs_run_manifest_record_end(const char *path, uint64_t pid, int status)
{
    char line[PATH_MAX + 2];
    FILE *manifest = fopen(path, "r");
    enum vs_outcome outcome = WIFSIGNALED(status) ? VS_OUTCOME_KILLED : VS_OUTCOME_EXITED;
    int value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    while (manifest && vs_run_manifest_line(manifest, line, sizeof line)) {
        if (*line == '/')
            vs_reader_record_outcome(line, pid, outcome, (uint32_t)value);
    }
    if (manifest)
        fclose(manifest);
}
