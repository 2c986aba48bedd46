/* SPDX-License-Identifier: Apache-2.0
 *
 * Presets and the spec parser. Figures are NVIDIA's published ones (the product's data sheet for
 * memory bandwidth, the architecture white paper for SMs, the CUDA C++ programming guide's table of
 * compute capabilities for limits per SM, the list of PCI ids for the device number, the data sheet
 * for the board's power limit). Total memory is what PyTorch reports of such a device in public
 * out-of-memory messages, two decimals of a GiB; GH200's follows from NVML's figure with the
 * difference that H100 has. NVML's figures are those of nvidia-smi in public logs.
 *
 * The size of a context is the row of the GPU in src/simulator/libraries/sizes/sizes.tsv, which the
 * build copies into a header (cmake/size_tables.py). A GPU without a row has the size by a rule. */
#include "simulator/driver/vs_sim_spec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"

static const struct vs_sim_preset presets[] = {
    {"p100-16g", "Simulated P100 (vramscope)", 16271 * VS_MIB, 16384,
     56, 6, 0, 732, 12, 1328500, 715000, 4096, 4 << 20, 64 << 10, 48 << 10, 2048, 32,
     0x15f8, 250, 16384 * VS_MIB, 3},
    {"v100-16g", "Simulated V100-16GB (vramscope)", 16149 * VS_MIB, 16384,
     80, 7, 0, 900, 12, 1530000, 877000, 4096, 6 << 20, 96 << 10, 96 << 10, 2048, 32,
     0x1db1, 300, 16384 * VS_MIB, 3},
    {"v100-32g", "Simulated V100-32GB (vramscope)", 32492 * VS_MIB, 32768,
     80, 7, 0, 900, 12, 1530000, 877000, 4096, 6 << 20, 96 << 10, 96 << 10, 2048, 32,
     0x1db5, 300, 32768 * VS_MIB, 3},
    {"t4-16g", "Simulated T4 (vramscope)", 14920 * VS_MIB, 15360,
     40, 7, 5, 320, 12, 1590000, 5001000, 256, 4 << 20, 64 << 10, 64 << 10, 1024, 16,
     0x1eb8, 70, 256 * VS_MIB, 3},
    {"rtx3060-12g", "Simulated RTX 3060 (vramscope)", 12032 * VS_MIB, 12288,
     28, 8, 6, 360, 25, 1777000, 7501000, 192, 3 << 20, 100 << 10, 99 << 10, 1536, 16,
     0x2503, 170, 16384 * VS_MIB, 4},
    {"rtx3090-24g", "Simulated RTX 3090 (vramscope)", 24258 * VS_MIB, 24576,
     82, 8, 6, 936, 25, 1695000, 9751000, 384, 6 << 20, 100 << 10, 99 << 10, 1536, 16,
     0x2204, 350, 32768 * VS_MIB, 4},
    {"rtx4060ti-16g", "Simulated RTX 4060 Ti 16GB (vramscope)", 15974 * VS_MIB, 16380,
     34, 8, 9, 288, 12, 2535000, 9001000, 128, 32 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x2805, 165, 16384 * VS_MIB, 4},
    {"rtx4070-12g", "Simulated RTX 4070 (vramscope)", 12001 * VS_MIB, 12282,
     46, 8, 9, 504, 25, 2475000, 10501000, 192, 36 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x2786, 200, 16384 * VS_MIB, 4},
    {"rtx4080-16g", "Simulated RTX 4080 (vramscope)", 16067 * VS_MIB, 16376,
     76, 8, 9, 717, 25, 2505000, 11201000, 256, 64 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x2704, 320, 16384 * VS_MIB, 4},
    {"rtx4090-24g", "Simulated RTX 4090 (vramscope)", 24217 * VS_MIB, 24564,
     128, 8, 9, 1008, 25, 2520000, 10501000, 384, 72 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x2684, 450, 32768 * VS_MIB, 4},
    {"rtx5090-32g", "Simulated RTX 5090 (vramscope)", 32113 * VS_MIB, 32607,
     170, 12, 0, 1792, 50, 2407000, 14001000, 512, 96 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x2b85, 575, 32768 * VS_MIB, 5},
    {"a10g-24g", "Simulated A10G (vramscope)", 22589 * VS_MIB, 23028,
     80, 8, 6, 600, 25, 1710000, 6251000, 384, 6 << 20, 100 << 10, 99 << 10, 1536, 16,
     0x2237, 300, 32768 * VS_MIB, 4},
    {"l4-24g", "Simulated L4 (vramscope)", 22559 * VS_MIB, 23034,
     58, 8, 9, 300, 25, 2040000, 6251000, 192, 48 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x27b8, 72, 32768 * VS_MIB, 4},
    {"l40s-48g", "Simulated L40S (vramscope)", 45455 * VS_MIB, 46068,
     142, 8, 9, 864, 25, 2520000, 9001000, 384, 96 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x26b9, 350, 65536 * VS_MIB, 4},
    {"a40-48g", "Simulated A40 (vramscope)", 45486 * VS_MIB, 46068,
     84, 8, 6, 696, 25, 1740000, 7251000, 384, 6 << 20, 100 << 10, 99 << 10, 1536, 16,
     0x2235, 300, 65536 * VS_MIB, 4},
    {"a6000-48g", "Simulated RTX A6000 (vramscope)", 48671 * VS_MIB, 49140,
     84, 8, 6, 768, 25, 1800000, 8001000, 384, 6 << 20, 100 << 10, 99 << 10, 1536, 16,
     0x2230, 300, 65536 * VS_MIB, 4},
    {"rtx6000ada-48g", "Simulated RTX 6000 Ada (vramscope)", 48538 * VS_MIB, 49140,
     142, 8, 9, 960, 25, 2505000, 10001000, 384, 96 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x26b1, 300, 65536 * VS_MIB, 4},
    {"rtxpro6000-96g", "Simulated RTX PRO 6000 (vramscope)", 97249 * VS_MIB, 97887,
     188, 12, 0, 1792, 50, 2617000, 14001000, 512, 128 << 20, 100 << 10, 99 << 10, 1536, 24,
     0x2bb1, 600, 131072 * VS_MIB, 5},
    {"a100-40g", "Simulated A100-40GB (vramscope)", 40442 * VS_MIB, 40960,
     108, 8, 0, 1555, 25, 1410000, 1215000, 5120, 40 << 20, 164 << 10, 163 << 10, 2048, 32,
     0x20b0, 400, 65536 * VS_MIB, 4},
    {"a100-80g", "Simulated A100-80GB (vramscope)", 81153 * VS_MIB, 81920,
     108, 8, 0, 2039, 25, 1410000, 1593000, 5120, 40 << 20, 164 << 10, 163 << 10, 2048, 32,
     0x20b2, 400, 131072 * VS_MIB, 4},
    {"h100-80g", "Simulated H100-80GB (vramscope)", 81116 * VS_MIB, 81559,
     132, 9, 0, 3352, 50, 1980000, 2619000, 5120, 50 << 20, 228 << 10, 227 << 10, 2048, 32,
     0x2330, 700, 131072 * VS_MIB, 5},
    {"h100nvl-94g", "Simulated H100 NVL (vramscope)", 95334 * VS_MIB, 95830,
     132, 9, 0, 3938, 50, 1785000, 2619000, 6016, 50 << 20, 228 << 10, 227 << 10, 2048, 32,
     0x2321, 400, 131072 * VS_MIB, 5},
    {"gh200-96g", "Simulated GH200 (vramscope)", 97157 * VS_MIB, 97871,
     132, 9, 0, 4000, 450, 1980000, 2619000, 6144, 50 << 20, 228 << 10, 227 << 10, 2048, 32,
     0x2342, 900, 131072 * VS_MIB, 5},
    {"h200-141g", "Simulated H200 (vramscope)", 143167 * VS_MIB, 143771,
     132, 9, 0, 4800, 50, 1980000, 3201000, 6144, 50 << 20, 228 << 10, 227 << 10, 2048, 32,
     0x2335, 700, 262144 * VS_MIB, 5},
    {"b200-192g", "Simulated B200 (vramscope)", 182630 * VS_MIB, 183359,
     148, 10, 0, 8000, 50, 1965000, 3996000, 8192, 126 << 20, 228 << 10, 227 << 10, 2048, 32,
     0x2901, 1000, 262144 * VS_MIB, 5},
    {"gb300-288g", "Simulated GB300 (vramscope)", 283136 * VS_MIB, 0,
     160, 10, 3, 8000, 450, 1920000, 3996000, 8192, 126 << 20, 228 << 10, 227 << 10, 2048, 32,
     0x31c2, 1400, 524288 * VS_MIB, 6},
};

