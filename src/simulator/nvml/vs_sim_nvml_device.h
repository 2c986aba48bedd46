/* SPDX-License-Identifier: Apache-2.0
 *
 * Internal to the stand-in NVML: the handles of devices and the connection to the simulated driver
 * (nvml_api.c), for the files that answer questions about a device. */
#ifndef VS_SIM_NVML_DEVICE_H
#define VS_SIM_NVML_DEVICE_H

#include "simulator/driver/vs_sim_nvml.h"

#define VS_SIM_NVML_EXPORT __attribute__((visibility("default")))
/* Begins the definition of an exported function, after its declaration. */
#define NVML(name, params)                       \
    VS_SIM_NVML_EXPORT nvmlReturn_t name params; \
    nvmlReturn_t name params

/* A function that is *call*. */
#define NVML_AS(name, params, call) \
    NVML(name, params) { return call; }

/* A function of a device whose answer goes to *out*, stored by the statement *answer*; *physical* is
 * the device's number, *r* the result. */
#define NVML_ANSWER(name, params, out, ...)                                \
    NVML(name, params)                                                     \
    {                                                                      \
        unsigned physical;                                                 \
        nvmlReturn_t r = vs_sim_nvml_enter_device(device, out, &physical); \
        if (!r) {                                                          \
            __VA_ARGS__;                                                   \
        }                                                                  \
        return r;                                                          \
    }
#define NVML_NUMBER(name, value) \
    NVML_ANSWER(name, (nvmlDevice_t device, unsigned *out), out, *out = (unsigned)(value))

extern struct vs_sim_spec vs_sim_nvml_spec; /* written by the first nvmlInit */

/* vs_sim_nvml_enter_device: stores the number of the handle's device. *out*: where the caller's
 * answer goes. NVML_ERROR_UNINITIALIZED before nvmlInit; NVML_ERROR_INVALID_ARGUMENT for an invalid
 * handle or an *out* of NULL. */
nvmlReturn_t vs_sim_nvml_enter_device(nvmlDevice_t device, const void *out, unsigned *physical);
/* vs_sim_nvml_text: copies *value* to *out*. NVML_ERROR_INSUFFICIENT_SIZE if *length* bytes are too
 * few for it. */
nvmlReturn_t vs_sim_nvml_text(const char *value, char *out, unsigned length);
/* vs_sim_nvml_bus_id: "00000000:01:00.0", the form that NVML prints; *digits* of the domain. */
void vs_sim_nvml_bus_id(unsigned physical, int digits, char text[32]);
/* vs_sim_nvml_held: bytes that this process holds on the device, and its contexts there. */
uint64_t vs_sim_nvml_held(unsigned physical, unsigned *contexts);
/* vs_sim_nvml_worked: simulated time that the device has worked for this process. */
void vs_sim_nvml_worked(unsigned physical, uint64_t *kernel_ns, uint64_t *transfer_ns);

#endif
