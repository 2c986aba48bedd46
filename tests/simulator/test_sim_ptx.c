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

SIM_TESTS_ON(NULL)