static const struct { /* by GPU */
    const char *gpu;
    uint64_t bytes;
    const char *kind, *source;
} context_sizes[] = {
#define VS_SIM_CONTEXT(...) {__VA_ARGS__},
#define VS_LIBRARY_SIZE(...)
#include "generated/vs_sim_size_table.h"
};

#define PRESET_COUNT (sizeof presets / sizeof presets[0])
#define DEFAULT_PRESET "a100-40g"
#define RULE_BYTES 2048 /* of a context, for each thread that the SMs hold */
#define SMS_MAX 1024
#define TEXT_MAX 512
#define DELAY_US_MAX 10000000
#define KERNEL_US_MAX 100000000
#define SLOW_MS_MAX 600000
#define DRIVER_MIN 2000
#define HOLE_UNIT_BYTES (2 * VS_MIB)
#define DATA_SMALL_BYTES VS_MIB /* data=small */

static const char *const family_names[VS_SIM_FAMILY_COUNT] = {
    [VS_SIM_FAMILY_DEVICE] = "device",   [VS_SIM_FAMILY_POOL] = "pool",
    [VS_SIM_FAMILY_MANAGED] = "managed", [VS_SIM_FAMILY_HOST] = "host",
    [VS_SIM_FAMILY_ARRAY] = "array",     [VS_SIM_FAMILY_VMM] = "vmm",
    [VS_SIM_FAMILY_GRAPH] = "graph",
};

