/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a program whose memory grows can go on before its device is out of memory. The figures
 * are estimates: the texts are rounded, and nothing is forecast without growth that the analysis
 * is sure of (growth.h). Pure functions. */
#ifndef VS_FORECAST_H
#define VS_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_forecast_facts {
    uint64_t capacity;  /* bytes that the program can have: its own and the free ones; 0: unknown */
    uint64_t highest;   /* highest use in the latest steps, of these bytes */
    uint64_t per_step;  /* growth in bytes; 0: not known in steps */
    uint64_t step_ns;   /* mean length of the latest steps; 0: unknown */
    uint64_t since_step_ns; /* since the latest step began */
    uint64_t grown;     /* bytes, between the following times */
    uint64_t from_ns, until_ns;
    uint64_t now_ns;
};

struct vs_forecast {
    bool known;
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

#endif
