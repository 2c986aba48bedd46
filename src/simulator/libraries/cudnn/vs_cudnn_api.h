/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cudnn, written by scripts/library_tables.py from the
 * headers of cudnn 9.1.0.70 (CUDA 12) and cudnn 9.28.1.4 (CUDA 13). Do not edit.
 * VS_CUDNN_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
#ifndef VS_CUDNN_API_H
#define VS_CUDNN_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUDNN_STATUS_SUCCESS = 0, CUDNN_STATUS_NOT_INITIALIZED = 1001,
    CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH = 1002,
    CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH = 1003, CUDNN_STATUS_DEPRECATED = 1004,
    CUDNN_STATUS_LICENSE_ERROR = 1005, CUDNN_STATUS_RUNTIME_IN_PROGRESS = 1006,
    CUDNN_STATUS_RUNTIME_FP_OVERFLOW = 1007, CUDNN_STATUS_BAD_PARAM = 2000,
    CUDNN_STATUS_BAD_PARAM_NULL_POINTER = 2002, CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER = 2003,
    CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED = 2004, CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND = 2005,
    CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT = 2006, CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH = 2007,
    CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH = 2008, CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES = 2009,
    CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE = 2010, CUDNN_STATUS_NOT_SUPPORTED = 3000,
    CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN = 3001, CUDNN_STATUS_NOT_SUPPORTED_SHAPE = 3002,
    CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE = 3003, CUDNN_STATUS_NOT_SUPPORTED_LAYOUT = 3004,
    CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER = 3005,
    CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART = 3006,
    CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH = 3007,
    CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING = 3008,
    CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE = 3009,
    CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT = 3010,
    CUDNN_STATUS_NOT_SUPPORTED_PADDING = 3011, CUDNN_STATUS_NOT_SUPPORTED_BAD_LAUNCH_PARAM = 3012,
    CUDNN_STATUS_INTERNAL_ERROR = 4000, CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED = 4001,
    CUDNN_STATUS_INTERNAL_ERROR_UNEXPECTED_VALUE = 4002,
    CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED = 4003,
    CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED = 4004,
    CUDNN_STATUS_INTERNAL_ERROR_BAD_LAUNCH_PARAM = 4005,
    CUDNN_STATUS_INTERNAL_ERROR_TEXTURE_CREATION_FAILED = 4006,
    CUDNN_STATUS_EXECUTION_FAILED = 5000, CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER = 5001,
    CUDNN_STATUS_EXECUTION_FAILED_CUBLAS = 5002, CUDNN_STATUS_EXECUTION_FAILED_CUDART = 5003,
    CUDNN_STATUS_EXECUTION_FAILED_CURAND = 5004, CUDNN_STATUS_ALLOC_FAILED = 4003,
    CUDNN_STATUS_INVALID_VALUE = 2001, CUDNN_STATUS_ARCH_MISMATCH = 3007,
    CUDNN_STATUS_MAPPING_ERROR = 4006, CUDNN_ERRQUERY_RAWCODE = 0, CUDNN_ERRQUERY_BLOCKING = 2,
    CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2, CUDNN_DATA_INT8 = 3,
    CUDNN_DATA_INT32 = 4, CUDNN_DATA_INT8x4 = 5, CUDNN_DATA_UINT8 = 6, CUDNN_DATA_UINT8x4 = 7,
    CUDNN_DATA_INT8x32 = 8, CUDNN_DATA_BFLOAT16 = 9, CUDNN_DATA_INT64 = 10,
    CUDNN_DATA_BOOLEAN = 11, CUDNN_DATA_FP8_E4M3 = 12, CUDNN_DATA_FP8_E5M2 = 13,
    CUDNN_DATA_FAST_FLOAT_FOR_FP8 = 14, CUDNN_DEFAULT_MATH = 0, CUDNN_TENSOR_OP_MATH = 1,
    CUDNN_FMA_MATH = 3, CUDNN_NOT_PROPAGATE_NAN = 0, CUDNN_PROPAGATE_NAN = 1,
    CUDNN_TENSOR_NCHW = 0, CUDNN_TENSOR_NHWC = 1, CUDNN_TENSOR_NCHW_VECT_C = 2,
    CUDNN_ACTIVATION_SIGMOID = 0, CUDNN_ACTIVATION_SWISH = 6, CUDNN_CONVOLUTION = 0,
    CUDNN_CROSS_CORRELATION = 1, CUDNN_POINTWISE_RELU_BWD = 200,
    CUDNN_POINTWISE_GELU_APPROX_TANH_BWD = 207, CUDNN_NUMERICAL_NOTE_TENSOR_CORE = 0,
    CUDNN_NUMERICAL_NOTE_TYPE_COUNT = 10, CUDNN_HEUR_MODE_FALLBACK = 2, CUDNN_HEUR_MODE_A = 3,
    CUDNN_DETERMINISTIC = 1, CUDNN_SOFTMAX_FAST = 0, CUDNN_SOFTMAX_LOG = 2,
    CUDNN_SOFTMAX_MODE_INSTANCE = 0, CUDNN_SOFTMAX_MODE_CHANNEL = 1, CUDNN_POOLING_MAX = 0,
    CUDNN_POOLING_MAX_DETERMINISTIC = 3, CUDNN_BATCHNORM_PER_ACTIVATION = 0,
    CUDNN_BATCHNORM_SPATIAL_PERSISTENT = 2, CUDNN_BATCHNORM_OPS_BN = 0,
    CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION = 2, CUDNN_SAMPLER_BILINEAR = 0,
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0,
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM = 1, CUDNN_CONVOLUTION_FWD_ALGO_COUNT = 8,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 = 0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 = 1,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT = 7, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 = 0,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 = 1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT = 6,
    CUDNN_CTC_LOSS_ALGO_DETERMINISTIC = 0, CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC = 1,
    CUDNN_RNN_ALGO_STANDARD = 0, CUDNN_RNN_ALGO_COUNT = 4, CUDNN_FWD_MODE_INFERENCE = 0,
    CUDNN_FWD_MODE_TRAINING = 1, CUDNN_RNN_RELU = 0, CUDNN_LSTM = 2, CUDNN_GRU = 3,
    CUDNN_RNN_NO_BIAS = 0, CUDNN_RNN_SINGLE_INP_BIAS = 1, CUDNN_RNN_DOUBLE_BIAS = 2,
    CUDNN_RNN_SINGLE_REC_BIAS = 3, CUDNN_UNIDIRECTIONAL = 0, CUDNN_BIDIRECTIONAL = 1,
    CUDNN_LINEAR_INPUT = 0, CUDNN_SKIP_INPUT = 1, CUDNN_RNN_CLIP_NONE = 0,
    CUDNN_RNN_CLIP_MINMAX = 1, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED = 0,
    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED = 1, CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED = 2,
    CUDNN_WGRAD_MODE_ADD = 0, CUDNN_LOSS_NORMALIZATION_NONE = 0,
    CUDNN_LOSS_NORMALIZATION_SOFTMAX = 1, CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED = 1008,
    CUDNN_STATUS_BAD_PARAM_CUDA_GRAPH_MISMATCH = 2011,
    CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE = 2012,
    CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API = 3013,
    CUDNN_STATUS_NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE = 3014, CUDNN_DATA_FP8_E8M0 = 15,
    CUDNN_DATA_FP4_E2M1 = 16, CUDNN_DATA_INT4 = 17, CUDNN_DATA_UINT4 = 18, CUDNN_DATA_UINT32 = 19,
    CUDNN_DATA_COMPLEX_FP32 = 20, CUDNN_DATA_COMPLEX_FP64 = 21, CUDNN_DATA_BYTE_BOOLEAN = 22,
    CUDNN_DATA_FP8_E5M3 = 23,
};

