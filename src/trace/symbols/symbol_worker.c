/* SPDX-License-Identifier: Apache-2.0
 *
 * Over a socket pair: a request is a fixed head and the module's path and build id,
 * an answer a fixed head and the payload of a symbol set with one place. The client trusts no
 * length in an answer. */
#define _GNU_SOURCE
#include "trace/symbols/elf_object.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/reading/vs_vec.h"
#include "base/vs_clock.h"

#define CRASHES_MAX 16u
#define ANSWER_BYTES_MAX ((size_t)1 << 20)
#define DATA_BYTES_MAX (UINT64_C(8) << 30) /* memory limit of a worker */
#define SLICE_MS 100

struct symbol_worker_question {
    uint32_t number, path_bytes, id_bytes, reserved; /* bytes with NUL */
    uint64_t address;
};

struct symbol_worker_answer {
    struct vs_elf_facts facts;
    uint32_t bytes, reserved;
};

static uint64_t spent_ns;

/* Time that this process has waited for workers. */
static unsigned spent_ms(void)
{
    return spent_ns / 1000000 > UINT_MAX ? UINT_MAX : (unsigned)(spent_ns / 1000000);
}

/* --- the worker --- */

static bool receive(int fd, void *to, size_t bytes)
{
    while (bytes) {
        ssize_t n = recv(fd, to, bytes, 0);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        if (n > 0) {
            to = (char *)to + n;
            bytes -= (size_t)n;
        }
    }
    return true;
}

static bool send_all(int fd, const void *from, size_t bytes)
{
    while (bytes) {
        ssize_t n = send(fd, from, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            from = (const char *)from + n;
            bytes -= (size_t)n;
        }
    }
    return true;
}

/* A module that the worker has open. */
struct known {
    struct vs_debug_query query;
    struct vs_elf_object *object;
    struct vs_elf_facts facts;
};

static bool give_answer(int fd, struct known *known, uint64_t address, unsigned char *room)
{
    struct vs_symbol symbols[VS_SYMBOL_INLINES_MAX];
    struct vs_symbol_set set = {.budget = ANSWER_BYTES_MAX};
    size_t count = vs_elf_object_names(known->object, address, symbols), next = 0, bytes = 0;
    struct symbol_worker_answer answer = {.facts = known->facts};
    if (vs_symbol_set_put(&set, 0, address, answer.facts.level, symbols, count) ||
        vs_symbol_set_encode(&set, &next, room, ANSWER_BYTES_MAX, &bytes))
        bytes = 0;
    vs_symbol_set_free(&set);
    answer.bytes = (uint32_t)bytes;
    return send_all(fd, &answer, sizeof answer) && send_all(fd, room, bytes);
}

static _Noreturn void work(int fd, pid_t parent, const struct vs_symbols_options *options)
{
    struct known **list = NULL, *known; /* by the number of the question */
    size_t capacity = 0;
    struct symbol_worker_question q;
    char path[PATH_MAX], id[VS_BUILD_ID_HEX_MAX];
    struct rlimit none = {0, 0}, data = {DATA_BYTES_MAX, DATA_BYTES_MAX};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0); /* a crash leaves no core file */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    setrlimit(RLIMIT_DATA, &data);
#else
    (void)data;
#endif
    static const int usual[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGCHLD};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        signal(usual[i], SIG_DFL);
    signal(SIGINT, SIG_IGN); /* the parent decides when we end */
    if (!options->debuginfod)
        unsetenv("DEBUGINFOD_URLS"); /* libdw would contact the servers by itself in places */
    unsigned char *room = vs_xcalloc(1, ANSWER_BYTES_MAX + 64);
    while (receive(fd, &q, sizeof q)) {
        if (!q.path_bytes || q.path_bytes > sizeof path || !q.id_bytes ||
            q.id_bytes > sizeof id || !receive(fd, path, q.path_bytes) ||
            !receive(fd, id, q.id_bytes))
            break;
        vs_vec_room(&list, &capacity, (size_t)q.number + 1, sizeof *list);
        known = list[q.number];
        if (!known) {
            list[q.number] = known = vs_xcalloc(1, sizeof *known);
            known->query = (struct vs_debug_query){vs_xstrdup(path), vs_xstrdup(id), "", options};
            known->object = vs_elf_object_open(&known->query, &known->facts);
        }
        if (!give_answer(fd, known, q.address, room))
            break;
    }
    _exit(0);
}

/* --- the client --- */