#define WORDS_OF(number) #number
#define WORDS(number) WORDS_OF(number)

static enum vs_err no_device(char *why, const char *name)
{
    int n = snprintf(why, VS_SIM_WHY_MAX, "no simulated device '%.64s'; ", name);
    const char *lead = "";
    size_t length = strlen(name);
    for (size_t i = 0; i < PRESET_COUNT && n < VS_SIM_WHY_MAX; i++)
        if (!strncmp(presets[i].name, name, length) && presets[i].name[length] == '-') { /* without its memory */
            n += snprintf(why + n, VS_SIM_WHY_MAX - (size_t)n, "%s%s", *lead ? lead : "did you mean ", presets[i].name);
            lead = " or ";
        }
    if (*lead) {
        snprintf(why + n, VS_SIM_WHY_MAX - (size_t)n, "?");
        return VS_ERR_ARG;
    }
    n += snprintf(why + n, VS_SIM_WHY_MAX - (size_t)n, "devices: ");
    for (size_t i = 0; i < PRESET_COUNT && n < VS_SIM_WHY_MAX; i++)
        n += snprintf(why + n, VS_SIM_WHY_MAX - (size_t)n, "%s%s", i ? ", " : "", presets[i].name);
    if (n < VS_SIM_WHY_MAX)
        snprintf(why + n, VS_SIM_WHY_MAX - (size_t)n, ", custom; keys: see docs/simulator.md");
    return VS_ERR_ARG;
}

static enum vs_err explain(char *why, const char *what, const char *value)
{
    snprintf(why, VS_SIM_WHY_MAX, "%s '%.64s'", what, value);
    return VS_ERR_ARG;
}

/* Parses the number at the start of *text*, up to a character of *ends*, into *out*; returns its
 * end, or NULL if there is no number within the bounds. */
static const char *parse_number(const char *text, const char *ends, uint64_t min, uint64_t max,
                                uint64_t *out)
{
    if (text[0] < '0' || text[0] > '9')
        return NULL;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || (*end && !strchr(ends, *end)) || n < min || n > max)
        return NULL;
    *out = n;
    return end;
}

static bool parse_count(const char *value, uint64_t min, uint64_t max, uint64_t *out)
{
    return parse_number(value, "", min, max, out) != NULL;
}

/* ---- faults ---- */

