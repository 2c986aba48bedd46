/* SPDX-License-Identifier: Apache-2.0
 *
 * Call frame information of the loaded objects (.eh_frame): where the caller of a
 * frame is found, as one small rule per return address. Covers what compilers emit
 * for ordinary x86-64 code and the frames of signals; everything else (rules written by
 * hand, other machines) is VS_FRAME_OTHER, for which libunwind is asked instead. */
#ifndef VS_CFI_H
#define VS_CFI_H

#include <stdbool.h>
#include <stdint.h>

enum vs_frame_kind {
    VS_FRAME_OTHER, /* no rule of the kinds below */
    VS_FRAME_END,   /* the outermost frame */
    VS_FRAME_SP,    /* CFA = sp + cfa_offset */
    VS_FRAME_FP,    /* CFA = fp + cfa_offset */
    VS_FRAME_FP_LOAD, /* CFA = the word at fp + cfa_offset (realigned stacks) */
    VS_FRAME_SIGNAL,  /* sp points to the context that a signal interrupted */
    VS_FRAME_NONE,    /* nothing says where the caller is */
};

/* Where the kernel keeps registers, from the sp of a signal's frame on (struct ucontext). */
#define VS_SIGNAL_FP 120
#define VS_SIGNAL_SP 160
#define VS_SIGNAL_PC 168

enum vs_saved_fp {
    VS_FP_KEPT,   /* the caller's is still in the register */
    VS_FP_AT_CFA, /* saved at CFA + fp_offset */
    VS_FP_AT_FP,  /* saved at fp + fp_offset */
};

/* CFA: the caller's stack pointer; the return address lies right below it. */
struct vs_frame_rule {
    uint8_t kind, saved_fp;
    int32_t cfa_offset, fp_offset;
};

/* vs_cfi_find: the rule of the frame that *pc*, a return address, belongs to. Calls
 * *found* with it while the object cannot be unloaded. Any thread; takes the loader's
 * lock: no lock of ours may be held. Cost: tens of microseconds. */
void vs_cfi_find(uint64_t pc, void (*found)(uint64_t pc, const struct vs_frame_rule *rule));

/* vs_cfi_entry: the rule for *target* by the entry of .eh_frame at *at*. */
struct vs_frame_rule vs_cfi_entry(const uint8_t *at, uint64_t target);

#endif
