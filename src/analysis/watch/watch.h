/* SPDX-License-Identifier: Apache-2.0
 *
 * The present state of a recorded process, from its trace, while the program runs: memory by device
 * and call site, rates, growth and how long memory will last. Reads the trace with a follower
 * (follower.h) and never touches the program. Memory: that of a replay. Not thread-safe. */
#ifndef VS_WATCH_H
#define VS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/growth/growth.h"
#include "analysis/state/replay.h"
#include "base/vs_err.h"
#include "trace/symbols/symbols.h"

/* --- How long a program whose memory grows can go on before its device is out of memory. The
 * figures are estimates: the texts are rounded, and nothing is forecast without growth that the
 * analysis is sure of (growth.h). Pure functions. --- */

struct vs_forecast_facts {
    uint64_t capacity;  /* bytes that the program can have: its own and the free ones; 0: unknown */
    uint64_t highest;   /* highest use in the latest steps, of these bytes */
    uint64_t per_step;  /* growth in bytes; 0: not known in steps */
    uint64_t step_ns;   /* mean length of the latest steps; 0: unknown */
    uint64_t since_step_ns; /* since the latest step began */
    uint64_t grown;     /* bytes, between the following times */
    uint64_t from_ns, until_ns;
    uint64_t times;     /* how often it grew between: steps, without steps blocks */
    uint64_t now_ns;
};

/* A cache of one request grows like a leak until the request ends. So memory is forecast to run out
 * only where the growth has gone on for a minute and 64 times, or for a quarter of the time, or of
 * the steps, that are left. */
struct vs_forecast {
    bool known;
    bool early;          /* not known for this reason alone */
    uint64_t available;  /* bytes above the highest use */
    uint64_t per_step;   /* 0: the growth is in time */
    uint64_t per_second; /* likewise in time */
    uint64_t step_ns;
    bool steps_known;
    uint64_t steps;      /* until memory runs out */
    bool time_known;
    uint64_t seconds;    /* until memory runs out */
};

/* vs_forecast_make: what *facts* say. */
struct vs_forecast vs_forecast_make(const struct vs_forecast_facts *facts);

#define VS_FORECAST_TEXT_MAX 64
/* vs_forecast_text: "about 4 min left", "about 240 steps left", "the next step may run out of
 * memory", or "" when nothing is known; *out* has VS_FORECAST_TEXT_MAX bytes. Returns out. */
char *vs_forecast_text(char *out, const struct vs_forecast *forecast);

/* vs_about_time, vs_about_count: a rounded duration ("4 min") and count ("240"); likewise. */
char *vs_about_time(char *out, uint64_t seconds);
char *vs_about_count(char *out, uint64_t count);

/* The allocated bytes of a device over the whole run, in a fixed number of periods, each with its
 * highest value: when they are used up, two become one. And what was allocated in the last seconds.
 * Times are those of the events. Not thread-safe. */

#define VS_HISTORY_PERIODS 128u
#define VS_RATE_PERIODS 16u

/* Zero-initialise. */
struct vs_memory_history {
    uint64_t highest[VS_HISTORY_PERIODS];
    size_t count;        /* periods begun */
    uint64_t start_ns, period_ns;
    uint64_t level;      /* now */
    struct {
        uint64_t period; /* number since start_ns */
        uint64_t bytes, allocs;
    } recent[VS_RATE_PERIODS];
};

/* vs_history_level: *level* bytes are allocated from *time_ns* on. */
void vs_history_level(struct vs_memory_history *history, uint64_t time_ns, uint64_t level);

/* vs_history_request: *bytes* were allocated at *time_ns*. */
void vs_history_request(struct vs_memory_history *history, uint64_t time_ns, uint64_t bytes);

/* vs_history_rate: bytes and allocations per second, in the last 5 seconds before *now_ns*, or
 * since the start if that is later. */
void vs_history_rate(const struct vs_memory_history *history, uint64_t now_ns, uint64_t *bytes,
                     uint64_t *allocs);

struct vs_watch;

#define VS_WATCH_SITES_MAX 64

/* The stacks that the user sees as one call site, at the user's level (user_level.h). */
struct vs_watch_site {
    uint64_t key;   /* the same as long as the program is watched */
    uint32_t site;  /* the one with most bytes: index in the replay's sites */
    uint64_t bytes, count;     /* live */
    uint64_t growth_per_step;  /* 0: it does not grow, or not in steps */
    bool growing;
    const char *name, *chain;  /* set by the caller; not owned */
};

