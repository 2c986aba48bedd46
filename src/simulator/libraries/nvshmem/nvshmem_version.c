/* SPDX-License-Identifier: Apache-2.0
 *
 * NVSHMEM, symmetric memory that kernels of other devices write: not supported, since kernels do not
 * run here. The functions that PyTorch links exist, so that it loads, and return "not supported"
 * (no pointer, no team) when they are called (unsupported.txt). Two are answered here. */
#include "generated/vs_nvshmem_rows.h"
#include "simulator/libraries/common/vs_library_base.h"

VS_NVSHMEM_FUNCTIONS(VS_LIBRARY_DECLARE)

#define SPECIFICATION_MAJOR 1 /* of OpenSHMEM, as NVSHMEM 3.8 answers */
#define SPECIFICATION_MINOR 3

/* Data that the inline functions of its headers refer to: no transport. */
VS_LIBRARY_EXPORT int nvshmem_selected_device_transport;

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
