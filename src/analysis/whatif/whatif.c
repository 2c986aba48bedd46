/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header: a log's facts, settings, and runs of several settings. Worker threads share the
 * log, which does not change, and take the next setting from one counter. */
#include "analysis/whatif/whatif.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator/core/alloc_conf.h"
#include "analysis/growth/growth.h"
#include "analysis/whatif/requests_reading.h"
#include "base/reading/vs_xalloc.h"

#define WORKERS_MAX 16

const struct vs_whatif_recorded *vs_whatif_recorded(const struct vs_whatif_log *log)
{
    return &log->recorded;
}

const uint64_t *vs_whatif_stacks(const struct vs_whatif_log *log, size_t *count)
{
    *count = log->site_count;
    return log->stacks;
}

void vs_whatif_found_steps(struct vs_whatif_log *log, const struct vs_growth_step *items, size_t count,
                           bool ended)
{
    log->found = vs_xcalloc(count + 1, sizeof *log->found);
    while (log->found_count < count && items[log->found_count].event <= log->recorded.events) {
        log->found[log->found_count] = items[log->found_count].event;
        log->found_count++;
    }
    log->last_ended = ended && log->found_count == count;
    if (log->found_count)
        log->recorded.steps = log->found_count - !log->last_ended;
}

void vs_whatif_close(struct vs_whatif_log *log)
{
    if (!log)
        return;
    vs_request_store_free(&log->store);
    free(log->stacks);
    free(log->found);
    free(log);
}

void vs_whatif_setting_init(struct vs_whatif_setting *setting)
{
    *setting = (struct vs_whatif_setting){.others_most = VS_WHATIF_NONE,
                                          .pool_keep = VS_WHATIF_NONE};
}

enum vs_err vs_whatif_setting_conf(struct vs_whatif_setting *setting, const char *text, char *why)
{
    struct vs_alloc_conf conf = {0};
    struct vs_alloc_conf_messages messages = {0};
    enum vs_err err = vs_alloc_conf_parse(text, strlen(text), &conf, &messages);
    if (!err && conf.backend != VS_BACKEND_NATIVE) {
        snprintf(messages.error, sizeof messages.error,
                 "backend:cudaMallocAsync is the driver's pool, whose rules are not public");
        err = VS_ERR_ARG;
    }
    if (err) {
        snprintf(why, VS_WHATIF_WHY_MAX, "%s", messages.error);
        return err;
    }
    setting->server = VS_WHATIF_ALLOCATOR;
    setting->config = conf.config;
    return VS_OK;
}

void vs_whatif_setting_policy(struct vs_whatif_setting *setting, enum vs_policy_id policy)
{
    setting->server = VS_WHATIF_ALLOCATOR;
    setting->config = (struct vs_allocator_config){.policy = policy};
}

double vs_whatif_fragmentation(const struct vs_whatif_outcome *outcome)
{
    if (!outcome->reserved_peak)
        return 0;
    return 1 - (double)outcome->allocated_at_peak / (double)outcome->reserved_peak;
}

/* --- several settings --- */

struct runs {
    const struct vs_whatif_log *log;
    const struct vs_whatif_setting *settings;
    struct vs_whatif_outcome *out;
    size_t count;
    atomic_size_t next; /* atomic; relaxed: each setting is independent, joining publishes all */
};

static void *work(void *ctx)
{
    struct runs *runs = ctx;
    size_t i;
    while ((i = atomic_fetch_add_explicit(&runs->next, 1, memory_order_relaxed)) < runs->count)
        vs_whatif_run(runs->log, &runs->settings[i], &runs->out[i]);
    return NULL;
}

void vs_whatif_run_all(const struct vs_whatif_log *log, const struct vs_whatif_setting *settings,
                       size_t count, struct vs_whatif_outcome *out)
{
    struct runs runs = {.log = log, .settings = settings, .out = out, .count = count};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors > 1 ? (size_t)processors : 1, started = 0;
    pthread_t threads[WORKERS_MAX];
    if (wanted > count)
        wanted = count;
    if (wanted > WORKERS_MAX)
        wanted = WORKERS_MAX;
    while (started + 1 < wanted && !pthread_create(&threads[started], NULL, work, &runs))
        started++;
    work(&runs); /* this thread too, and alone if no other could be started */
    while (started)
        pthread_join(threads[--started], NULL);
}

uint64_t vs_whatif_least_capacity(const struct vs_whatif_log *log,
                                  const struct vs_whatif_setting *setting,
                                  struct vs_whatif_outcome *out)
{
    struct vs_whatif_setting trial = *setting;
    struct vs_whatif_outcome result;
    uint64_t pages_failed = log->recorded.least_peak / VS_PAGE_BYTES; /* not enough, or just so */
    trial.capacity = VS_WHATIF_NONE;
    trial.limit = trial.limit ? trial.limit : VS_WHATIF_NONE; /* that of the recording is gone */
    vs_whatif_run(log, &trial, out);
    if (out->err || !out->survives)
        return 0;
    uint64_t pages = (out->used_peak + VS_PAGE_BYTES - 1) / VS_PAGE_BYTES;
    pages = pages ? pages : 1; /* 0 says that there is none */
    pages_failed = pages_failed ? pages_failed : 1;
    while (pages_failed < pages) {
        uint64_t middle = pages_failed + (pages - pages_failed) / 2;
        trial.capacity = middle * VS_PAGE_BYTES;
        vs_whatif_run(log, &trial, &result);
        if (!result.err && result.survives) {
            pages = middle;
            *out = result;
        } else {
            pages_failed = middle + 1;
        }
    }
    return pages * VS_PAGE_BYTES;
}
