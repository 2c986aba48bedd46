/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cufile, written by scripts/library_tables.py from the
 * headers of cufile 1.20.0.107 (CUDA 13). Do not edit.
 * VS_CUFILE_FUNCTIONS(F): F(releases, kind, result, name, parameters) for each function;
 * releases: 1 CUDA 12, 2 CUDA 13, 3 both; kind: STATUS, SIZE, TEXT, NUMBER, POINTER, NOTHING. */
#ifndef VS_CUFILE_API_H
#define VS_CUFILE_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CU_FILE_SUCCESS = 0,
    CU_FILE_DRIVER_NOT_INITIALIZED = 5001,
    CU_FILE_PLATFORM_NOT_SUPPORTED = 5007,
    CU_FILE_CUDA_DRIVER_ERROR = 5011,
    CU_FILE_CUDA_POINTER_INVALID = 5012,
    CU_FILE_INVALID_FILE_TYPE = 5018,
    CU_FILE_INVALID_VALUE = 5022,
    CU_FILE_MEMORY_ALREADY_REGISTERED = 5023,
    CU_FILE_MEMORY_NOT_REGISTERED = 5024,
    CU_FILE_HANDLE_NOT_REGISTERED = 5027,
    CU_FILE_HANDLE_ALREADY_REGISTERED = 5028,
    CU_FILE_GETNEWFD_FAILED = 5031,
    CU_FILE_ASYNC_NOT_SUPPORTED = 5038,
    CU_FILE_NOMEM_ERROR = 5043,
    CU_FILE_HANDLE_TYPE_OPAQUE_FD = 1,
};

#define CUFILE_GPU_UUID_LEN 16

struct CUfileDescr_t;
struct CUfileDrvProps;
struct CUfileIOEvents;
struct CUfileIOParams;
struct CUfileIOVec;
struct CUfileStatsLevel1;
struct CUfileStatsLevel2;
struct CUfileStatsLevel3;
struct CUstream_st;
struct timespec;

struct CUfileError {
    int err;
    int cu_err;
};
_Static_assert(sizeof(struct CUfileError) == 8, "layout of CUfileError");

struct cufileRDMAInfo {
    int version;
    int desc_len;
    const char *desc_str;
};
_Static_assert(sizeof(struct cufileRDMAInfo) == 16, "layout of cufileRDMAInfo");

struct CUfileFSOps {
    void *fs_type;
    void *getRDMADeviceList;
    void *getRDMADevicePriority;
    void *read;
    void *write;
};
_Static_assert(sizeof(struct CUfileFSOps) == 40, "layout of CUfileFSOps");

struct CUfileIOEvents {
    void *cookie;
    int status;
    size_t ret;
};
_Static_assert(sizeof(struct CUfileIOEvents) == 24, "layout of CUfileIOEvents");

struct CUfileIOVec {
    void *base;
    size_t len;
};
_Static_assert(sizeof(struct CUfileIOVec) == 16, "layout of CUfileIOVec");

struct CUfileOpCounter {
    uint64_t ok;
    uint64_t err;
};
_Static_assert(sizeof(struct CUfileOpCounter) == 16, "layout of CUfileOpCounter");

struct CUfileStatsLevel1 {
    struct CUfileOpCounter read_ops;
    struct CUfileOpCounter write_ops;
    struct CUfileOpCounter hdl_register_ops;
    struct CUfileOpCounter hdl_deregister_ops;
    struct CUfileOpCounter buf_register_ops;
    struct CUfileOpCounter buf_deregister_ops;
    uint64_t read_bytes;
    uint64_t write_bytes;
    uint64_t read_bw_bytes_per_sec;
    uint64_t write_bw_bytes_per_sec;
    uint64_t read_lat_avg_us;
    uint64_t write_lat_avg_us;
    uint64_t read_ops_per_sec;
    uint64_t write_ops_per_sec;
    uint64_t read_lat_sum_us;
    uint64_t write_lat_sum_us;
    struct CUfileOpCounter batch_submit_ops;
    struct CUfileOpCounter batch_complete_ops;
    struct CUfileOpCounter batch_setup_ops;
    struct CUfileOpCounter batch_cancel_ops;
    struct CUfileOpCounter batch_destroy_ops;
    struct CUfileOpCounter batch_enqueued_ops;
    struct CUfileOpCounter batch_posix_enqueued_ops;
    struct CUfileOpCounter batch_processed_ops;
    struct CUfileOpCounter batch_posix_processed_ops;
    struct CUfileOpCounter batch_nvfs_submit_ops;
    struct CUfileOpCounter batch_p2p_submit_ops;
    struct CUfileOpCounter batch_aio_submit_ops;
    struct CUfileOpCounter batch_iouring_submit_ops;
    struct CUfileOpCounter batch_mixed_io_submit_ops;
    struct CUfileOpCounter batch_total_submit_ops;
    uint64_t batch_read_bytes;
    uint64_t batch_write_bytes;
    uint64_t batch_read_bw_bytes;
    uint64_t batch_write_bw_bytes;
    uint64_t batch_submit_lat_avg_us;
    uint64_t batch_completion_lat_avg_us;
    uint64_t batch_submit_ops_per_sec;
    uint64_t batch_complete_ops_per_sec;
    uint64_t batch_submit_lat_sum_us;
    uint64_t batch_completion_lat_sum_us;
    uint64_t last_batch_read_bytes;
    uint64_t last_batch_write_bytes;
    struct CUfileOpCounter readv_ops;
    struct CUfileOpCounter writev_ops;
    uint64_t readv_bytes;
    uint64_t writev_bytes;
    uint64_t readv_bw_bytes_per_sec;
    uint64_t writev_bw_bytes_per_sec;
    uint64_t readv_lat_avg_us;
    uint64_t writev_lat_avg_us;
    uint64_t readv_ops_per_sec;
    uint64_t writev_ops_per_sec;
    uint64_t readv_lat_sum_us;
    uint64_t writev_lat_sum_us;
};
_Static_assert(sizeof(struct CUfileStatsLevel1) == 624, "layout of CUfileStatsLevel1");