static bool parse_families(const char *name, size_t length, unsigned *families)
{
    if (length == 3 && !strncmp(name, "any", length)) {
        *families = (1u << VS_SIM_FAMILY_COUNT) - 1;
        return true;
    }
    for (unsigned i = 0; i < VS_SIM_FAMILY_COUNT; i++)
        if (strlen(family_names[i]) == length && !strncmp(name, family_names[i], length)) {
            *families = 1u << i;
            return true;
        }
    return false;
}

/* "0.5%" and the like, in tenths of a per cent. */
static bool parse_chance(const char *text, unsigned *per_mille)
{
    uint64_t whole, tenth = 0;
    const char *end = parse_number(text, ".%", 0, 100, &whole);
    if (end && *end == '.')
        end = parse_number(end + 1, "%", 0, 9, &tenth);
    if (!end || strcmp(end, "%") != 0 || whole * 10 + tenth > 1000)
        return false;
    *per_mille = (unsigned)(whole * 10 + tenth);
    return true;
}

static bool parse_fail(struct vs_sim_spec *spec, const char *value)
{
    struct vs_sim_fail rule = {0};
    const char *colon = strchr(value, ':');
    if (!colon || spec->fail_count == VS_SIM_FAILS_MAX ||
        !parse_families(value, (size_t)(colon - value), &rule.families))
        return false;
    if (strchr(colon, '%')) {
        if (!parse_chance(colon + 1, &rule.per_mille))
            return false;
    } else {
        const char *end = parse_number(colon + 1, "+", 1, UINT64_MAX, &rule.first);
        if (!end || (*end && end[1]))
            return false;
        rule.onwards = *end == '+';
    }
    spec->fails[spec->fail_count++] = rule;
    return true;
}

static bool parse_slow(struct vs_sim_spec *spec, const char *value)
{
    uint64_t every, ms;
    const char *end = parse_number(value, ":", 1, UINT32_MAX, &every);
    if (!end || *end != ':' || !parse_count(end + 1, 0, SLOW_MS_MAX, &ms))
        return false;
    spec->slow_every = (unsigned)every;
    spec->slow_ms = (unsigned)ms;
    return true;
}

/* off, report or fail, then any of +uninitialised +leaks. */
static bool parse_check(struct vs_sim_spec *spec, const char *value)
{
    static const char *const modes[] = {"off", "report", "fail"};
    size_t n = strcspn(value, "+");
    unsigned mode = 0;
    while (mode < 3 && (strlen(modes[mode]) != n || strncmp(value, modes[mode], n)))
        mode++;
    if (mode == 3)
        return false;
    bool unwritten = false, leaks = false;
    for (value += n; *value; value += n) {
        n = strcspn(++value, "+");
        if (n == 13 && (!strncmp(value, "uninitialised", n) || !strncmp(value, "uninitialized", n)))
            unwritten = true;
        else if (n == 5 && !strncmp(value, "leaks", n))
            leaks = true;
        else
            return false;
    }
    spec->check = (enum vs_sim_check_mode)mode;
    spec->check_unwritten = unwritten;
    spec->check_leaks = leaks;
    return true;
}

static bool parse_time(struct vs_sim_spec *spec, const char *value)
{
    spec->time_off = !strcmp(value, "off");
    return spec->time_off || !strcmp(value, "model");
}

static bool parse_data(struct vs_sim_spec *spec, const char *value)
{
    if (!strcmp(value, "on"))
        spec->data_max_bytes = UINT64_MAX;
    else if (!strcmp(value, "small"))
        spec->data_max_bytes = DATA_SMALL_BYTES;
    else if (!strcmp(value, "off"))
        spec->data_max_bytes = 0;
    else
        return vs_size_parse(value, &spec->data_max_bytes) == VS_OK;
    return true;
}

/* SIZE@COUNT, whole pages of the device. */
static bool parse_hole(struct vs_sim_spec *spec, const char *value)
{
    char size[VS_SIZE_TEXT_MAX];
    const char *at = strchr(value, '@');
    if (!at || (size_t)(at - value) >= sizeof size)
        return false;
    memcpy(size, value, (size_t)(at - value));
    size[at - value] = '\0';
    return vs_size_parse(size, &spec->hole_bytes) == VS_OK && spec->hole_bytes &&
           spec->hole_bytes % HOLE_UNIT_BYTES == 0 &&
           parse_count(at + 1, 1, UINT64_MAX, &spec->hole_allocations);
}

