/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated devices: the presets and the text that chooses and alters one
 * ("t4-16g,capacity=2GiB,devices=2,fail=device:3"), or describes another
 * ("custom,sm=89,sms=128,memory=23.65GiB"). Read once by the stand-in driver from
 * VRAMSCOPE_SIMULATE; docs/simulator.md describes the syntax, drv_fault.c the faults. */
#ifndef VS_SIM_SPEC_H
#define VS_SIM_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

#define VS_SIM_DEVICES_MAX 16
#define VS_SIM_DRIVER_VERSION 13000 /* the newest simulated driver version */
#define VS_SIM_WHY_MAX 1024
#define VS_SIM_FAILS_MAX 16
#define VS_SIM_WORKSPACE_BY_RULE UINT64_MAX

struct vs_sim_preset {
    const char *name;      /* as written in a spec */
    const char *product;   /* the result of cuDeviceGetName */
    uint64_t memory_bytes; /* total memory as cudaMemGetInfo reports it */
    unsigned board_mib;    /* that of the board, as NVML reports it: larger; 0: not known */
    int sm_count, major, minor;
    unsigned memory_gbps; /* device memory bandwidth, 10^9 bytes per second */
    unsigned link_gbps;   /* host link bandwidth, pinned memory, each way */
    int clock_khz, memory_clock_khz, bus_bits, l2_bytes;
    int shared_per_sm, shared_optin; /* bytes */
    int threads_per_sm, blocks_per_sm;
    unsigned pci_device;  /* the number in the list of PCI ids */
    unsigned board_watts; /* power limit */
    uint64_t bar1_bytes;
    unsigned pcie_generation; /* of 16 lanes */
};

enum vs_sim_family { /* of allocations, as failure rules name them */
                     VS_SIM_FAMILY_DEVICE, /* cuMemAlloc, cuMemAllocPitch */
                     VS_SIM_FAMILY_POOL,   /* cuMemAllocAsync, cuMemAllocFromPoolAsync */
                     VS_SIM_FAMILY_MANAGED,
                     VS_SIM_FAMILY_HOST,  /* pinned; registering is not allocating */
                     VS_SIM_FAMILY_ARRAY, /* arrays and mipmapped arrays */
                     VS_SIM_FAMILY_VMM,   /* cuMemCreate */
                     VS_SIM_FAMILY_GRAPH, /* memory of a graph's allocation nodes */
                     VS_SIM_FAMILY_COUNT
};

struct vs_sim_fail {     /* one rule of fail=FAMILY:WHICH */
    unsigned families;   /* bits 1 << enum vs_sim_family */
    uint64_t first;      /* the number of the failing allocation, from 1; 0: by chance */
    bool onwards;        /* that one and all later ones */
    unsigned per_mille;  /* chance of each allocation */
};

enum vs_sim_cupti_state {
    VS_SIM_CUPTI_WORKS,
    VS_SIM_CUPTI_REFUSED,      /* in use by another tool */
    VS_SIM_CUPTI_UNPRIVILEGED, /* profiling is permitted to administrators only */
    VS_SIM_CUPTI_CALLBACKS,    /* the same, but a tool may subscribe to callbacks */
    VS_SIM_CUPTI_NONE,         /* no connection to the driver */
};

enum vs_sim_nvml_state {
    VS_SIM_NVML_WORKS,
    VS_SIM_NVML_PIDS,       /* this process has another number there: a container */
    VS_SIM_NVML_NO_FIGURES, /* processes are listed without their bytes */
    VS_SIM_NVML_NONE,       /* no connection to the driver */
};

enum vs_sim_address_order { /* drv_space.c */
    VS_SIM_ADDRESSES_FENCED,
    VS_SIM_ADDRESSES_LOWEST,
    VS_SIM_ADDRESSES_LINUX,
};

enum vs_sim_check_mode { VS_SIM_CHECK_OFF, VS_SIM_CHECK_REPORT, VS_SIM_CHECK_FAIL };

struct vs_sim_spec {
    const struct vs_sim_preset *preset;
    unsigned devices;            /* 1..VS_SIM_DEVICES_MAX, all alike */
    uint64_t capacity_bytes;     /* total memory of each device */
    uint64_t board_bytes;        /* the same as NVML reports it, with what the driver reserves */
    uint64_t context_bytes;      /* taken by each context */
    const char *context_kind;    /* how that size is known: "measured", "assumed", "rule" or "given" */
    const char *context_source;  /* by whom, or by which rule */
    uint64_t module_bytes;       /* of a library's code after the first ones; 0 with a given context */
    const char *module_kind, *module_source;
    struct vs_sim_preset custom; /* *preset* of the device "custom" */
    uint64_t others_bytes;       /* held by "other processes" on each device */
    uint64_t workspace_bytes;    /* of library calls without a measured size, or WORKSPACE_BY_RULE */
    unsigned malloc_us, free_us; /* added to each device allocation and free */
    unsigned kernel_us;          /* duration of a kernel without a host function; 0: by grid size */
    uint64_t data_max_bytes;     /* larger copies and memsets move no bytes; UINT64_MAX: all do */
    enum vs_sim_address_order addresses;
    uint64_t hole_bytes;         /* lowest: kept free at the lowest addresses ... */
    uint64_t hole_allocations;   /* ... by so many first allocations */
    bool time_off;               /* work takes no simulated time */
    enum vs_sim_check_mode check;
    bool check_unwritten, check_leaks; /* reads of never-written memory; leaks at process end */
    uint64_t seed;               /* 0: exact durations; else up to 10 % jitter from this seed */
    struct vs_sim_fail fails[VS_SIM_FAILS_MAX];
    unsigned fail_count;
    uint64_t lost_launches;   /* a device is lost when it has run this many kernels; 0: never */
    unsigned slow_every;      /* every slow_every-th device allocation is slow; 0: none */
    unsigned slow_ms;         /* additional duration of a slow one */
    enum vs_sim_cupti_state cupti;
    enum vs_sim_nvml_state nvml;
    unsigned driver_version;  /* the version of cuDriverGetVersion; newer functions are not found */
};

/* vs_sim_spec_parse: parses *text* ("" and NULL give the default device). On VS_ERR_ARG *spec* is
 * unwritten and *why* (VS_SIM_WHY_MAX bytes) receives one line with the accepted values. *spec* may
 * point into itself: it is not to be copied. Any thread. */
enum vs_err vs_sim_spec_parse(const char *text, struct vs_sim_spec *spec, char *why) VS_MUST_CHECK;

#endif
