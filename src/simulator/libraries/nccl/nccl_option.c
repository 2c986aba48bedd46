/* SPDX-License-Identifier: Apache-2.0
 *
 * VRAMSCOPE_SIMULATE_COLLECTIVES="bytes=1MiB,timeout=1800": the largest message whose bytes are
 * exchanged, and the seconds after which a rank that does not arrive is an error.
 * VRAMSCOPE_SIMULATE_ALONE, set by `vramscope fit --ranks`: this process is the only rank that exists. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_size.h"
#include "simulator/libraries/nccl/vs_nccl_comm.h"

#define TIMEOUT_S 1800
#define NS_PER_S UINT64_C(1000000000)

static struct vs_nccl_options options = {false, VS_MIB, TIMEOUT_S * NS_PER_S};

static bool take(const char *item)
{
    if (!strncmp(item, "bytes=", 6))
        return vs_size_parse(item + 6, &options.bytes) == VS_OK;
    if (strncmp(item, "timeout=", 8))
        return false;
    char *end;
    unsigned long seconds = strtoul(item + 8, &end, 10);
    options.timeout_ns = seconds * NS_PER_S;
    return *end == '\0' && end != item + 8 && seconds >= 1 && seconds <= 1000000;
}

static void read_options(void)
{
    char copy[256], *state;
    const char *text = getenv("VRAMSCOPE_SIMULATE_COLLECTIVES");
    options.alone = getenv("VRAMSCOPE_SIMULATE_ALONE") != NULL;
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (char *item = strtok_r(copy, ",", &state); item; item = strtok_r(NULL, ",", &state)) {
        struct vs_nccl_options before = options;
        if (take(item))
            continue;
        options = before;
        vs_sim_say("vramscope: VRAMSCOPE_SIMULATE_COLLECTIVES has \"%s\", which is ignored: use bytes=SIZE and "
                   "timeout=SECONDS (1 to 1000000)\n", item);
    }
}

const struct vs_nccl_options *vs_nccl_options(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_options);
    return &options;
}