struct vs_watch_device {
    uint64_t device; /* the driver's ordinal */
    const char *name, *uuid;   /* uuid: "GPU-..."; "" when unknown */
    bool simulated;
    enum vs_level level;       /* of allocated, peak, sites: VS_LEVEL_FRAMEWORK: tensors and other
                                * memory that does not hold them */
    uint64_t allocated, peak;
    uint64_t reserved, peak_reserved; /* held from the device by the process */
    uint64_t used, total;      /* of the device, by all processes, at the latest reading; total 0:
                                * unknown */
    bool used_known;
    bool busy_known;           /* set by the caller */
    unsigned busy_percent;     /* of the time something ran on the device, of all processes */
    uint64_t limit_bytes;      /* 0: none */
    uint64_t bytes_per_second, allocs_per_second; /* allocated, in the last 5 seconds */
    uint64_t cached;           /* of reserved: not in use */
    struct vs_holes holes;     /* of it; count 0: not known */
    bool growing;
    struct vs_growth_row growth; /* meaningful with *growing*: all sites that grow */
    struct vs_forecast forecast;
    struct vs_watch_site sites[VS_WATCH_SITES_MAX]; /* most bytes first */
    size_t site_count, sites_omitted;
    uint64_t sites_bytes;      /* of all sites */
    const struct vs_memory_history *history;
};

struct vs_watch_view {
    uint64_t pid;
    const char *exe, *cmdline, *job, *rank; /* "" when unknown */
    const char *path;          /* of the trace */
    bool running;              /* otherwise ended: the figures are its last */
    bool complete;             /* running: everything recorded so far was read */
    double read_share;         /* otherwise: of the trace, 0 to 1 */
    char ending[VS_READER_WHY_MAX]; /* how it ended; "" while it runs */
    uint64_t run_ns;           /* since its start */
    uint64_t events, failures; /* failures: allocations that failed */
    bool sampled;              /* not all allocations have events: sites are estimates */
    enum vs_steps_source steps_source;
    uint64_t step;             /* number of the step in progress or the last; 0: none */
    uint64_t steps_begun, step_ns; /* mean of the latest; 0: unknown */
    uint64_t host_bytes;       /* pinned and registered host memory */
    struct vs_watch_device *devices; /* owned */
    size_t device_count;
    void *kept;                /* owned: texts and histories of vs_watch_view_keep */
};

/* vs_watch_open: as vs_reader_open, which describes *why* and the errors. */
enum vs_err vs_watch_open(const char *path, struct vs_watch **out, char *why) VS_MUST_CHECK;

/* vs_watch_read: reads the events recorded since, until *until_ns* (CLOCK_MONOTONIC) at most. As
 * vs_watch_open if the trace had to be opened again. */
enum vs_err vs_watch_read(struct vs_watch *watch, uint64_t until_ns) VS_MUST_CHECK;

/* vs_watch_fill: the state so far. *out* is zero-initialised, or of an earlier call; its texts live
 * until the next vs_watch_read. Cost: a pass over the call sites; passes over live
 * memory when the last took less than a tenth of the time since (always with *exact*). */
void vs_watch_fill(struct vs_watch *watch, bool exact, struct vs_watch_view *out);
void vs_watch_view_free(struct vs_watch_view *view);

/* vs_watch_view_keep: copies the texts and histories, but not the names of call sites, into *view*:
 * the watch can be closed, and the view must not be filled again. */
void vs_watch_view_keep(struct vs_watch_view *view);

/* vs_watch_complete: everything recorded when it was last read was read. */
bool vs_watch_complete(const struct vs_watch *watch);

/* vs_watch_ended: the process is gone, and all of its trace was read. */
bool vs_watch_ended(const struct vs_watch *watch);

/* --- names of call sites --- */

#define VS_WATCH_NAME_MAX 512
/* vs_watch_line: the label of *site*, as vs_watch_name, if it takes no time: of the user's Python.
 * *out* has VS_WATCH_NAME_MAX bytes. Returns false when it does: *out* is then "…". */
bool vs_watch_line(struct vs_watch *watch, const struct vs_watch_site *site, char *out);

#define VS_WATCH_CHAIN_MAX 4096
/* vs_watch_name: the names that need symbols, which may take seconds: the innermost functions, and
 * the call chain, behind which a second line is the source line of its first function, where that can be
 * read. */
void vs_watch_name(struct vs_watch *watch, const struct vs_watch_site *site,
                   char name[VS_WATCH_NAME_MAX], char chain[VS_WATCH_CHAIN_MAX]);

void vs_watch_close(struct vs_watch *watch); /* NULL does nothing */

#endif
