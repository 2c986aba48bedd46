/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of `vramscope replay`. Every text of --set and every size is checked before the
 * trace is read. */
#include <getopt.h>
#include <string.h>

#include "allocator/core/alloc_conf.h"
#include "base/vs_size.h"
#include "tools/common/paths.h"
#include "tools/common/report_names.h"
#include "tools/common/tool_options.h"
#include "tools/replay/replay_command.h"

/* PyTorch ignores keys that it does not know; a row for one would be a row for nothing. */
static int check_keys(const struct vs_replay_job *job, const char *text)
{
    struct vs_alloc_conf conf = {0};
    struct vs_alloc_conf_messages messages = {0};
    char hint[VS_NAME_HINT_MAX];
    if (!text[strspn(text, " ,")])
        return vs_tool_usage(job->who, "--set takes KEY:VALUE, such as expandable_segments:True");
    if (vs_alloc_conf_parse(text, strlen(text), &conf, &messages) || !*messages.unknown)
        return 0; /* the caller prints the error */
    return vs_tool_fail(job->who, "--set '%s': unknown key '%s'; %s", text, messages.unknown,
                        vs_alloc_conf_hint(hint, messages.unknown));
}

static int add_conf(const char *who, const char *text, void *to)
{
    struct vs_replay_job *job = to;
    struct vs_whatif_setting setting;
    char why[VS_WHATIF_WHY_MAX];
    int code = check_keys(job, text);
    if (code)
        return code;
    if (job->conf_count == VS_REPLAY_SETTINGS_MAX)
        return vs_tool_usage(who, "at most %d times --set", VS_REPLAY_SETTINGS_MAX);
    vs_whatif_setting_init(&setting);
    if (vs_whatif_setting_conf(&setting, text, why))
        return vs_tool_usage(who, "--set '%s': %s", text, why);
    job->confs[job->conf_count++] = text;
    return 0;
}

static int add_policy(const char *who, const char *name, void *to)
{
    struct vs_replay_job *job = to;
    job->any_policy = true;
    if (strcmp(name, "observe") == 0) {
        job->observe = true;
        return 0;
    }
    for (int i = 0; i < VS_POLICY_COUNT; i++) {
        if (strcmp(vs_policies[i]->name, name) == 0) {
            job->policies[i] = true;
            return 0;
        }
    }
    return vs_tool_usage(who, "--policy %s: not a policy; it takes observe (no cache), "
                         "pytorch, expandable or compact", name);
}

static int add_device(struct vs_replay_job *job, const char *gpu, uint64_t capacity)
{
    if (job->device_count == VS_REPLAY_DEVICES_MAX)
        return vs_tool_usage(job->who, "at most %d devices", VS_REPLAY_DEVICES_MAX);
    job->devices[job->device_count++] = (struct vs_replay_device){gpu, capacity};
    return 0;
}

static int add_capacity(const char *who, const char *text, void *to)
{
    struct vs_replay_job *job = to;
    uint64_t bytes;
    if (vs_size_parse(text, &bytes) || bytes < VS_PAGE_BYTES)
        return vs_tool_usage(who, "--capacity takes a size from 2MiB on, such as 24GiB");
    return add_device(job, "", bytes);
}

static int add_gpu(const char *who, const char *name, void *to)
{
    struct vs_replay_job *job = to;
    char why[VS_SIMULATED_WHY_MAX];
    uint64_t total, taken;
    if (vs_simulated_memory(name, &total, &taken, why))
        return vs_tool_fail(who, "--gpu %s: %s", name, why);
    return add_device(job, name, total);
}

static bool set_device(const char *text, void *to)
{
    unsigned long long device;
    if (!vs_tool_count(text, 0, 63, &device))
        return false;
    *(uint64_t *)to = device;
    return true;
}

static bool set_size(const char *text, void *to)
{
    return !vs_size_parse(text, to);
}

/* A size, or the word *none* for none. */
static bool set_limit(const char *text, void *to)
{
    uint64_t *bytes = to;
    if (strcmp(text, "none") != 0)
        return !vs_size_parse(text, bytes) && *bytes;
    *bytes = VS_WHATIF_NONE;
    return true;
}

int vs_replay_parse(struct vs_replay_job *job, const char *usage, int argc, char **argv)
{
    const struct vs_tool_option options[] = {
        {"set", .run = add_conf, .to = job},
        {"sweep", .flag = &job->sweep},
        {"policy", .run = add_policy, .to = job},
        {"capacity", .run = add_capacity, .to = job},
        {"gpu", .run = add_gpu, .to = job},
        {"find-capacity", .flag = &job->find},
        {"device", .parse = set_device, .to = &job->device, .takes = "a number from 0 to 63"},
        {"until", .count = &job->until, .min = 1, .max = ~0ull,
         .takes = "the number of an event, from 1"},
        {"limit", .parse = set_limit, .to = &job->limit, .takes = "a size, such as 8GiB, or none"},
        {"pool-keep", .parse = set_size, .to = &job->pool_keep, .takes = "a size, such as 8GiB"},
        {"others", .parse = set_size, .to = &job->others, .takes = "a size, such as 8GiB"},
        {"free-site", .text = &job->free_site},
        {"without-site", .text = &job->without_site},
        {"empty-cache", .flag = &job->empty_cache},
        {"json", .flag = &job->json},
        {"partial", .flag = &job->partial},
        {"color", .colour = &job->colour},
        {0}};
    job->device = VS_WHATIF_DEVICE_ANY;
    job->pool_keep = job->others = VS_WHATIF_NONE;
    int code = vs_tool_options(argc, argv, usage, options);
    if (code)
        return code;
    if (argc - optind != 1)
        return vs_tool_usage(job->who, argc == optind ? "no trace given" : "takes one trace");
    if (job->find && job->device_count)
        return vs_tool_usage(job->who, "--find-capacity finds the device: it takes no --capacity "
                             "and no --gpu");
    job->trace = argv[optind];
    return 0;
}