static bool parse_sm(struct vs_sim_spec *spec, const char *value)
{
    uint64_t sm;
    if (!parse_count(value, 10, 999, &sm))
        return false;
    spec->custom.major = (int)sm / 10;
    spec->custom.minor = (int)sm % 10;
    for (size_t i = 0; i < PRESET_COUNT; i++)
        if (presets[i].major == spec->custom.major && presets[i].minor == spec->custom.minor)
            return true;
    return false;
}

static const char *const cupti_states[] = {[VS_SIM_CUPTI_WORKS] = "works",
                                           [VS_SIM_CUPTI_REFUSED] = "refused",
                                           [VS_SIM_CUPTI_UNPRIVILEGED] = "unprivileged",
                                           [VS_SIM_CUPTI_CALLBACKS] = "callbacks",
                                           [VS_SIM_CUPTI_NONE] = "none",
                                           NULL};
static const char *const nvml_states[] = {[VS_SIM_NVML_WORKS] = "works",
                                          [VS_SIM_NVML_PIDS] = "pids",
                                          [VS_SIM_NVML_NO_FIGURES] = "nofigures",
                                          [VS_SIM_NVML_NONE] = "none",
                                          NULL};
static const char *const address_orders[] = {[VS_SIM_ADDRESSES_FENCED] = "fenced",
                                             [VS_SIM_ADDRESSES_LOWEST] = "lowest",
                                             [VS_SIM_ADDRESSES_LINUX] = "linux",
                                             NULL};

static bool parse_context(struct vs_sim_spec *spec, const char *value)
{
    spec->context_kind = "given";
    return vs_size_parse(value, &spec->context_bytes) == VS_OK;
}

#define FIELD(field) .at = offsetof(struct vs_sim_spec, field), .bytes = sizeof(((struct vs_sim_spec *)0)->field)
#define NUMBER(field, low, high) FIELD(field), .min = low, .max = high

/* Keys, and what they set: a field, which is one of *names*, a number of at most *max*, or else a size. */
static const struct spec_key {
    const char *name, *takes; /* takes: for messages */
    bool (*parse)(struct vs_sim_spec *spec, const char *value);
    size_t at, bytes;
    uint64_t min, max;
    const char *const *names;
} keys[] = {
    {"sm", "the compute capability of a custom GPU without its point: 60, 70, 75, 80, 86, 89, 90, 100, "
           "103 or 120", .parse = parse_sm},
    {"sms", "the number of multiprocessors of a custom GPU, 1 to " WORDS(SMS_MAX), NUMBER(custom.sm_count, 1, SMS_MAX)},
    {"memory", "the memory of a custom GPU, from 64MiB to 1TiB, such as 23.65GiB", FIELD(custom.memory_bytes)},
    {"capacity", "a size from 64MiB to 1TiB", FIELD(capacity_bytes)},
    {"context", "a size such as 400MiB", .parse = parse_context},
    {"others", "a size such as 1GiB", FIELD(others_bytes)},
    {"workspace", "a size such as 64MiB, or 0", FIELD(workspace_bytes)},
    {"devices", "1 to " WORDS(VS_SIM_DEVICES_MAX), NUMBER(devices, 1, VS_SIM_DEVICES_MAX)},
    {"malloc_us", "0 to " WORDS(DELAY_US_MAX), NUMBER(malloc_us, 0, DELAY_US_MAX)},
    {"free_us", "0 to " WORDS(DELAY_US_MAX), NUMBER(free_us, 0, DELAY_US_MAX)},
    {"kernel_us", "0 to " WORDS(KERNEL_US_MAX), NUMBER(kernel_us, 0, KERNEL_US_MAX)},
    {"time", "model or off", .parse = parse_time},
    {"addresses", "fenced, lowest or linux", FIELD(addresses), .names = address_orders},
    {"hole", "SIZE@COUNT, SIZE a multiple of 2MiB, COUNT from 1, with addresses=lowest", .parse = parse_hole},
    {"data", "on, small, off or a size such as 4MiB", .parse = parse_data},
    {"seed", "a number, from 0", NUMBER(seed, 0, UINT64_MAX)},
    {"fail", "FAMILY:N, FAMILY:N+ or FAMILY:P%, FAMILY one of device, pool, managed, host, array, "
             "vmm, graph, any; at most " WORDS(VS_SIM_FAILS_MAX) " times", .parse = parse_fail},
    {"slow", "EVERY:MS, MS from 0 to " WORDS(SLOW_MS_MAX), .parse = parse_slow},
    {"lost", "a number of launches, from 1", NUMBER(lost_launches, 1, UINT64_MAX)},
    {"driver", WORDS(DRIVER_MIN) " to " WORDS(VS_SIM_DRIVER_VERSION),
     NUMBER(driver_version, DRIVER_MIN, VS_SIM_DRIVER_VERSION)},
    {"nvml", "works, pids, nofigures or none", FIELD(nvml), .names = nvml_states},
    {"cupti", "works, refused, unprivileged, callbacks or none", FIELD(cupti), .names = cupti_states},
    {"check", "off, report or fail, then any of +uninitialised, +leaks", .parse = parse_check},
};