#define CUDNN_DIM_MAX 8
#define CUDNN_MAJOR 9
#define CUDNN_MAX_SM_MAJOR_NUMBER 12
#define CUDNN_MAX_SM_MINOR_NUMBER 1
#define CUDNN_MINOR 28
#define CUDNN_PATCHLEVEL 1

struct CUstream_st;
struct cudnnActivationStruct;
struct cudnnCTCLossStruct;
struct cudnnContext;
struct cudnnConvolutionBwdDataAlgoPerfStruct;
struct cudnnConvolutionBwdFilterAlgoPerfStruct;
struct cudnnConvolutionFwdAlgoPerfStruct;
struct cudnnConvolutionStruct;
struct cudnnDropoutStruct;
struct cudnnFilterStruct;
struct cudnnPoolingStruct;
struct cudnnRNNDataStruct;
struct cudnnRNNStruct;
struct cudnnRuntimeTag_t;
struct cudnnSpatialTransformerStruct;
struct cudnnTensorStruct;

struct cudnnFractionStruct {
    int64_t numerator;
    int64_t denominator;
};
_Static_assert(sizeof(struct cudnnFractionStruct) == 16, "layout of cudnnFractionStruct");

struct cudnnConvolutionFwdAlgoPerfStruct {
    int algo;
    int status;
    float time;
    size_t memory;
    int determinism;
    int mathType;
    int reserved[3];
};
_Static_assert(sizeof(struct cudnnConvolutionFwdAlgoPerfStruct) == 48, "layout of cudnnConvolutionFwdAlgoPerfStruct");

