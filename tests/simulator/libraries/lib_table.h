/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of functions of a stand-in library, as text. The headers of two libraries define the
 * same names, so each table is compiled on its own (lib_table.c) and linked into one test. */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include <stddef.h>

struct lib_row {
    const char *kind, *name; /* what it returns: "STATUS"; "cublasCreate_v2" */
};

struct lib_table {
    const struct lib_row *rows;
    size_t count;
};

extern const struct lib_table lib_table_cublas, lib_table_cublaslt, lib_table_cudnn, lib_table_nccl,
    lib_table_cusparse, lib_table_cusparselt, lib_table_cusolver, lib_table_cufft, lib_table_curand,
    lib_table_nvrtc, lib_table_nvjitlink, lib_table_nvjpeg, lib_table_cufile, lib_table_nvshmem;

#endif
