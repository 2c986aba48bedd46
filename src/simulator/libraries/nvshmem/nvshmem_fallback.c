/* SPDX-License-Identifier: Apache-2.0
 *
 * NVSHMEM, symmetric memory that kernels of other devices write: not supported, since kernels do not
 * run here. The functions that PyTorch links exist, so that it loads, and answer "not supported"
 * (no pointer, no team) when they are called. NVSHMEM's headers are C++, so they are listed here. */
#include "simulator/libraries/common/vs_library_fallback.h"

#define NOT_SUPPORTED 3 /* NVSHMEMX_ERROR_NOT_SUPPORTED */
#define SPECIFICATION_MAJOR 1 /* of OpenSHMEM, as NVSHMEM 3.8 answers */
#define SPECIFICATION_MINOR 3

const struct vs_library vs_library = {"NVSHMEM", "nvshmem", NOT_SUPPORTED,
                                      "NVSHMEMX_ERROR_NOT_SUPPORTED"};

/* Data that the inline functions of its headers refer to: no transport. */
VS_LIBRARY_EXPORT int nvshmem_selected_device_transport;

VS_LIBRARY_EXPORT int nvshmemid_init_status(void);
VS_LIBRARY_EXPORT void nvshmem_info_get_version(int *major, int *minor);

/* The only answers that are true without an initialised library. */
int nvshmemid_init_status(void)
{
    return 0; /* not initialised */
}

void nvshmem_info_get_version(int *major, int *minor)
{
    *major = SPECIFICATION_MAJOR;
    *minor = SPECIFICATION_MINOR;
}

VS_LIBRARY_FALLBACK_STATUS(nvshmemid_hostlib_init_attr)
VS_LIBRARY_FALLBACK_NOTHING(nvshmemid_hostlib_finalize)
VS_LIBRARY_FALLBACK_NOTHING(nvshmem_init)
VS_LIBRARY_FALLBACK_STATUS(nvshmemx_get_uniqueid)
VS_LIBRARY_FALLBACK_STATUS(nvshmemx_set_attr_uniqueid_args)
VS_LIBRARY_FALLBACK_STATUS(nvshmemx_cumodule_init)
VS_LIBRARY_FALLBACK_POINTER(nvshmem_malloc)
VS_LIBRARY_FALLBACK_NOTHING(nvshmem_free)
VS_LIBRARY_FALLBACK_POINTER(nvshmem_ptr)
VS_LIBRARY_FALLBACK_POINTER(nvshmemx_mc_ptr)
VS_LIBRARY_FALLBACK_NUMBER(nvshmem_team_n_pes)
VS_LIBRARY_FALLBACK_STATUS(nvshmem_team_split_strided)
VS_LIBRARY_FALLBACK_NOTHING(nvshmem_barrier_all)
VS_LIBRARY_FALLBACK_NOTHING(nvshmemx_putmem_on_stream)
VS_LIBRARY_FALLBACK_NOTHING(nvshmemx_getmem_on_stream)
VS_LIBRARY_FALLBACK_NOTHING(nvshmemx_putmem_signal_on_stream)
VS_LIBRARY_FALLBACK_NOTHING(nvshmemx_signal_wait_until_on_stream)
VS_LIBRARY_FALLBACK_STATUS(nvshmemx_alltoallmem_on_stream)
VS_LIBRARY_FALLBACK_STATUS(nvshmemx_broadcastmem_on_stream)
