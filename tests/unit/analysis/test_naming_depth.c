/* SPDX-License-Identifier: Apache-2.0
 *
 * A stack of the maximum recorded depth still reports that there were more frames; and frames of a CUDA
 * runtime that is linked into the program are left out. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/cmocka_test.h"
#include "analysis/naming/naming.h"
#include "trace/record/recorder.h"

#define DEPTH 128

__attribute__((noinline)) static uint64_t descend(struct vs_recorder *recorder, int levels)
{
    uint64_t stack =
        levels ? descend(recorder, levels - 1) : vs_recorder_stack(recorder, 0);
    __asm__ volatile("" : "+r"(stack)); /* no tail call */
    return stack;
}

#ifdef __x86_64__
/* A function of a runtime that is linked into the program, without debug information. */
__asm__(".pushsection .text.cuda_launch_probe, \"ax\", @progbits\n"
        ".globl cudaLaunchProbe\n.type cudaLaunchProbe, @function\ncudaLaunchProbe:\n"
        ".cfi_startproc\nsub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall *%rdx\n"
        "add $8, %rsp\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n"
        ".size cudaLaunchProbe, . - cudaLaunchProbe\n.popsection");
uint64_t cudaLaunchProbe(struct vs_recorder *recorder, uint64_t skip, uint64_t (*call)(struct vs_recorder *, unsigned));
#endif

TEST(a_full_stack_keeps_its_mark)
{
    char path[] = "/tmp/vs_depth_XXXXXX", why[VS_READER_WHY_MAX];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct vs_recorder *recorder;
    struct vs_recorder_config config = {.path = path, .compression = 1, .stack_depth_max = DEPTH,
                                        .flush_ms = 1000};
    assert_int_equal(vs_recorder_open(&config, &recorder), VS_OK);
    struct vs_event event = {.kind = VS_EVENT_free};
    event.free.stack = descend(recorder, 3 * DEPTH);
    vs_recorder_event(recorder, &event);
#ifdef __x86_64__
    event = (struct vs_event){.kind = VS_EVENT_segment_alloc};
    event.segment_alloc.stack = cudaLaunchProbe(recorder, 0, vs_recorder_stack);
    vs_recorder_event(recorder, &event);
#endif
    vs_recorder_close(recorder, VS_END_EXIT, 0);

    struct vs_reader *reader;
    struct vs_symbols *symbols;
    struct vs_chain_frame frames[VS_CHAIN_MAX];
    uint64_t stack = 0, in_runtime = 0;
    assert_int_equal(vs_reader_open(path, &reader, why), VS_OK);
    while (!vs_reader_next(reader, &event)) {
        stack = event.kind == VS_EVENT_free ? event.free.stack : stack;
        in_runtime = event.kind == VS_EVENT_segment_alloc ? event.segment_alloc.stack : in_runtime;
    }
    symbols = vs_symbols_open(reader);
    size_t count = vs_naming_chain(reader, symbols, stack, false, frames);
    assert_true(count > DEPTH);
    assert_string_equal(frames[count - 1].function, "(more frames)");
#ifdef __x86_64__ /* the runtime's own frame names no site */
    assert_true(vs_naming_chain(reader, symbols, in_runtime, false, frames) > 0);
    assert_string_equal(frames[0].function, "a_full_stack_keeps_its_mark");
#endif
    vs_symbols_close(symbols);
    vs_reader_close(reader);
    unlink(path);
}