struct cudnnConvolutionBwdDataAlgoPerfStruct {
    int algo;
    int status;
    float time;
    size_t memory;
    int determinism;
    int mathType;
    int reserved[3];
};
_Static_assert(sizeof(struct cudnnConvolutionBwdDataAlgoPerfStruct) == 48, "layout of cudnnConvolutionBwdDataAlgoPerfStruct");

struct cudnnConvolutionBwdFilterAlgoPerfStruct {
    int algo;
    int status;
    float time;
    size_t memory;
    int determinism;
    int mathType;
    int reserved[3];
};
_Static_assert(sizeof(struct cudnnConvolutionBwdFilterAlgoPerfStruct) == 48, "layout of cudnnConvolutionBwdFilterAlgoPerfStruct");

typedef struct cudnnFractionStruct cudnnFraction_t;
typedef struct cudnnConvolutionFwdAlgoPerfStruct cudnnConvolutionFwdAlgoPerf_t;
typedef struct cudnnConvolutionBwdDataAlgoPerfStruct cudnnConvolutionBwdDataAlgoPerf_t;
typedef struct cudnnConvolutionBwdFilterAlgoPerfStruct cudnnConvolutionBwdFilterAlgoPerf_t;

#define VS_CUDNN_FUNCTIONS(F) \
    F(int, cudnnActivationBackward, (struct cudnnContext *, struct cudnnActivationStruct *, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, const void *, struct cudnnTensorStruct *const, void *)) \
    F(int, cudnnActivationForward, (struct cudnnContext *, struct cudnnActivationStruct *, const void *, struct cudnnTensorStruct *const, const void *, const void *, struct cudnnTensorStruct *const, void *)) \
    F(int, cudnnAdvVersionCheck, (void)) \
    F(int, cudnnBackendCreateDescriptor, (int, void **)) \
    F(int, cudnnBackendDestroyDescriptor, (void *)) \
    F(int, cudnnBackendExecute, (struct cudnnContext *, void *, void *)) \
    F(int, cudnnBackendFinalize, (void *)) \
    F(int, cudnnBackendGetAttribute, (void *const, int, int, int64_t, long *, void *)) \
    F(int, cudnnBackendSetAttribute, (void *, int, int, int64_t, const void *)) \
    F(int, cudnnBatchNormalizationBackward, (struct cudnnContext *, int, const void *, const void *, const void *, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, void *, struct cudnnTensorStruct *const, const void *, void *, void *, double, const void *, const void *)) \
    F(int, cudnnBatchNormalizationBackwardEx, (struct cudnnContext *, int, int, const void *, const void *, const void *, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, void *, struct cudnnTensorStruct *const, void *, struct cudnnTensorStruct *const, const void *, const void *, void *, void *, double, const void *, const void *, struct cudnnActivationStruct *, void *, size_t, void *, size_t)) \
    F(int, cudnnBatchNormalizationForwardInference, (struct cudnnContext *, int, const void *, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, void *, struct cudnnTensorStruct *const, const void *, const void *, const void *, const void *, double)) \
    F(int, cudnnBatchNormalizationForwardTraining, (struct cudnnContext *, int, const void *, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, void *, struct cudnnTensorStruct *const, const void *, const void *, double, void *, void *, double, void *, void *)) \
    F(int, cudnnBatchNormalizationForwardTrainingEx, (struct cudnnContext *, int, int, const void *, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, void *, struct cudnnTensorStruct *const, const void *, const void *, double, void *, void *, double, void *, void *, struct cudnnActivationStruct *, void *, size_t, void *, size_t)) \
    F(int, cudnnBuildRNNDynamic, (struct cudnnContext *, struct cudnnRNNStruct *, int)) \
    F(int, cudnnCTCLoss, (struct cudnnContext *, struct cudnnTensorStruct *const, const void *, int *, int *, int *, void *, struct cudnnTensorStruct *const, void *, int, struct cudnnCTCLossStruct *, void *, size_t)) \
    F(int, cudnnCTCLoss_v8, (struct cudnnContext *, int, struct cudnnCTCLossStruct *, struct cudnnTensorStruct *const, const void *, int *, int *, int *, void *, struct cudnnTensorStruct *const, void *, size_t, void *)) \
    F(int, cudnnCnnVersionCheck, (void)) \
    F(int, cudnnConvolutionBackwardBias, (struct cudnnContext *, const void *, struct cudnnTensorStruct *const, const void *, const void *, struct cudnnTensorStruct *const, void *)) \
    F(int, cudnnConvolutionBiasActivationForward, (struct cudnnContext *, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnFilterStruct *const, const void *, struct cudnnConvolutionStruct *const, int, void *, size_t, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnActivationStruct *const, struct cudnnTensorStruct *const, void *)) \
    F(int, cudnnCreate, (struct cudnnContext **)) \
    F(int, cudnnDeriveBNTensorDescriptor, (struct cudnnTensorStruct *, struct cudnnTensorStruct *const, int)) \
    F(int, cudnnDestroy, (struct cudnnContext *)) \
    F(int, cudnnDestroyRNNDataDescriptor, (struct cudnnRNNDataStruct *)) \
    F(int, cudnnDropoutBackward, (struct cudnnContext *, struct cudnnDropoutStruct *const, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, void *, void *, size_t)) \
    F(int, cudnnDropoutForward, (struct cudnnContext *, struct cudnnDropoutStruct *const, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, void *, void *, size_t)) \
    F(int, cudnnDropoutGetReserveSpaceSize, (struct cudnnTensorStruct *, unsigned long *)) \
    F(int, cudnnDropoutGetStatesSize, (struct cudnnContext *, unsigned long *)) \
    F(int, cudnnGetBatchNormalizationBackwardExWorkspaceSize, (struct cudnnContext *, int, int, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, struct cudnnActivationStruct *const, unsigned long *)) \
    F(int, cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, (struct cudnnContext *, int, int, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, struct cudnnActivationStruct *const, unsigned long *)) \
    F(int, cudnnGetBatchNormalizationTrainingExReserveSpaceSize, (struct cudnnContext *, int, int, struct cudnnActivationStruct *const, struct cudnnTensorStruct *const, unsigned long *)) \
    F(int, cudnnGetCTCLossWorkspaceSize, (struct cudnnContext *, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, const int *, const int *, const int *, int, struct cudnnCTCLossStruct *, unsigned long *)) \
    F(int, cudnnGetCTCLossWorkspaceSize_v8, (struct cudnnContext *, int, struct cudnnCTCLossStruct *, struct cudnnTensorStruct *const, struct cudnnTensorStruct *const, unsigned long *)) \
    F(int, cudnnGetConvolution2dForwardOutputDim, (struct cudnnConvolutionStruct *const, struct cudnnTensorStruct *const, struct cudnnFilterStruct *const, int *, int *, int *, int *)) \
    F(int, cudnnGetConvolutionMathType, (struct cudnnConvolutionStruct *, int *)) \
    F(int, cudnnGetConvolutionNdForwardOutputDim, (struct cudnnConvolutionStruct *const, struct cudnnTensorStruct *const, struct cudnnFilterStruct *const, int, int *)) \
    F(size_t, cudnnGetCudartVersion, (void)) \
    F(const char *, cudnnGetErrorString, (int)) \
    F(int, cudnnGetFilterNdDescriptor, (struct cudnnFilterStruct *const, int, int *, int *, int *, int *)) \
    F(int, cudnnGetFilterSizeInBytes, (struct cudnnFilterStruct *const, unsigned long *)) \
    F(void, cudnnGetLastErrorString, (char *, size_t)) \
    F(size_t, cudnnGetMaxDeviceVersion, (void)) \
    F(int, cudnnGetPooling2dForwardOutputDim, (struct cudnnPoolingStruct *const, struct cudnnTensorStruct *const, int *, int *, int *, int *)) \
    F(int, cudnnGetPoolingNdForwardOutputDim, (struct cudnnPoolingStruct *const, struct cudnnTensorStruct *const, int, int *)) \
    F(int, cudnnGetProperty, (int, int *)) \
    F(int, cudnnGetRNNDescriptor_v8, (struct cudnnRNNStruct *, int *, int *, int *, int *, int *, int *, int *, int *, int *, int *, int *, int *, struct cudnnDropoutStruct **, unsigned int *)) \
    F(int, cudnnGetRNNTempSpaceSizes, (struct cudnnContext *, struct cudnnRNNStruct *, int, struct cudnnRNNDataStruct *, unsigned long *, unsigned long *)) \
    F(int, cudnnGetRNNWeightParams, (struct cudnnContext *, struct cudnnRNNStruct *, int32_t, size_t, const void *, int32_t, struct cudnnTensorStruct *, void **, struct cudnnTensorStruct *, void **)) \
    F(int, cudnnGetRNNWeightSpaceSize, (struct cudnnContext *, struct cudnnRNNStruct *, unsigned long *)) \
    F(int, cudnnGetStream, (struct cudnnContext *, struct CUstream_st **)) \
    F(int, cudnnGetTensor4dDescriptor, (struct cudnnTensorStruct *const, int *, int *, int *, int *, int *, int *, int *, int *, int *)) \
    F(int, cudnnGetTensorNdDescriptor, (struct cudnnTensorStruct *const, int, int *, int *, int *, int *)) \
    F(int, cudnnGetTensorSizeInBytes, (struct cudnnTensorStruct *const, unsigned long *)) \
    F(size_t, cudnnGetVersion, (void)) \
    F(int, cudnnGraphVersionCheck, (void)) \
    F(int, cudnnIm2Col, (struct cudnnContext *, struct cudnnTensorStruct *const, const void *, struct cudnnFilterStruct *const, struct cudnnConvolutionStruct *const, void *)) \
    F(int, cudnnOpsVersionCheck, (void)) \
    F(int, cudnnPoolingBackward, (struct cudnnContext *, struct cudnnPoolingStruct *const, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, const void *, struct cudnnTensorStruct *const, void *)) \
    F(int, cudnnPoolingForward, (struct cudnnContext *, struct cudnnPoolingStruct *const, const void *, struct cudnnTensorStruct *const, const void *, const void *, struct cudnnTensorStruct *const, void *)) \
    F(int, cudnnQueryRuntimeError, (struct cudnnContext *, int *, int, struct cudnnRuntimeTag_t *)) \
    F(int, cudnnRNNBackwardData_v8, (struct cudnnContext *, struct cudnnRNNStruct *, int *, struct cudnnRNNDataStruct *, const void *, const void *, struct cudnnRNNDataStruct *, void *, struct cudnnTensorStruct *, const void *, const void *, void *, struct cudnnTensorStruct *, const void *, const void *, void *, size_t, const void *, size_t, void *, size_t, void *)) \
    F(int, cudnnRNNBackwardWeights_v8, (struct cudnnContext *, struct cudnnRNNStruct *, int, int *, struct cudnnRNNDataStruct *, const void *, struct cudnnTensorStruct *, const void *, struct cudnnRNNDataStruct *, const void *, size_t, void *, size_t, void *, size_t, void *)) \
    F(int, cudnnRNNForward, (struct cudnnContext *, struct cudnnRNNStruct *, int, int *, struct cudnnRNNDataStruct *, const void *, struct cudnnRNNDataStruct *, void *, struct cudnnTensorStruct *, const void *, void *, struct cudnnTensorStruct *, const void *, void *, size_t, const void *, size_t, void *, size_t, void *)) \
    F(int, cudnnRNNSetClip_v8, (struct cudnnRNNStruct *, int, int, double, double)) \
    F(int, cudnnRNNSetClip_v9, (struct cudnnRNNStruct *, int, double, double)) \
    F(int, cudnnRestoreDropoutDescriptor, (struct cudnnDropoutStruct *, struct cudnnContext *, float, void *, size_t, unsigned long long)) \
    F(int, cudnnSetActivationDescriptor, (struct cudnnActivationStruct *, int, int, double)) \
    F(int, cudnnSetActivationDescriptorSwishBeta, (struct cudnnActivationStruct *, double)) \
    F(int, cudnnSetCTCLossDescriptor, (struct cudnnCTCLossStruct *, int)) \
    F(int, cudnnSetCTCLossDescriptorEx, (struct cudnnCTCLossStruct *, int, int, int)) \
    F(int, cudnnSetCTCLossDescriptor_v8, (struct cudnnCTCLossStruct *, int, int, int, int)) \
    F(int, cudnnSetCTCLossDescriptor_v9, (struct cudnnCTCLossStruct *, int, int, int, int)) \
    F(int, cudnnSetConvolution2dDescriptor, (struct cudnnConvolutionStruct *, int, int, int, int, int, int, int, int)) \
    F(int, cudnnSetConvolutionGroupCount, (struct cudnnConvolutionStruct *, int)) \
    F(int, cudnnSetConvolutionMathType, (struct cudnnConvolutionStruct *, int)) \
    F(int, cudnnSetConvolutionNdDescriptor, (struct cudnnConvolutionStruct *, int, int *, int *, int *, int, int)) \
    F(int, cudnnSetDropoutDescriptor, (struct cudnnDropoutStruct *, struct cudnnContext *, float, void *, size_t, unsigned long long)) \
    F(int, cudnnSetFilter4dDescriptor, (struct cudnnFilterStruct *, int, int, int, int, int, int)) \
    F(int, cudnnSetFilterNdDescriptor, (struct cudnnFilterStruct *, int, int, int, int *)) \
    F(int, cudnnSetPooling2dDescriptor, (struct cudnnPoolingStruct *, int, int, int, int, int, int, int, int)) \
    F(int, cudnnSetPoolingNdDescriptor, (struct cudnnPoolingStruct *, const int, const int, int, int *, int *, int *)) \
    F(int, cudnnSetRNNDataDescriptor, (struct cudnnRNNDataStruct *, int, int, int, int, int, int *, void *)) \
    F(int, cudnnSetRNNDescriptor_v8, (struct cudnnRNNStruct *, int, int, int, int, int, int, int, int, int32_t, int32_t, int32_t, int32_t, struct cudnnDropoutStruct *, uint32_t)) \
    F(int, cudnnSetSpatialTransformerNdDescriptor, (struct cudnnSpatialTransformerStruct *, int, int, const int, int *)) \
    F(int, cudnnSetStream, (struct cudnnContext *, struct CUstream_st *)) \
    F(int, cudnnSetTensor4dDescriptor, (struct cudnnTensorStruct *, int, int, int, int, int, int)) \
    F(int, cudnnSetTensor4dDescriptorEx, (struct cudnnTensorStruct *, int, int, int, int, int, int, int, int, int)) \
    F(int, cudnnSetTensorNdDescriptor, (struct cudnnTensorStruct *, int, int, int *, int *)) \
    F(int, cudnnSetTensorNdDescriptorEx, (struct cudnnTensorStruct *, int, int, int, int *)) \
    F(int, cudnnSoftmaxBackward, (struct cudnnContext *, int, int, const void *, struct cudnnTensorStruct *const, const void *, struct cudnnTensorStruct *const, const void *, const void *, struct cudnnTensorStruct *const, void *)) \
    F(int, cudnnSoftmaxForward, (struct cudnnContext *, int, int, const void *, struct cudnnTensorStruct *const, const void *, const void *, struct cudnnTensorStruct *const, void *)) \
    F(int, cudnnSpatialTfGridGeneratorBackward, (struct cudnnContext *, struct cudnnSpatialTransformerStruct *const, const void *, void *)) \
    F(int, cudnnSpatialTfGridGeneratorForward, (struct cudnnContext *, struct cudnnSpatialTransformerStruct *const, const void *, void *)) \
    F(int, cudnnSpatialTfSamplerBackward, (struct cudnnContext *, struct cudnnSpatialTransformerStruct *, const void *, struct cudnnTensorStruct *const, const void *, const void *, struct cudnnTensorStruct *const, void *, const void *, struct cudnnTensorStruct *const, const void *, const void *, const void *, void *)) \
    F(int, cudnnSpatialTfSamplerForward, (struct cudnnContext *, struct cudnnSpatialTransformerStruct *, const void *, struct cudnnTensorStruct *const, const void *, const void *, const void *, struct cudnnTensorStruct *, void *))

#endif
