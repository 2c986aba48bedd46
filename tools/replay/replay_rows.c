/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of the table: settings by devices, run in parallel, and the smallest device of each. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/whatif/whatif_changes.h"
#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/replay/replay_command.h"

struct named_setting {
    const char *name;
    struct vs_whatif_setting setting;
};

struct table {
    const struct vs_replay_job *job;
    const struct vs_whatif_log *log;
    const struct vs_whatif_recorded *recorded;
    struct named_setting settings[VS_REPLAY_SETTINGS_MAX + VS_POLICY_COUNT + 16];
    size_t count;
    const struct vs_whatif_site *sites;
    size_t site_count;
};

/* Something other than the setting and the device changes from the first row to the others. */
static bool modified(const struct vs_replay_job *job)
{
    return job->limit || job->pool_keep != VS_WHATIF_NONE || job->others != VS_WHATIF_NONE ||
           job->empty_cache || job->free_site || job->without_site;
}

/* The next setting; NULL if it is in the table already. The first row has none of the changes that
 * the others have, so it is none of them then. */
static struct vs_whatif_setting *add_setting(struct table *t, const char *name)
{
    for (size_t i = modified(t->job); i < t->count; i++)
        if (strcasecmp(name, t->settings[i].name) == 0)
            return NULL;
    struct named_setting *s = &t->settings[t->count++];
    s->name = name;
    vs_whatif_setting_init(&s->setting);
    return &s->setting;
}

static void add_conf(struct table *t, const char *text)
{
    char why[VS_WHATIF_WHY_MAX];
    struct vs_whatif_setting *setting = add_setting(t, text);
    if (setting && vs_whatif_setting_conf(setting, text, why))
        t->count--; /* checked when the arguments were read */
}

static void choose_settings(struct table *t)
{
    const struct vs_replay_job *job = t->job;
    bool all = !job->conf_count && !job->sweep && !job->any_policy;
    add_setting(t, vs_whatif_recorded_name(t->recorded));
    if (modified(job))
        add_setting(t, vs_whatif_recorded_name(t->recorded)); /* as recorded but for these changes */
    if (modified(job) && all)
        return;
    if (job->observe || (all && t->recorded->requests == VS_WHATIF_PROGRAM)) {
        struct vs_whatif_setting *setting = add_setting(t, "observe");
        if (setting)
            setting->server = VS_WHATIF_DRIVER;
    }
    for (int i = 0; i < VS_POLICY_COUNT; i++) {
        if (all || job->policies[i]) {
            enum vs_policy_id policy = (enum vs_policy_id)i;
            if (policy == VS_POLICY_EXPANDABLE) { /* the same by its option */
                add_conf(t, "expandable_segments:True");
            } else {
                struct vs_whatif_setting *setting = add_setting(t, vs_policies[policy]->name);
                if (setting)
                    vs_whatif_setting_policy(setting, policy);
            }
        }
    }
    for (size_t i = 0; i < job->conf_count; i++)
        add_conf(t, job->confs[i]);
    for (size_t i = 0; job->sweep && vs_whatif_swept[i]; i++)
        add_conf(t, vs_whatif_swept[i]);
}

/* The setting of a row on its device. Another GPU has no other processes yet, and no limit. */
static struct vs_whatif_setting placed(const struct table *t, const struct named_setting *s,
                                       const struct vs_replay_device *device)
{
    const struct vs_replay_job *job = t->job;
    struct vs_whatif_setting setting = s->setting;
    if (device->capacity) {
        setting.capacity = device->capacity;
        setting.limit = VS_WHATIF_NONE;
        if (*device->gpu)
            setting.others_most = 0;
    }
    if (job->limit)
        setting.limit = job->limit;
    setting.pool_keep = job->pool_keep;
    if (job->others < setting.others_most)
        setting.others_most = job->others;
    setting.empty_cache_at_step_end = job->empty_cache;
    setting.sites = t->sites;
    setting.site_count = t->site_count;
    return setting;
}

/* The setting of row *i* on the smallest device. The first row is as recorded, but for the device's
 * size and what limited it. */
static struct vs_whatif_setting anywhere(const struct table *t, size_t i)
{
    static const struct vs_replay_device any = {"any", VS_WHATIF_NONE};
    struct vs_whatif_setting setting = t->settings[0].setting;
    if (i)
        return placed(t, &t->settings[i], &any);
    setting.limit = VS_WHATIF_NONE;
    setting.others_most = 0;
    return setting;
}

int vs_replay_rows(const struct vs_replay_job *job, const struct vs_whatif_log *log,
                   struct vs_reader *reader, struct vs_arena *memory, struct vs_replay_view *view)
{
    struct table t = {.job = job, .log = log, .recorded = vs_whatif_recorded(log)};
    int code = vs_replay_sites(job, log, reader, memory, &t.sites, &t.site_count);
    if (code)
        return code;
    choose_settings(&t);
    view->recorded = t.recorded;
    view->find = job->find;
    static const struct vs_replay_device recorded = {"", 0};
    const struct vs_replay_device *devices = job->device_count ? job->devices : &recorded;
    size_t device_count = job->device_count ? job->device_count : 1;
    size_t count = device_count * t.count + (job->device_count > 0);
    view->rows = vs_xarena(memory, count * sizeof *view->rows);
    struct vs_whatif_setting *settings = vs_xcalloc(count, sizeof *settings);
    struct vs_whatif_outcome *outcomes = vs_xcalloc(count, sizeof *outcomes);
    for (size_t i = 0; i < count; i++) {
        size_t k = job->device_count ? i - 1 : i; /* the recorded device first, one row */
        const struct vs_replay_device *device = i || !job->device_count ? &devices[k / t.count]
                                                                        : &recorded;
        const struct named_setting *s = i ? &t.settings[k % t.count] : &t.settings[0];
        settings[i] = i ? placed(&t, s, device) : s->setting;
        view->rows[i] = (struct vs_replay_row){.setting = s->name, .gpu = device->gpu,
                                               .capacity = device->capacity, .place = "",
                                               .where = "", .least_gpu = ""};
    }
    vs_whatif_run_all(t.log, settings, count, outcomes);
    view->count = count;
    for (size_t i = 0; i < view->count; i++)
        view->rows[i].outcome = outcomes[i];
    free(settings);
    free(outcomes);
    view->modified = modified(job);
    view->as_recorded = view->rows[0].outcome;
    if (job->find) {
        /* --find-capacity */
        static struct vs_replay_gpu gpus[VS_REPLAY_GPUS_MAX]; /* names for the rows */
        size_t gpu_count = vs_replay_gpus(gpus);
        for (size_t i = 0; i < view->count; i++) {
            struct vs_replay_row *row = &view->rows[i];
            struct vs_whatif_setting setting = anywhere(&t, i);
            struct vs_whatif_outcome least, out;
            row->least_capacity = vs_whatif_least_capacity(t.log, &setting, &least);
            if (row->least_capacity)
                row->outcome = least;
            for (size_t g = 0; row->least_capacity && g < gpu_count && !*row->least_gpu; g++) {
                if (gpus[g].total < row->least_capacity)
                    continue;
                setting.capacity = gpus[g].total;
                vs_whatif_run(t.log, &setting, &out);
                if (!out.err && out.survives)
                    row->least_gpu = gpus[g].name;
            }
        }
    }
    return 0;
}
