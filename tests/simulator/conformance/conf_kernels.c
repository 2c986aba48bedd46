/* SPDX-License-Identifier: Apache-2.0
 *
 * Three small kernels: as PTX, which a GPU's driver compiles, and as host functions
 * under the same names, which the simulated GPU runs. */
#include "conf.h"

#include "vramscope_simulator.h"

/* One thread an element; the last block may be partly used. */
#define INDEX                                                                                 \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"                     \
    "mad.lo.s32 %r4, %r1, %r2, %r3; setp.ge.u32 %p1, %r4, %r5; @%p1 bra DONE;\n"              \
    "cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3;\n"
#define REGISTERS ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<8>;\n"

const char conf_ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    /* out[i] = value */
    ".visible .entry conf_fill(.param .u64 out, .param .u32 value, .param .u32 count)\n{\n" REGISTERS
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r6, [value]; ld.param.u32 %r5, [count];\n" INDEX
    "st.global.u32 [%rd4], %r6;\nDONE: ret;\n}\n"
    /* out[i] += value */
    ".visible .entry conf_add(.param .u64 out, .param .u32 value, .param .u32 count)\n{\n" REGISTERS
    "ld.param.u64 %rd1, [out]; ld.param.u32 %r6, [value]; ld.param.u32 %r5, [count];\n" INDEX
    "ld.global.u32 %r7, [%rd4]; add.u32 %r8, %r7, %r6; st.global.u32 [%rd4], %r8;\n"
    "DONE: ret;\n}\n"
    /* out[i] = in[i] */
    ".visible .entry conf_copy(.param .u64 out, .param .u64 in, .param .u32 count)\n{\n" REGISTERS
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd5, [in]; ld.param.u32 %r5, [count];\n" INDEX
    "cvta.to.global.u64 %rd6, %rd5; add.s64 %rd7, %rd6, %rd3; ld.global.u32 %r6, [%rd7];\n"
    "st.global.u32 [%rd4], %r6;\nDONE: ret;\n}\n";

#define ARG(type, i) (*(type *)launch->args[i])
#define EACH(i, count)                                                               \
    for (unsigned long i = first * launch->block[0]; i < last * launch->block[0]; i++) \
        if (i < (count))

static void fill(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    EACH(i, ARG(uint32_t, 2))
        ARG(uint32_t *, 0)[i] = ARG(uint32_t, 1);
}

static void add(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    EACH(i, ARG(uint32_t, 2))
        ARG(uint32_t *, 0)[i] += ARG(uint32_t, 1);
}

static void copy(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    EACH(i, ARG(uint32_t, 2))
        ARG(uint32_t *, 0)[i] = ARG(uint32_t *, 1)[i];
}

CUmodule conf_module(void)
{
    static const size_t with_value[] = {8, 4, 4}, with_source[] = {8, 8, 4};
    vramscope_sim_register("conf_fill", fill, with_value, 3);
    vramscope_sim_register("conf_add", add, with_value, 3);
    vramscope_sim_register("conf_copy", copy, with_source, 3);
    return GOT(CUmodule, cuModuleLoadData(&got, conf_ptx));
}

CUfunction conf_function(CUmodule module, const char *name)
{
    return GOT(CUfunction, cuModuleGetFunction(&got, module, name));
}