static bool start(struct vs_symbol_worker *worker)
{
    int pair[2];
    if (worker->fd >= 0)
        return true;
    if (worker->crashes >= CRASHES_MAX ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return false;
    pid_t self = getpid();
    worker->pid = fork();
    if (worker->pid == 0) {
        close(pair[0]);
        work(pair[1], self, &worker->options);
    }
    close(pair[1]);
    if (worker->pid < 0) {
        close(pair[0]);
        return false;
    }
    worker->fd = pair[0];
    return true;
}

void vs_symbol_worker_stop(struct vs_symbol_worker *worker)
{
    if (worker->fd < 0)
        return;
    close(worker->fd);
    worker->fd = -1;
    kill(worker->pid, SIGKILL); /* it has no data to lose */
    while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Receives *bytes*, within the time that is left. */
static enum vs_worker_result await(struct vs_symbol_worker *worker, void *to, size_t bytes,
                                   const char *path)
{
    const char *slash = strrchr(path, '/');
    unsigned budget = worker->options.budget_ms, start = spent_ms();
    while (bytes) {
        struct pollfd wait = {.fd = worker->fd, .events = POLLIN};
        uint64_t began = vs_clock_ns();
        int ready = poll(&wait, 1, SLICE_MS);
        spent_ns += vs_clock_ns() - began;
        ssize_t n = ready > 0 ? recv(worker->fd, to, bytes, MSG_DONTWAIT) : -1;
        if (n > 0) {
            to = (char *)to + n;
            bytes -= (size_t)n;
            continue;
        }
        if (ready > 0 && n <= 0 && errno != EINTR && errno != EAGAIN)
            return VS_WORKER_CRASHED;
        if (n == 0)
            return VS_WORKER_CRASHED;
        struct vs_symbols_progress progress = {worker->resolved, slash ? slash + 1 : path,
                                               spent_ms()};
        if (worker->options.progress)
            worker->options.progress(worker->options.progress_arg, &progress);
        if (budget && progress.spent_ms >= budget)
            return VS_WORKER_LATE;
        if (budget && progress.spent_ms - start >= budget / 2)
            return VS_WORKER_SLOW;
    }
    return VS_WORKER_ANSWERED;
}

static enum vs_worker_result talk(struct vs_symbol_worker *worker,
                                  const struct vs_debug_query *query, uint32_t number,
                                  uint64_t address, struct vs_symbol_set *set,
                                  struct vs_elf_facts *facts)
{
    struct symbol_worker_answer answer;
    struct symbol_worker_question q = {.number = number, .path_bytes = (uint32_t)strlen(query->path) + 1,
                         .id_bytes = (uint32_t)strlen(query->build_id) + 1, .address = address};
    if (!send_all(worker->fd, &q, sizeof q) ||
        !send_all(worker->fd, query->path, q.path_bytes) ||
        !send_all(worker->fd, query->build_id, q.id_bytes))
        return VS_WORKER_CRASHED;
    enum vs_worker_result result = await(worker, &answer, sizeof answer, query->path);
    if (result != VS_WORKER_ANSWERED)
        return result;
    if (answer.bytes > ANSWER_BYTES_MAX)
        return VS_WORKER_CRASHED;
    unsigned char *payload = vs_xcalloc(1, answer.bytes + 1);
    result = await(worker, payload, answer.bytes, query->path);
    if (result == VS_WORKER_ANSWERED && answer.bytes &&
        vs_symbol_set_decode(set, payload, answer.bytes) == VS_ERR_CORRUPT)
        result = VS_WORKER_CRASHED;
    free(payload);
    answer.facts.link[VS_DEBUG_LINK_MAX - 1] = '\0';
    if (answer.facts.level > VS_LEVEL_LINES)
        answer.facts.level = VS_LEVEL_NONE;
    *facts = answer.facts;
    return result;
}

enum vs_worker_result vs_symbol_worker_request(struct vs_symbol_worker *worker,
                                           const struct vs_debug_query *query, uint32_t number,
                                           uint64_t address, struct vs_symbol_set *set,
                                           struct vs_elf_facts *facts)
{
    unsigned budget = worker->options.budget_ms;
    if (strlen(query->path) >= PATH_MAX || strlen(query->build_id) >= VS_BUILD_ID_HEX_MAX)
        return VS_WORKER_CRASHED;
    if ((budget && spent_ms() >= budget) || !start(worker))
        return VS_WORKER_LATE;
    enum vs_worker_result result = talk(worker, query, number, address, set, facts);
    if (result == VS_WORKER_ANSWERED) {
        worker->resolved++;
    } else {
        worker->crashes += result == VS_WORKER_CRASHED;
        vs_symbol_worker_stop(worker);
    }
    return result;
}
