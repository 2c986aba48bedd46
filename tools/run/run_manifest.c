/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Every user who has its name may append to it; the name cannot be guessed, and
 * nobody can list its folder: only processes that inherited the name have it. */
#define _GNU_SOURCE
#include "tools/run/run_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "trace/read/reader.h"

#define SECRET_BYTES 16
#define RESERVED_BYTES 32768

static bool secret_name(char out[2 * SECRET_BYTES + 1])
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

bool vs_run_manifest_create(char *path)
{
    const char *temporary = vs_environment("TMPDIR");
    char secret[2 * SECRET_BYTES + 1];
    int n = snprintf(path, PATH_MAX, "%s/vramscope-run-XXXXXX",
                     temporary && *temporary ? temporary : "/tmp");
    errno = ENAMETOOLONG;
    if (n + sizeof secret + 1 > PATH_MAX || !secret_name(secret) || !mkdtemp(path))
        return false;
    chmod(path, 0711);
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
