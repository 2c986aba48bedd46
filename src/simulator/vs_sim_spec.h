/* SPDX-License-Identifier: Apache-2.0
 *
 * What is simulated: the device presets and the text that chooses and alters
 * one ("t4-16g,capacity=2GiB,devices=2"). Read once by the stand-in driver from
 * VRAMSCOPE_SIMULATE; docs/simulator.md describes the syntax for people. */
#ifndef VS_SIM_SPEC_H
#define VS_SIM_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

#define VS_SIM_DEVICES_MAX 16
#define VS_SIM_WHY_MAX 512

struct vs_sim_preset {
    const char *name;      /* as written in a spec */
    const char *product;   /* what cuDeviceGetName returns */
    uint64_t memory_bytes; /* what the device reports as its total */
    int sm_count, major, minor;
    unsigned memory_gbps; /* device memory bandwidth, 10^9 bytes per second */
    unsigned link_gbps;   /* host link bandwidth, pinned memory, each way */
    int clock_khz, memory_clock_khz, bus_bits, l2_bytes;
    int shared_per_sm, shared_optin; /* bytes */
    int threads_per_sm, blocks_per_sm;
};

struct vs_sim_spec {
    const struct vs_sim_preset *preset;
    unsigned devices;            /* 1..VS_SIM_DEVICES_MAX, all alike */
    uint64_t capacity_bytes;     /* total memory of each device */
    uint64_t context_bytes;      /* taken by each context */
    uint64_t others_bytes;       /* held by "other processes" on each device */
    unsigned malloc_us, free_us; /* added to each device allocation and free */
    unsigned kernel_us;          /* duration of a kernel without a host function; 0: by grid size */
    uint64_t seed;               /* 0: exact durations; else up to 10 % jitter from this seed */
};

/* vs_sim_spec_parse: read *text* ("" and NULL give the default device). On
 * VS_ERR_ARG *spec* is unwritten and *why* (VS_SIM_WHY_MAX bytes) holds one line
 * with what is accepted. Any thread. */
enum vs_err vs_sim_spec_parse(const char *text, struct vs_sim_spec *spec, char *why) VS_MUST_CHECK;

#endif
