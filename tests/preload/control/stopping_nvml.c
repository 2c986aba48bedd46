/* SPDX-License-Identifier: Apache-2.0
 *
 * A library of NVML's name, which the recording initialises while it starts, after it has opened the
 * trace. A thread of its own stops the recording just then. Loaded by control_victim.c ("starting").
 */
#include <pthread.h>

#include "vramscope_client.h"

__attribute__((visibility("default"))) int stopped_with = -9; /* what the stop returned */

static void *stop(void *arg)
{
    stopped_with = vramscope_client_stop_recording();
    return arg;
}

__attribute__((visibility("default"))) int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, stop, NULL))
        pthread_join(thread, NULL);
    return 9; /* NVML_ERROR_DRIVER_NOT_LOADED: it is not used */
}