static bool set_key(struct vs_sim_spec *spec, const struct spec_key *key, const char *value)
{
    uint64_t n = 0;
    bool ok;
    if (key->parse)
        return key->parse(spec, value);
    if (key->names) {
        while (key->names[n] && strcmp(value, key->names[n]))
            n++;
        ok = key->names[n] != NULL;
    } else {
        ok = key->max ? parse_count(value, key->min, key->max, &n) : vs_size_parse(value, &n) == VS_OK;
    }
    if (ok)
        memcpy((char *)spec + key->at, &n, key->bytes); /* an unsigned: the lower half */
    return ok;
}

static enum vs_err set_field(struct vs_sim_spec *spec, const char *name, const char *value, char *why)
{
    const size_t count = sizeof keys / sizeof keys[0];
    for (const struct spec_key *key = keys; key < keys + count; key++)
        if (!strcmp(name, key->name)) {
            if (set_key(spec, key, value))
                return VS_OK;
            snprintf(why, VS_SIM_WHY_MAX, "cannot use %s=%.64s; %s takes %s", name, value, name, key->takes);
            return VS_ERR_ARG;
        }
    int n = snprintf(why, VS_SIM_WHY_MAX, "unknown key in %.64s=%.64s; keys:", name, value);
    for (size_t i = 0; i < count && n < VS_SIM_WHY_MAX; i++)
        n += snprintf(why + n, VS_SIM_WHY_MAX - (size_t)n, "%s %s", i ? "," : "", keys[i].name);
    return VS_ERR_ARG;
}

static const struct vs_sim_preset *find_preset(const char *name)
{
    for (size_t i = 0; i < PRESET_COUNT; i++)
        if (!strcmp(name, presets[i].name))
            return &presets[i];
    return NULL;
}

static void use_context(struct vs_sim_spec *spec)
{
    const struct vs_sim_preset *p = spec->preset;
    spec->context_bytes = (uint64_t)p->sm_count * (unsigned)p->threads_per_sm * RULE_BYTES;
    spec->context_kind = "rule";
    spec->context_source = "2 KiB for each thread that the multiprocessors hold: within 6 % on 7 of 11 GPUs seen";
    char module[24];
    snprintf(module, sizeof module, "module sm_%d%d", p->major, p->minor);
    for (size_t i = 0; i < sizeof context_sizes / sizeof context_sizes[0]; i++) {
        if (!strcmp(context_sizes[i].gpu, p->name)) {
            spec->context_bytes = context_sizes[i].bytes;
            spec->context_kind = context_sizes[i].kind;
            spec->context_source = context_sizes[i].source;
        }
        if (!strcmp(context_sizes[i].gpu, module) ||
            (!spec->module_bytes && !strcmp(context_sizes[i].gpu, "module *"))) {
            spec->module_bytes = context_sizes[i].bytes;
            spec->module_kind = context_sizes[i].kind;
            spec->module_source = context_sizes[i].source;
        }
    }
}

/* A device of sm=, sms= and memory=. All else is that of the preset of its architecture with the
 * nearest number of SMs; bandwidth and cache in proportion. */
