/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of call sites in the live view. Reading debug information takes seconds and may fail, so a
 * child process does it: it has a copy of everything that was read, and puts a name after the
 * other into shared memory, each with a byte in a pipe. Until then a call site without the user's
 * Python has no name. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/reading/vs_vec.h"
#include "tools/common/symbol_tool.h"
#include "tools/top/top_command.h"

#define NAMED_MAX 24u /* call sites of a device that get a name */
#define WANTED_MAX 96u

struct vs_top_answer {
    uint64_t key;
    char name[VS_WATCH_NAME_MAX], chain[VS_WATCH_CHAIN_MAX];
};
#define ANSWERS_BYTES (WANTED_MAX * sizeof(struct vs_top_answer))

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

/* Starts a child that looks up *sites*. Without one, the substitutes stay. */
static void start_child(struct vs_top_names *names, struct vs_watch *watch,
                        const struct vs_watch_site *sites, size_t count)
{
    int fds[2] = {-1, -1};
    pid_t parent = getpid();
    struct vs_top_answer *answers = mmap(NULL, ANSWERS_BYTES, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answers == MAP_FAILED)
        return;
    for (size_t i = 0; i < count; i++)
        answers[i].key = sites[i].key;
    pid_t child = pipe2(fds, O_CLOEXEC) ? -1 : fork();
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
        for (size_t i = 0; i < count; i++) {
            vs_watch_name(watch, &sites[i], answers[i].name, answers[i].chain);
            if (write(fds[1], "", 1) != 1)
                break;
        }
        _exit(0);
    }
    close(fds[1]);
    if (child < 0) {
        close(fds[0]);
        munmap(answers, ANSWERS_BYTES);
        return;
    }
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    names->child = child;
    names->fd = fds[0];
    names->answers = answers;
    names->taken = 0;
}

static void end_child(struct vs_top_names *names)
{
    if (!names->child)
        return;
    close(names->fd);
    munmap(names->answers, ANSWERS_BYTES);
    kill(names->child, SIGKILL);
    while (waitpid(names->child, NULL, 0) < 0 && errno == EINTR)
        ;
    names->child = 0;
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
    char done[WANTED_MAX];
    bool any = false;
    ssize_t n = -1;
    while (names->child && (n = read(names->fd, done, sizeof done)) > 0) {
        for (any = true; n--; names->taken++) {
            const struct vs_top_answer *answer = &names->answers[names->taken];
            const uint64_t *at = vs_map_get(&names->by_key, answer->key);
            if (at)
                set_name(&names->items[*at], answer->name, answer->chain);
        }
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
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
    vs_map_free(&names->by_key);
    *names = (struct vs_top_names){0};
}
