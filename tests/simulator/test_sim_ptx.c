/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel names are read from PTX text, as assemblers read it, and from no other image. */
#include "sim_test.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

TEST(entries_are_found_however_they_are_written)
{
    static const struct {
        const char *image, *name;
        CUresult result;
    } rows[] = {
        {HEAD ".visible .entry k(.param .u32 a) { ret; }", "k", CUDA_SUCCESS},
        {HEAD ".entry\n\t_Z3addPfi$1\n(\n)\n{ ret; }", "_Z3addPfi$1", CUDA_SUCCESS},
        {"// by hand\n/* on .entry x */ " HEAD ".weak .entry /* the */ k{}", "k", CUDA_SUCCESS},
        {HEAD ".entry a(){}\n.entry b(){}", "b", CUDA_SUCCESS},
        /* what only looks like an entry is none */
        {HEAD ".entry k(){} // .entry x(){}", "x", CUDA_ERROR_NOT_FOUND},
        {HEAD ".entry k(){} /* .entry x(){} */", "x", CUDA_ERROR_NOT_FOUND},
        {HEAD ".file 1 \".entry x\"\n.entry k(){}", "x", CUDA_ERROR_NOT_FOUND},
        {HEAD ".visible .func x(){}\n.entry k(){}", "x", CUDA_ERROR_NOT_FOUND},
        {HEAD ".entry kernel(){}", "kern", CUDA_ERROR_NOT_FOUND},
        {HEAD ".entry kern(){}", "kernel", CUDA_ERROR_NOT_FOUND},
        {HEAD, "k", CUDA_ERROR_NOT_FOUND},
        {HEAD "/* open .entry k(){}", "k", CUDA_ERROR_NOT_FOUND},
        {HEAD ".entry", "k", CUDA_ERROR_NOT_FOUND},
        /* other images have any kernel */
        {"\x7f" "ELF", "k", CUDA_SUCCESS},
        {"/dev/null", "k", CUDA_SUCCESS},
        {"", "k", CUDA_SUCCESS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUmodule module;
        CUfunction function;
        OK(cuModuleLoadData(&module, rows[i].image));
        FAILS(cuModuleGetFunction(&function, module, rows[i].name), rows[i].result);
        OK(cuModuleUnload(module));
    }
}

TEST(variables_of_the_module_have_their_sizes)
{
    static const char image[] = HEAD ".visible .global .align 256 .b8 bytes[3][100] = {1, 2, {3}};\n"
                                     ".const .v4 .f32 four; .extern .global .u64 elsewhere;\n"
                                     ".global .attribute(.managed) .s64 one; .global .b8 open[] = {1};\n"
                                     ".entry k(.param .u64 .ptr .global .align 16 p)\n"
                                     "{ { ret; } ld.global.f32 %f1, [four]; .shared .b8 s[4]; }\n.global .u16 last";
    static const struct {
        const char *name;
        size_t bytes;
    } rows[] = {{"bytes", 300}, {"four", 16}, {"one", 8}, {"last", 2}, {"elsewhere", 0}, {"open", 0}, {"p", 0}, {"s", 0}};
    CUmodule module;
    OK(cuModuleLoadData(&module, image));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CUdeviceptr at;
        size_t bytes = 0;
        FAILS(cuModuleGetGlobal(&at, &bytes, module, rows[i].name),
              rows[i].bytes ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
        assert_int_equal(bytes, rows[i].bytes);
    }
    OK(cuModuleUnload(module));
}

SIM_TESTS_ON(NULL)
