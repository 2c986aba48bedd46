/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tools/view/view_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vs_option.h"
#include "base/vs_text.h"
#include "tools/common/command.h"

/* The length of *name* without ".vst". */
static int stem(const char *name)
{
    size_t length = strlen(name);
    return (int)(length > 4 && strcmp(name + length - 4, ".vst") == 0 ? length - 4 : length);
}

bool vs_view_name(const char *who, const char *first, const char *second, char out[PATH_MAX])
{
    const char *other = second ? vs_text_base_name(second) : "";
    int length = snprintf(out, PATH_MAX, "%.*s%s%.*s.html", stem(first), first, second ? "-" : "",
                          stem(other), other);
    if (length < PATH_MAX)
        return true;
    vs_tool_fail(who, "%s: the name of the page would be too long; give one with -o", first);
    return false;
}

const char *vs_view_editor(const char *who, const char *name)
{
    static const char *const known[][2] = {
        {"vscode", "vscode://file{path}:{line}"}, {"idea", "idea://open?file={path}&line={line}"},
        {"pycharm", "pycharm://open?file={path}&line={line}"}, {"none", ""}};
    name = name ? name : vs_environment("VRAMSCOPE_EDITOR");
    name = name && *name ? name : "vscode";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i][0]) == 0)
            return known[i][1];
    size_t scheme = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
    bool runs = vs_text_begins(name, "javascript:") || vs_text_begins(name, "vbscript:") ||
                vs_text_begins(name, "data:"); /* code, or a page of its own */
    if (scheme > 1 && name[scheme] == ':' && !runs && strstr(name, "{path}"))
        return name;
    vs_tool_fail(who, "no editor '%s': give vscode, idea, pycharm, none, or an address such as "
                 "'zed://file{path}:{line}'", name);
    return NULL;
}

bool vs_view_redirect(const char *url, char path[PATH_MAX])
{
    const char *own = vs_environment("XDG_RUNTIME_DIR"), *folder = vs_environment("TMPDIR");
    if (own && *own == '/' && !access(own, W_OK))
        folder = own;
    if (snprintf(path, PATH_MAX, "%s/vramscope-XXXXXX.html", folder && *folder ? folder : "/tmp") >=
        PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = mkstemps(path, 5); /* with mode 0600 */
    if (fd < 0)
        return false;
    bool written = dprintf(fd, "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" "
                               "content=\"no-referrer\"><meta http-equiv=\"refresh\" "
                               "content=\"0;url=%s\">\n", url) > 0;
    if (!written)
        unlink(path);
    close(fd);
    return written;
}

void vs_view_show(const char *who, const char *path, const char *place)
{
    char *arguments[] = {(char *)"xdg-open", (char *)path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid;
    int error = -1;
    const char *x = vs_environment("DISPLAY"), *wayland = vs_environment("WAYLAND_DISPLAY");
    if (((x && *x) || (wayland && *wayland)) && posix_spawn_file_actions_init(&actions) == 0) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID); /* no signals of our terminal */
        error = posix_spawnp(&pid, "xdg-open", &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (error)
        vs_tool_fail(who, "%s: open %s in a browser",
                     error < 0 ? "there is no desktop here" : "xdg-open was not found", place);
}
