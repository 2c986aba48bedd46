/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of `vramscope replay`. Every text of --set and every size is checked before the
 * trace is read. */
#include <getopt.h>
#include <string.h>

#include "allocator/core/alloc_conf.h"
#include "base/vs_size.h"
#include "tools/common/command.h"
#include "tools/common/name_match.h"
#include "tools/common/simulated.h"
#include "tools/replay/replay_command.h"

#define KEYS_MAX 64
#define KEYS_LISTED 9 /* those that change how memory is placed come first */

/* PyTorch ignores keys that it does not know; a row for one would be a row for nothing. */
static int check_keys(const struct vs_replay_job *job, const char *text)
{
    struct vs_alloc_conf conf = {0};
    struct vs_alloc_conf_messages messages = {0};
    const char *names[KEYS_MAX];
    char list[VS_NAME_LIST_MAX];
    size_t count = 0;
    if (!text[strspn(text, " ,")])
        return vs_tool_usage(job->who, "--set takes KEY:VALUE, such as expandable_segments:True");
    if (vs_alloc_conf_parse(text, strlen(text), &conf, &messages) || !*messages.unknown)
        return 0; /* the caller prints the error */
    while (count < KEYS_MAX && (names[count] = vs_alloc_conf_key(count)) != NULL)
        count++;
    size_t meant = vs_name_meant(messages.unknown, names, count);
    if (meant < count)
        return vs_tool_fail(job->who, "--set '%s': unknown key '%s'; did you mean '%s'?", text,
                            messages.unknown, names[meant]);
    return vs_tool_fail(job->who, "--set '%s': unknown key '%s'; known keys: %s", text,
                        messages.unknown, vs_name_list(list, names, count, KEYS_LISTED));
}

static int add_conf(struct vs_replay_job *job, const char *text)
{
    struct vs_whatif_setting setting;
    char why[VS_WHATIF_WHY_MAX];
    int code = check_keys(job, text);
    if (code)
        return code;
    if (job->conf_count == VS_REPLAY_SETTINGS_MAX)
        return vs_tool_usage(job->who, "at most %d times --set", VS_REPLAY_SETTINGS_MAX);
    vs_whatif_setting_init(&setting);
    if (vs_whatif_setting_conf(&setting, text, why))
        return vs_tool_usage(job->who, "--set '%s': %s", text, why);
    job->confs[job->conf_count++] = text;
    return 0;
}

static int add_policy(struct vs_replay_job *job, const char *name)
{
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
    return vs_tool_usage(job->who, "--policy %s: not a policy; it takes observe (no cache), "
                         "pytorch, expandable or compact", name);
}

static int add_device(struct vs_replay_job *job, const char *gpu, uint64_t capacity)
{
    if (job->device_count == VS_REPLAY_DEVICES_MAX)
        return vs_tool_usage(job->who, "at most %d devices", VS_REPLAY_DEVICES_MAX);
    job->devices[job->device_count++] = (struct vs_replay_device){gpu, capacity};
    return 0;
}

static int add_capacity(struct vs_replay_job *job, const char *text)
{
    uint64_t bytes;
    if (vs_size_parse(text, &bytes) || bytes < VS_PAGE_BYTES)
        return vs_tool_usage(job->who, "--capacity takes a size from 2MiB on, such as 24GiB");
    return add_device(job, "", bytes);
}

static int add_gpu(struct vs_replay_job *job, const char *name)
{
    char why[VS_SIMULATED_WHY_MAX];
    uint64_t total, taken;
    if (vs_simulated_memory(name, &total, &taken, why))
        return vs_tool_fail(job->who, "--gpu %s: %s", name, why);
    return add_device(job, name, total);
}

static int set_device(struct vs_replay_job *job, const char *text)
{
    unsigned long long device;
    if (!vs_tool_count(text, 0, 63, &device))
        return vs_tool_usage(job->who, "--device takes a number from 0 to 63");
    job->device = device;
    return 0;
}

/* A size, or the word *none* for none. */
static int set_size(struct vs_replay_job *job, const char *flag, const char *text, uint64_t *out)
{
    if (out == &job->limit && strcmp(text, "none") == 0) {
        *out = VS_WHATIF_NONE;
        return 0;
    }
    if (vs_size_parse(text, out) || (out == &job->limit && !*out))
        return vs_tool_usage(job->who, "%s takes a size, such as 8GiB%s", flag,
                             out == &job->limit ? ", or none" : "");
    return 0;
}

static int one(struct vs_replay_job *job, char **argv, int c, const char *value)
{
    switch (c) {
    case 's': return add_conf(job, value);
    case 'P': return add_policy(job, value);
    case 'C': return add_capacity(job, value);
    case 'g': return add_gpu(job, value);
    case 'd': return set_device(job, value);
    case 'u':
        return vs_tool_count(value, 1, ~0ull, &job->until)
                   ? 0 : vs_tool_usage(job->who, "--until takes the number of an event, from 1");
    case 'c':
        job->colour_given = strcmp(value, "auto") != 0;
        return vs_tool_colour(value, &job->colour)
                   ? 0 : vs_tool_usage(job->who, "--color takes auto, always or never");
    case 'l': return set_size(job, "--limit", value, &job->limit);
    case 'k': return set_size(job, "--pool-keep", value, &job->pool_keep);
    case 'o': return set_size(job, "--others", value, &job->others);
    case 'r': job->free_site = value; return 0;
    case 'e': job->empty_cache = true; return 0;
    case 'w': job->sweep = true; return 0;
    case 'f': job->find = true; return 0;
    case 'j': job->json = true; return 0;
    case 'p': job->partial = true; return 0;
    default: return vs_tool_bad_option(argv, c);
    }
}

int vs_replay_parse(struct vs_replay_job *job, const char *usage, int argc, char **argv)
{
    static const struct option options[] = {
        {"set", required_argument, NULL, 's'},      {"sweep", no_argument, NULL, 'w'},
        {"policy", required_argument, NULL, 'P'},   {"capacity", required_argument, NULL, 'C'},
        {"gpu", required_argument, NULL, 'g'},      {"find-capacity", no_argument, NULL, 'f'},
        {"device", required_argument, NULL, 'd'},   {"until", required_argument, NULL, 'u'},
        {"limit", required_argument, NULL, 'l'},    {"pool-keep", required_argument, NULL, 'k'},
        {"others", required_argument, NULL, 'o'},   {"free-site", required_argument, NULL, 'r'},
        {"empty-cache", no_argument, NULL, 'e'},    {"json", no_argument, NULL, 'j'},
        {"partial", no_argument, NULL, 'p'},        {"color", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {0}};
    int c;
    opterr = 0;
    job->device = VS_WHATIF_DEVICE_ANY;
    job->pool_keep = job->others = VS_WHATIF_NONE;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            return -1;
        }
        int code = one(job, argv, c, optarg);
        if (code)
            return code;
    }
    if (argc - optind != 1)
        return vs_tool_usage(job->who, argc == optind ? "no trace given" : "takes one trace");
    if (job->find && job->device_count)
        return vs_tool_usage(job->who, "--find-capacity finds the device: it takes no --capacity "
                             "and no --gpu");
    job->trace = argv[optind];
    return 0;
}
