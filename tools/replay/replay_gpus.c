/* SPDX-License-Identifier: Apache-2.0
 *
 * The names and sizes come from the simulated driver. */
#include <stdlib.h>
#include <string.h>

#include "tools/common/paths.h"
#include "base/reading/vs_vec.h"
#include "tools/replay/replay_command.h"

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
    VS_SORT(gpus, count, VS_UP(total), VS_UP(name));
    return count;
}
