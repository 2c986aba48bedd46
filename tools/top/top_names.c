/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of call sites in the live view. Reading debug information takes seconds and may fail, so a
 * child process does it: it has a copy of everything that was read, and sends a name after the
 * other through a pipe. Until then a call site without the user's
 * Python has no name. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/reading/vs_vec.h"
#include "tools/common/symbol_tool.h"
#include "tools/top/top_command.h"

#define NAMED_MAX 24u /* call sites of a device that get a name */
#define WANTED_MAX 96u

/* What the child sends: this, then the bytes of name and chain. */
struct name_answer {
    uint64_t key;
    uint32_t name_bytes, chain_bytes;
};

static struct vs_top_name *add_name(struct vs_top_names *names, struct vs_watch *watch,
                                    const struct vs_watch_site *site)
{
    char line[VS_WATCH_NAME_MAX];
    vs_vec_room(&names->items, &names->capacity, names->count + 1, sizeof *names->items);
    struct vs_top_name name = {.final = vs_watch_line(watch, site, line)};
    name.name = vs_xstrdup(line);
    vs_xmap_put(&names->by_key, site->key, names->count);
    names->items[names->count] = name;
    return &names->items[names->count++];
}

static void set_name(struct vs_top_name *item, const char *name, const char *chain)
{
    free(item->chain);
    item->chain = vs_xstrdup(chain);
    if (item->final || !*name)
        return;
    free(item->name);
    item->name = vs_xstrdup(name);
    item->final = true;
}

/* --- the child --- */

static bool send_all(int fd, const void *bytes, size_t count)
{
    const char *p = bytes;
    while (count) {
        ssize_t n = write(fd, p, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        count -= (size_t)n;
    }
    return true;
}

static void look_up_all(struct vs_watch *watch, const struct vs_watch_site *sites, size_t count,
                        int fd)
{
    static char name[VS_WATCH_NAME_MAX], chain[VS_WATCH_CHAIN_MAX];
    for (size_t i = 0; i < count; i++) {
        vs_watch_name(watch, &sites[i], name, chain);
        struct name_answer answer = {sites[i].key, (uint32_t)strlen(name), (uint32_t)strlen(chain)};
        if (!send_all(fd, &answer, sizeof answer) || !send_all(fd, name, answer.name_bytes) ||
            !send_all(fd, chain, answer.chain_bytes))
            return;
    }
}

/* Starts a child that looks up *sites*. Without one, the substitutes stay. */
static void start_child(struct vs_top_names *names, struct vs_watch *watch,
                        const struct vs_watch_site *sites, size_t count)
{
    int fds[2];
    pid_t parent = getpid();
    if (pipe2(fds, O_CLOEXEC))
        return;
    pid_t child = fork();
    if (!child) {
        sigset_t none;
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        sigemptyset(&none);
        for (int number = 1; number < 32; number++)
            signal(number, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int fd = 0; null >= 0 && fd < 3; fd++) /* not a word on the terminal */
            dup2(null, fd);
        if (getppid() != parent)
            _exit(1);
        look_up_all(watch, sites, count, fds[1]);
        _exit(0);
    }
    close(fds[1]);
    if (child < 0) {
        close(fds[0]);
        return;
    }
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    names->child = child;
    names->fd = fds[0];
    names->answer_bytes = 0;
}

static void end_child(struct vs_top_names *names)
{
    if (!names->child)
        return;
    close(names->fd);
    kill(names->child, SIGKILL);
    while (waitpid(names->child, NULL, 0) < 0 && errno == EINTR)
        ;
    names->child = 0;
}

/* Takes the first whole answer; returns its length. */
static size_t take_answer(struct vs_top_names *names, const char *bytes, size_t count)
{
    struct name_answer answer;
    char name[VS_WATCH_NAME_MAX], chain[VS_WATCH_CHAIN_MAX];
    if (count < sizeof answer)
        return 0;
    memcpy(&answer, bytes, sizeof answer);
    if (answer.name_bytes >= sizeof name || answer.chain_bytes >= sizeof chain ||
        count < sizeof answer + answer.name_bytes + answer.chain_bytes)
        return 0;
    memcpy(name, bytes + sizeof answer, answer.name_bytes);
    name[answer.name_bytes] = 0;
    memcpy(chain, bytes + sizeof answer + answer.name_bytes, answer.chain_bytes);
    chain[answer.chain_bytes] = 0;
    const uint64_t *at = vs_map_get(&names->by_key, answer.key);
    if (at)
        set_name(&names->items[*at], name, chain);
    return sizeof answer + answer.name_bytes + answer.chain_bytes;
}

static void set_names(const struct vs_top_names *names, struct vs_watch_device *device)
{
    for (size_t i = 0; i < device->site_count; i++) {
        const uint64_t *at = vs_map_get(&names->by_key, device->sites[i].key);
        device->sites[i].name = at ? names->items[*at].name : NULL;
        device->sites[i].chain = at ? names->items[*at].chain : NULL;
    }
}

bool vs_top_names_read(struct vs_top_names *names, struct vs_watch_view *view)
{
    bool any = false;
    ssize_t n = -1;
    if (!names->child)
        return false;
    do {
        if (names->answer_capacity - names->answer_bytes < 4096) {
            names->answer_capacity += 16384;
            names->answer = vs_xrealloc(names->answer, names->answer_capacity, 1);
        }
        n = read(names->fd, names->answer + names->answer_bytes,
                 names->answer_capacity - names->answer_bytes);
        names->answer_bytes += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    bool ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    size_t done = 0, length;
    while ((length = take_answer(names, names->answer + done, names->answer_bytes - done))) {
        done += length;
        any = true;
    }
    memmove(names->answer, names->answer + done, names->answer_bytes - done);
    names->answer_bytes -= done;
    if (ended)
        end_child(names);
    for (size_t d = 0; any && d < view->device_count; d++)
        set_names(names, &view->devices[d]);
    return any;
}

/* --- the view --- */

void vs_top_names_fill(struct vs_top_names *names, struct vs_watch *watch,
                       struct vs_watch_view *view, bool wait)
{
    struct vs_watch_site wanted[WANTED_MAX]; /* by the child */
    size_t count = 0;
    for (size_t d = 0; d < view->device_count; d++) {
        struct vs_watch_device *device = &view->devices[d];
        for (size_t i = 0; i < device->site_count && i < NAMED_MAX; i++) {
            const struct vs_watch_site *site = &device->sites[i];
            const uint64_t *at = vs_map_get(&names->by_key, site->key);
            struct vs_top_name *item = at ? &names->items[*at] : add_name(names, watch, site);
            if (item->asked)
                continue;
            if (wait) {
                char name[VS_WATCH_NAME_MAX], chain[VS_WATCH_CHAIN_MAX];
                item->asked = true;
                vs_watch_name(watch, site, name, chain);
                set_name(item, name, chain);
            } else if (!names->child && count < WANTED_MAX) {
                wanted[count++] = *site;
                item->asked = true;
            }
        }
        set_names(names, device);
    }
    if (count)
        start_child(names, watch, wanted, count);
    if (wait)
        vs_symbol_tool_done();
}

void vs_top_names_free(struct vs_top_names *names)
{
    end_child(names);
    for (size_t i = 0; i < names->count; i++) {
        free(names->items[i].name);
        free(names->items[i].chain);
    }
    free(names->items);
    free(names->answer);
    vs_map_free(&names->by_key);
    *names = (struct vs_top_names){0};
}
