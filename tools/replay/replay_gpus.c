/* SPDX-License-Identifier: Apache-2.0
 *
 * The names and sizes come from the simulated driver. */
#include <stdlib.h>
#include <string.h>

#include "tools/common/paths.h"
#include "tools/replay/replay_command.h"

static int by_size(const void *a, const void *b)
{
    const struct vs_replay_gpu *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? -1 : 1;
    return strcmp(x->name, y->name);
}

size_t vs_replay_gpus(struct vs_replay_gpu *gpus)
{
    char names[VS_SIMULATED_WHY_MAX], why[VS_SIMULATED_WHY_MAX], *rest = names;
    size_t count = 0;
    vs_simulated_names(names);
    for (char *name; count < VS_REPLAY_GPUS_MAX && (name = strsep(&rest, ", "));) {
        uint64_t total, taken;
        if (!*name || strlen(name) >= sizeof gpus->name ||
            vs_simulated_memory(name, &total, &taken, why))
            continue;
        strcpy(gpus[count].name, name);
        gpus[count++].total = total;
    }
    qsort(gpus, count, sizeof *gpus, by_size);
    return count;
}