struct CUfileStatsLevel2 {
    struct CUfileStatsLevel1 basic;
    unsigned long read_size_kb_hist[32];
    unsigned long write_size_kb_hist[32];
};
_Static_assert(sizeof(struct CUfileStatsLevel2) == 1136, "layout of CUfileStatsLevel2");

struct CUfilePerGpuStats {
    char uuid[16];
    uint64_t read_bytes;
    uint64_t read_bw_bytes_per_sec;
    uint64_t read_utilization;
    uint64_t read_duration_us;
    uint64_t n_total_reads;
    uint64_t n_p2p_reads;
    uint64_t n_nvfs_reads;
    uint64_t n_posix_reads;
    uint64_t n_unaligned_reads;
    uint64_t n_dr_reads;
    uint64_t n_sparse_regions;
    uint64_t n_inline_regions;
    uint64_t n_reads_err;
    uint64_t writes_bytes;
    uint64_t write_bw_bytes_per_sec;
    uint64_t write_utilization;
    uint64_t write_duration_us;
    uint64_t n_total_writes;
    uint64_t n_p2p_writes;
    uint64_t n_nvfs_writes;
    uint64_t n_posix_writes;
    uint64_t n_unaligned_writes;
    uint64_t n_dr_writes;
    uint64_t n_writes_err;
    uint64_t n_mmap;
    uint64_t n_mmap_ok;
    uint64_t n_mmap_err;
    uint64_t n_mmap_free;
    uint64_t reg_bytes;
};
_Static_assert(sizeof(struct CUfilePerGpuStats) == 248, "layout of CUfilePerGpuStats");

struct CUfileStatsLevel3 {
    struct CUfileStatsLevel2 detailed;
    uint32_t num_gpus;
    struct CUfilePerGpuStats per_gpu_stats[16];
};
_Static_assert(sizeof(struct CUfileStatsLevel3) == 5112, "layout of CUfileStatsLevel3");

typedef struct CUfileError CUfileError_t;
typedef struct CUfileDrvProps CUfileDrvProps_t;
typedef struct cufileRDMAInfo cufileRDMAInfo_t;
typedef struct CUfileFSOps CUfileFSOps_t;
typedef struct CUfileIOParams CUfileIOParams_t;
typedef struct CUfileIOEvents CUfileIOEvents_t;
typedef struct CUfileIOVec CUfileIOVec_t;
typedef struct CUfileOpCounter CUfileOpCounter_t;
typedef struct CUfileStatsLevel1 CUfileStatsLevel1_t;
typedef struct CUfileStatsLevel2 CUfileStatsLevel2_t;
typedef struct CUfilePerGpuStats CUfilePerGpuStats_t;
typedef struct CUfileStatsLevel3 CUfileStatsLevel3_t;

