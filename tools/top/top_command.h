/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of `vramscope top`: finding recorded processes, watching them, names of their call
 * sites, the terminal. tools/view follows a program with the same. */
#ifndef VS_TOP_COMMAND_H
#define VS_TOP_COMMAND_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/watch/watch.h"
#include "base/vs_map.h"
#include "viewer/top/top_frame.h"

/* --- top_find.c: processes that record a trace --- */

struct vs_top_found {
    uint64_t pid;
    char *path; /* of its trace, as this process can open it */
};
struct vs_top_finds {
    struct vs_top_found *items;
    size_t count, capacity;
};

/* vs_top_find_all: all processes whose descriptors may be read. vs_top_find_pid: process *pid*, or
 * if it records none, its descendants. Reads links in /proc only. Of
 * vs_top_find_pid, with a sentence in *why* (VS_READER_WHY_MAX bytes): VS_ERR_NOT_FOUND: no such
 * process; VS_ERR_STATE: it records no trace; VS_ERR_IO: another user's. */
void vs_top_find_all(struct vs_top_finds *out);
enum vs_err vs_top_find_pid(uint64_t pid, struct vs_top_finds *out, char *why) VS_MUST_CHECK;
void vs_top_finds_free(struct vs_top_finds *finds);

/* --- top_names.c: names of call sites, looked up by a child process --- */

struct vs_top_name {
    char *name, *chain; /* owned; chain NULL: not looked up yet */
    bool final;         /* name is not a substitute */
    bool asked;
};

/* Zero-initialise. */
struct vs_top_names {
    struct vs_map by_key; /* of vs_watch_site -> index */
    struct vs_top_name *items;
    size_t count, capacity;
    pid_t child;          /* 0: none */
    int fd;               /* a byte for each answer */
    struct vs_top_answer *answers; /* shared with it */
    size_t taken;
};

/* vs_top_names_fill: sets the names of the sites in *view*: those known, and substitutes. Starts a
 * child process for the others, if none is at work; *wait*: looks them up here and now. */
void vs_top_names_fill(struct vs_top_names *names, struct vs_watch *watch,
                       struct vs_watch_view *view, bool wait);
/* vs_top_names_read: takes the answers that are there, and sets them in *view*, whose names they
 * replace. Returns whether there was one. */
bool vs_top_names_read(struct vs_top_names *names, struct vs_watch_view *view);
void vs_top_names_free(struct vs_top_names *names);

/* --- top_utilisation.c --- */

/* vs_top_utilisation: sets how busy *device* is now, where this machine has NVML and the device. */
void vs_top_utilisation(struct vs_watch_device *device);

/* --- top_sources.c: what is watched --- */

struct vs_top_source {
    char *path;
    uint64_t pid;           /* 0: the user named the trace */
    struct vs_watch *watch; /* NULL: it could not be opened, yet or at all; or *ended* */
    bool ended;             /* the process ended, and the view has its last figures */
    struct vs_top_names names;
    char why[VS_READER_WHY_MAX];
};

struct vs_top_sources {
    struct vs_top_source *items;
    size_t count, capacity;
    bool search;        /* find processes; otherwise those named by the user */
    uint64_t *pids;     /* named by the user; not owned */
    size_t pid_count;
    uint64_t searched_ns;
    char why[VS_READER_WHY_MAX]; /* of the latest search: why a process named by the user has no
                                  * trace (vs_top_find_pid), "" if all have one */
    bool may_come;               /* the process runs, and can be read */
    struct vs_top_model model;
};

/* vs_top_sources_add: the trace at *path*, unless it is watched. */
void vs_top_sources_add(struct vs_top_sources *sources, const char *path, uint64_t pid);
/* vs_top_sources_search: adds processes that started since. */
void vs_top_sources_search(struct vs_top_sources *sources);
/* vs_top_sources_read: reads all traces on, until *until_ns* at most (0: not at all), and makes the
 * model. Traces of ended processes are closed. *exact* and *wait* as of vs_watch_fill and
 * vs_top_names_fill. Returns whether there is more. */
bool vs_top_sources_read(struct vs_top_sources *sources, uint64_t until_ns, bool exact, bool wait);
void vs_top_sources_free(struct vs_top_sources *sources);

#define VS_TOP_NICE 10

/* --- top_live.c: the loop of the live view --- */

/* vs_top_live: until the user quits; returns the exit code. */
int vs_top_live(const char *who, struct vs_top_sources *sources);

/* --- top_terminal.c --- */

enum vs_top_key {
    VS_KEY_NONE, VS_KEY_UP, VS_KEY_DOWN, VS_KEY_SORT, VS_KEY_EXPAND, VS_KEY_GROWTH, VS_KEY_PAUSE, VS_KEY_HELP,
    VS_KEY_QUIT, VS_KEY_OTHER
};

/* vs_terminal_open: takes the terminal: alternate screen, keys without echo. Whatever ends the
 * process from here on, but SIGKILL, restores it. Returns false with a sentence in *why*
 * (VS_READER_WHY_MAX bytes). */
bool vs_terminal_open(char *why);
/* vs_terminal_draw: draws a screen of the terminal's size with *model*. */
void vs_terminal_draw(const struct vs_top_model *model);
/* vs_terminal_wait: until a key, a signal, something to read from one of *fds*, or *timeout_ms*. */
enum vs_top_key vs_terminal_wait(struct pollfd *fds, size_t count, int timeout_ms);
/* vs_terminal_interrupted: the signal that ends the command; 0: none so far. */
int vs_terminal_interrupted(void);
/* vs_terminal_close: restores the terminal; ends the process by the signal, if there was one. */
void vs_terminal_close(void);

#endif
