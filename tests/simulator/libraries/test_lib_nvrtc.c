/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-ins for NVRTC and nvJitLink: their images load into the simulated driver, and their
 * kernels are found under the names that they give. */
#include "sim_library.h"
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/nvrtc/vs_nvrtc_api.h"

enum { NVJITLINK_INPUT_PTX = 2 };

VS_NVRTC_FUNCTIONS(VS_LIBRARY_DECLARE)

static const char source[] = "template <typename T> __global__ void scale(T *x) { *x *= 2; }\n"
                             "extern \"C\" __global__ void __launch_bounds__(256, 2) plain(float *x) {}\n";

static struct _nvrtcProgram *compile(const char *arch)
{
    struct _nvrtcProgram *program;
    const char *early;
    OK(nvrtcCreateProgram(&program, source, "test.cu", 0, NULL, NULL));
    OK(nvrtcAddNameExpression(program, "scale<float>"));
    FAILS(nvrtcGetLoweredName(program, "scale<float>", &early),
          NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    OK(nvrtcCompileProgram(program, 1, &arch));
    return program;
}

static void find(const void *image, const char *name, CUresult expected)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, image));
    FAILS(cuModuleGetFunction(&function, module, name), expected);
    OK(cuModuleUnload(module));
}

TEST(ptx_has_an_entry_for_each_kernel)
{
    struct _nvrtcProgram *program = compile("--gpu-architecture=compute_80");
    const char *lowered;
    unsigned long bytes;
    char ptx[4096];
    OK(nvrtcGetLoweredName(program, "scale<float>", &lowered));
    OK(nvrtcGetPTXSize(program, &bytes));
    assert_in_range(bytes, 1, sizeof ptx);
    OK(nvrtcGetPTX(program, ptx));
    assert_int_equal(strlen(ptx) + 1, bytes);
    assert_non_null(strstr(ptx, "sm_80"));
    find(ptx, lowered, CUDA_SUCCESS);
    find(ptx, "plain", CUDA_SUCCESS);
    find(ptx, "absent", CUDA_ERROR_NOT_FOUND);
    OK(nvrtcGetCUBINSize(program, &bytes));
    assert_int_equal(bytes, 0); /* no cubin for a virtual architecture */
    FAILS(nvrtcAddNameExpression(program, "late"), NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    FAILS(nvrtcGetLoweredName(program, "other", &lowered), NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    OK(nvrtcDestroyProgram(&program));
    FAILS(nvrtcDestroyProgram(&program), NVRTC_ERROR_INVALID_PROGRAM);
}

TEST(a_cubin_loads)
{
    struct _nvrtcProgram *program = compile("-arch=sm_90");
    unsigned long bytes;
    _Alignas(16) char cubin[4096];
    OK(nvrtcGetCUBINSize(program, &bytes));
    assert_in_range(bytes, 1, sizeof cubin);
    OK(nvrtcGetCUBIN(program, cubin));
    find(cubin, "plain", CUDA_SUCCESS);
    OK(nvrtcGetProgramLogSize(program, &bytes));
    assert_int_equal(bytes, 1);
    OK(nvrtcDestroyProgram(&program));
}

static void *symbol(void *library, const char *function, const char *release)
{
    char name[64];
    snprintf(name, sizeof name, *release ? "__nvJitLink%s_%s" : "nvJitLink%s", function, release);
    void *found = dlsym(library, name);
    assert_non_null(found);
    return found;
}

TEST(each_release_of_the_linker_has_its_symbols)
{
    static const char *const releases[] = {"", "12_0", "12_4", "12_9", "13_0", "13_5"};
    void *library = lib_open("libnvJitLink.so.13");
    const char *option = "-arch=sm_90";
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        void *link;
        _Alignas(16) char cubin[4096];
        int (*create)(void **, uint32_t, const char *const *) = symbol(library, "Create", releases[i]);
        int (*add)(void *, int, const void *, size_t, const char *) = symbol(library, "AddData", releases[i]);
        int (*complete)(void *) = symbol(library, "Complete", releases[i]);
        int (*get)(void *, void *) = symbol(library, "GetLinkedCubin", releases[i]);
        int (*destroy)(void **) = symbol(library, "Destroy", releases[i]);
        assert_int_not_equal(create(&link, 0, NULL), 0); /* no architecture */
        OK(create(&link, 1, &option));
        assert_int_not_equal(complete(link), 0); /* nothing to link */
        OK(add(link, 1, "x", 1, "x"));
        OK(add(link, NVJITLINK_INPUT_PTX, ".version 8.0\n.global .b8 a[8];", 29, "x"));
        OK(complete(link));
        OK(get(link, cubin));
        find(cubin, "kernel", CUDA_SUCCESS);
        CUmodule module;
        CUdeviceptr variable;
        OK(cuModuleLoadData(&module, cubin));
        OK(cuModuleGetGlobal(&variable, NULL, module, "a"));
        OK(cuModuleUnload(module));
        OK(destroy(&link));
    }
}

static void architectures_are(const char *version, const int *expected, int count)
{
    int found[32] = {0}, n = 0;
    setenv("VRAMSCOPE_SIMULATE_LIBRARIES", version, 1);
    OK(nvrtcGetNumSupportedArchs(&n));
    assert_int_equal(n, count);
    OK(nvrtcGetSupportedArchs(found));
    unsetenv("VRAMSCOPE_SIMULATE_LIBRARIES");
    for (int i = 0; i < count; i++)
        assert_int_equal(found[i], expected[i]);
    assert_int_equal(found[count], 0);
}

/* NVRTC 12.9 answered those of 12.4, so that a framework compiled for Hopper on Blackwell. */
TEST(each_release_has_its_architectures)
{
    static const int old[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90},
                     newer[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121},
                     newest[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
    architectures_are("nvrtc=12.4.127", old, sizeof old / sizeof *old);
    architectures_are("nvrtc=12.9.0", newer, sizeof newer / sizeof *newer);
    architectures_are("nvrtc=13.2.0", newest, sizeof newest / sizeof *newest);
    FAILS(nvrtcGetSupportedArchs(NULL), NVRTC_ERROR_INVALID_INPUT);
    FAILS(nvrtcGetNumSupportedArchs(NULL), NVRTC_ERROR_INVALID_INPUT);
}

SETUP(begin)
{
    return cudaFree(NULL);
}