#define VS_CUFILE_FUNCTIONS(F) \
    F(2, STATUS, struct CUfileError, cuFileBatchIOCancel, (void *)) \
    F(2, NOTHING, void, cuFileBatchIODestroy, (void *)) \
    F(2, STATUS, struct CUfileError, cuFileBatchIOGetStatus, (void *, unsigned int, unsigned int *, struct CUfileIOEvents *, struct timespec *)) \
    F(2, STATUS, struct CUfileError, cuFileBatchIOSetUp, (void **, unsigned int)) \
    F(2, STATUS, struct CUfileError, cuFileBatchIOSubmit, (void *, unsigned int, struct CUfileIOParams *, unsigned int)) \
    F(2, STATUS, struct CUfileError, cuFileBufDeregister, (const void *)) \
    F(2, STATUS, struct CUfileError, cuFileBufRegister, (const void *, size_t, int)) \
    F(2, STATUS, struct CUfileError, cuFileDriverClose, (void)) \
    F(2, STATUS, struct CUfileError, cuFileDriverClose_v2, (void)) \
    F(2, STATUS, struct CUfileError, cuFileDriverGetP2PFlags, (int, int *)) \
    F(2, STATUS, struct CUfileError, cuFileDriverGetProperties, (struct CUfileDrvProps *)) \
    F(2, STATUS, struct CUfileError, cuFileDriverOpen, (void)) \
    F(2, STATUS, struct CUfileError, cuFileDriverSetMaxCacheSize, (size_t)) \
    F(2, STATUS, struct CUfileError, cuFileDriverSetMaxDirectIOSize, (size_t)) \
    F(2, STATUS, struct CUfileError, cuFileDriverSetMaxPinnedMemSize, (size_t)) \
    F(2, STATUS, struct CUfileError, cuFileDriverSetP2PFlags, (int, int)) \
    F(2, STATUS, struct CUfileError, cuFileDriverSetPollMode, (_Bool, size_t)) \
    F(2, STATUS, struct CUfileError, cuFileExportPCIeTopology, (const char *)) \
    F(2, STATUS, struct CUfileError, cuFileGetBARSizeInKB, (int, unsigned long *)) \
    F(2, STATUS, struct CUfileError, cuFileGetParameterBool, (int, _Bool *)) \
    F(2, STATUS, struct CUfileError, cuFileGetParameterGpuBounceBufferSlabArray, (unsigned long *, unsigned long *, int)) \
    F(2, STATUS, struct CUfileError, cuFileGetParameterMinMaxValue, (int, unsigned long *, unsigned long *)) \
    F(2, STATUS, struct CUfileError, cuFileGetParameterPosixPoolSlabArray, (unsigned long *, unsigned long *, int)) \
    F(2, STATUS, struct CUfileError, cuFileGetParameterSizeT, (int, unsigned long *)) \
    F(2, STATUS, struct CUfileError, cuFileGetParameterString, (int, char *, int)) \
    F(2, STATUS, struct CUfileError, cuFileGetStatsL1, (struct CUfileStatsLevel1 *)) \
    F(2, STATUS, struct CUfileError, cuFileGetStatsL2, (struct CUfileStatsLevel2 *)) \
    F(2, STATUS, struct CUfileError, cuFileGetStatsL3, (struct CUfileStatsLevel3 *)) \
    F(2, STATUS, struct CUfileError, cuFileGetStatsLevel, (int *)) \
    F(2, STATUS, struct CUfileError, cuFileGetVersion, (int *)) \
    F(2, NOTHING, void, cuFileHandleDeregister, (void *)) \
    F(2, STATUS, struct CUfileError, cuFileHandleRegister, (void **, struct CUfileDescr_t *)) \
    F(2, STATUS, long, cuFileRead, (void *, void *, size_t, long, long)) \
    F(2, STATUS, struct CUfileError, cuFileReadAsync, (void *, void *, unsigned long *, long *, long *, long *, struct CUstream_st *)) \
    F(2, STATUS, long, cuFileReadv, (void *, const struct CUfileIOVec *, size_t, long, unsigned int)) \
    F(2, STATUS, struct CUfileError, cuFileSetParameterBool, (int, _Bool)) \
    F(2, STATUS, struct CUfileError, cuFileSetParameterGpuBounceBufferSlabArray, (const unsigned long *, const unsigned long *, int)) \
    F(2, STATUS, struct CUfileError, cuFileSetParameterPosixPoolSlabArray, (const unsigned long *, const unsigned long *, int)) \
    F(2, STATUS, struct CUfileError, cuFileSetParameterSizeT, (int, size_t)) \
    F(2, STATUS, struct CUfileError, cuFileSetParameterString, (int, const char *)) \
    F(2, STATUS, struct CUfileError, cuFileSetStatsLevel, (int)) \
    F(2, STATUS, struct CUfileError, cuFileStatsReset, (void)) \
    F(2, STATUS, struct CUfileError, cuFileStatsStart, (void)) \
    F(2, STATUS, struct CUfileError, cuFileStatsStop, (void)) \
    F(2, STATUS, struct CUfileError, cuFileStreamDeregister, (struct CUstream_st *)) \
    F(2, STATUS, struct CUfileError, cuFileStreamRegister, (struct CUstream_st *, unsigned int)) \
    F(2, STATUS, long, cuFileUseCount, (void)) \
    F(2, STATUS, long, cuFileWrite, (void *, const void *, size_t, long, long)) \
    F(2, STATUS, struct CUfileError, cuFileWriteAsync, (void *, void *, unsigned long *, long *, long *, long *, struct CUstream_st *)) \
    F(2, STATUS, long, cuFileWritev, (void *, const struct CUfileIOVec *, size_t, long, unsigned int))

#endif
