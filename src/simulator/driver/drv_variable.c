/* SPDX-License-Identifier: Apache-2.0
 *
 * Device variables of kernels whose code runs on the host. That code uses a host variable instead
 * of the device's, one for all devices and modules. It is registered by name; its value at
 * registration is the initial value of the device's variable. While a kernel runs, the host
 * variable holds the content of the device's: it is copied in before, and changed bytes are copied
 * back after, so that a concurrent copy to the variable from another stream is not undone. Kernels
 * of images with such variables therefore run one at a time. */
#include "simulator/driver/vs_sim_driver.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t all_mu = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct vs_sim_host_variable *) all; /* newest first; written under all_mu */
static pthread_mutex_t running_mu = PTHREAD_MUTEX_INITIALIZER; /* held while a kernel runs */
static struct vs_sim_host_variable *active;                    /* of that kernel */

/* Found by dlsym from vramscope_simulator.h; see there. */
VS_SIM_EXPORT int vramscopeSimRegisterVariable(const char *name, void *host, size_t bytes,
                                               int constant);

int vramscopeSimRegisterVariable(const char *name, void *host, size_t bytes, int constant)
{
    if (!name || !*name || !host || !bytes)
        return 0;
    struct vs_sim_host_variable *v = vs_sim_need(calloc(1, sizeof *v));
    v->name = vs_sim_need(strdup(name));
    v->bytes = bytes;
    v->host = constant ? NULL : host;
    v->initial = vs_sim_dup(host, bytes);
    v->before = vs_sim_need(malloc(bytes));
    pthread_mutex_lock(&all_mu);
    v->next = atomic_load(&all);
    atomic_store(&all, v); /* after its content: readers take no lock */
    pthread_mutex_unlock(&all_mu);
    return 1;
}

struct vs_sim_host_variable *vs_sim_host_variable_next(struct vs_sim_host_variable *v)
{
    return v ? v->next : atomic_load(&all);
}

struct vs_sim_host_variable *vs_sim_host_variable_find(const char *name)
{
    struct vs_sim_host_variable *v = atomic_load(&all);
    while (v && strcmp(v->name, name))
        v = v->next;
    return v;
}

static void bring_in(struct vs_sim_host_variable *v, uintptr_t device, void *data)
{
    if (!v->host)
        return;
    v->device = (char *)device;
    memcpy(v->before, v->device, v->bytes);
    memcpy(v->host, v->before, v->bytes);
    v->active = active;
    active = v;
}

static void count(struct vs_sim_host_variable *v, uintptr_t device, void *data)
{
    *(unsigned *)data += v->host != NULL;
}

bool vs_sim_variables_enter(struct vs_sim_function *function, struct vs_sim_context *ctx)
{
    unsigned variables = 0;
    CUresult e = vs_sim_function_variables(function, ctx, count, &variables);
    if (e)
        vs_sim_context_fail(ctx, e);
    if (!variables)
        return false;
    pthread_mutex_lock(&running_mu);
    active = NULL;
    vs_sim_function_variables(function, ctx, bring_in, NULL);
    return true;
}

void vs_sim_variables_leave(void)
{
    for (struct vs_sim_host_variable *v = active; v; v = v->active) {
        size_t bytes = memcmp(v->host, v->before, v->bytes) ? v->bytes : 0;
        for (size_t i = 0; i < bytes; i++)
            if (v->host[i] != v->before[i])
                v->device[i] = v->host[i];
    }
    active = NULL;
    pthread_mutex_unlock(&running_mu);
}
