/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel names are read from PTX text, as assemblers read it, and from no other image. */
#include "sim_test.h"

static CUresult find(const char *image, const char *name)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, image));
    CUresult e = cuModuleGetFunction(&function, module, name);
    OK(cuModuleUnload(module));
    return e;
}

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

TEST(entries_are_found_however_they_are_written)
{
    assert_int_equal(find(HEAD ".visible .entry k(.param .u32 a) { ret; }", "k"), CUDA_SUCCESS);
    assert_int_equal(find(HEAD ".entry\n\t_Z3addPfi$1\n(\n)\n{ ret; }", "_Z3addPfi$1"),
                     CUDA_SUCCESS);
    assert_int_equal(find("// made by hand\n/* on .entry x */ " HEAD ".weak .entry /* the */ k{}",
                          "k"),
                     CUDA_SUCCESS);
    assert_int_equal(find(HEAD ".entry a(){}\n.entry b(){}", "b"), CUDA_SUCCESS);
}

TEST(what_only_looks_like_an_entry_is_none)
{
    assert_int_equal(find(HEAD ".entry k(){} // .entry x(){}", "x"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find(HEAD ".entry k(){} /* .entry x(){} */", "x"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find(HEAD ".file 1 \".entry x\"\n.entry k(){}", "x"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find(HEAD ".visible .func x(){}\n.entry k(){}", "x"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find(HEAD ".entry kernel(){}", "kern"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find(HEAD ".entry kern(){}", "kernel"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find(HEAD, "k"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find(HEAD "/* open .entry k(){}", "k"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(find(HEAD ".entry", "k"), CUDA_ERROR_NOT_FOUND);
}

TEST(other_images_have_any_kernel)
{
    assert_int_equal(find("\x7f" "ELF", "k"), CUDA_SUCCESS);
    assert_int_equal(find("/dev/null", "k"), CUDA_SUCCESS);
    assert_int_equal(find("", "k"), CUDA_SUCCESS);
}

SIM_TESTS_ON(NULL)