static enum vs_err use_custom(struct vs_sim_spec *spec, char *why)
{
    struct vs_sim_preset *p = &spec->custom, given = *p;
    if (!given.major || !given.sm_count || !given.memory_bytes) {
        snprintf(why, VS_SIM_WHY_MAX, "custom lacks %s=: write custom,sm=89,sms=128,memory=23.65GiB",
                 !given.major ? "sm" : !given.sm_count ? "sms" : "memory");
        return VS_ERR_ARG;
    }
    const struct vs_sim_preset *like = NULL;
    for (size_t i = 0; i < PRESET_COUNT; i++)
        if (presets[i].major == given.major && presets[i].minor == given.minor &&
            (!like || abs(presets[i].sm_count - given.sm_count) < abs(like->sm_count - given.sm_count)))
            like = &presets[i];
    *p = *like;
    p->name = "custom";
    p->product = "Simulated custom GPU (vramscope)";
    p->memory_bytes = given.memory_bytes;
    p->board_mib = 0;
    p->sm_count = given.sm_count;
    p->memory_gbps = (unsigned)((uint64_t)like->memory_gbps * (unsigned)given.sm_count /
                                (unsigned)like->sm_count) + 1;
    return VS_OK;
}

/* What the keys left open, as the preset has it. */
static enum vs_err use_preset(struct vs_sim_spec *spec, char *why)
{
    const struct vs_sim_preset *given = &spec->custom;
    if (spec->preset == given && use_custom(spec, why))
        return VS_ERR_ARG;
    if (spec->preset != given && (given->major || given->sm_count || given->memory_bytes)) {
        snprintf(why, VS_SIM_WHY_MAX, "sm, sms and memory describe the device 'custom', not %s%s",
                 spec->preset->name, given->memory_bytes ? "; its memory is set by capacity=" : "");
        return VS_ERR_ARG;
    }
    if (!spec->capacity_bytes) {
        spec->capacity_bytes = spec->preset->memory_bytes;
        spec->board_bytes = spec->preset->board_mib * VS_MIB;
    }
    if (spec->board_bytes < spec->capacity_bytes)
        spec->board_bytes = spec->capacity_bytes;
    if (spec->context_kind)
        spec->context_source = "context=";
    else
        use_context(spec);
    return VS_OK;
}

enum vs_err vs_sim_spec_parse(const char *text, struct vs_sim_spec *spec, char *why)
{
    char copy[TEXT_MAX], *save = NULL;
    if (!text)
        text = "";
    if (strlen(text) >= sizeof copy)
        return explain(why, "more than 511 characters:", text);
    strcpy(copy, text);
    struct vs_sim_spec out = {.preset = find_preset(DEFAULT_PRESET),
                              .devices = 1,
                              .data_max_bytes = UINT64_MAX,
                              .workspace_bytes = VS_SIM_WORKSPACE_BY_RULE,
                              .driver_version = VS_SIM_DRIVER_VERSION};
    char *word = strtok_r(copy, ",", &save);
    if (word && !strchr(word, '=')) {
        out.preset = strcmp(word, "custom") ? find_preset(word) : &out.custom;
        if (!out.preset)
            return no_device(why, word);
        word = strtok_r(NULL, ",", &save);
    }
    for (; word; word = strtok_r(NULL, ",", &save)) {
        char *equals = strchr(word, '=');
        if (!equals)
            return explain(why, "expected DEVICE[,KEY=VALUE]... (see docs/simulator.md), not", word);
        *equals = '\0';
        if (set_field(&out, word, equals + 1, why))
            return VS_ERR_ARG;
    }
    if (use_preset(&out, why))
        return VS_ERR_ARG;
    if (out.capacity_bytes < 64 * VS_MIB || out.capacity_bytes > 1024 * VS_GIB)
        return explain(why, "capacity must lie between 64MiB and 1TiB in", text);
    if (out.context_bytes > out.capacity_bytes ||
        out.others_bytes > out.capacity_bytes - out.context_bytes)
        return explain(why, "others and a context must leave room in the capacity of", text);
    if (out.hole_bytes && (out.addresses != VS_SIM_ADDRESSES_LOWEST ||
                           out.hole_bytes > out.capacity_bytes))
        return explain(why, "hole needs addresses=lowest, and must fit the capacity, in", text);
    *spec = out;
    if (out.preset == &out.custom)
        spec->preset = &spec->custom;
    return VS_OK;
}
