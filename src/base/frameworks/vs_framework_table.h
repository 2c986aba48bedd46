/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of frameworks that allocate memory of the device for others:
 *   VS_FRAMEWORK(ID, name, contents, objects, pool, seen, more)
 * contents: what its blocks hold. objects: how file names of its objects begin, or what the paths of
 * its objects and Python files contain ("-packages/cupy"), separated by spaces. pool: likewise,
 * one of an object that is loaded only where its own pool serves the device: --allocator=auto then observes;
 * NULL: none. seen: what a trace has of it, after "NAME: 1.0 GiB in 3 allocations at the peak"; NULL: needs no words. more: which switch shows more,
 * or NULL. docs/frameworks.md has a section for each. No include guard: each user defines VS_FRAMEWORK and
 * includes it. */
VS_FRAMEWORK(PYTORCH, "PyTorch", "tensors", "libc10 libtorch", "libc10_cuda.so", NULL, NULL)
VS_FRAMEWORK(CUPY, "CuPy", "arrays", "-packages/cupy", "-packages/cupy", "the arrays in its pool were not recorded",
             "run --pools records each")
VS_FRAMEWORK(JAX, "JAX/XLA", "arrays", "xla_cuda pjrt_c_api_gpu libjax -packages/jax", "-packages/jax_",
             "the arrays in its pool, by default 75 % of the device from the start, are not recorded",
             "XLA_PYTHON_CLIENT_PREALLOCATE=false lets the pool grow with use; with "
             "XLA_PYTHON_CLIENT_ALLOCATOR=platform (slow) each array is an allocation")
VS_FRAMEWORK(TENSORFLOW, "TensorFlow", "tensors", "libtensorflow _pywrap_tensorflow", "libtensorflow",
             "the tensors in its pool were not recorded, which needs --via=preload",
             "With TF_GPU_ALLOCATOR=cuda_malloc_async each tensor is an allocation")
VS_FRAMEWORK(ONNX_RUNTIME, "ONNX Runtime", "tensors", "libonnxruntime onnxruntime",
             "libonnxruntime_providers_cuda",
             "the tensors in its arena are not recorded",
             "With arena_extend_strategy=kSameAsRequested the arena grows by what is asked for")
VS_FRAMEWORK(RMM, "RMM", "buffers", "librmm -packages/rmm", NULL, "the buffers in its pools are not recorded",
             "rmm.reinitialize(logging=True) writes a log for vramscope import")
VS_FRAMEWORK(NUMBA, "Numba", "arrays", "-packages/numba", NULL, "each array is an allocation", NULL)
VS_FRAMEWORK(WARP, "Warp", "arrays", "warp.so -packages/warp/", NULL, "each array is an allocation", NULL)
VS_FRAMEWORK(LLAMA_CPP, "llama.cpp", "tensors", "libggml libllama -packages/llama_cpp", NULL,
             "each buffer is an allocation: weights, KV cache, scratch memory", NULL)
