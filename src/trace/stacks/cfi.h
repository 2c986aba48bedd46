/* SPDX-License-Identifier: Apache-2.0
 *
 * Call frame information of the loaded objects (.eh_frame): how to find the caller of a frame, as
 * one small rule per return address. Covers the code that compilers emit for x86-64 and signal
 * frames; everything else (hand-written rules, other machines) is VS_FRAME_OTHER and is left to
 * libunwind. */
#ifndef VS_CFI_H
#define VS_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- loaded_object.c: the objects that the loader has in memory, in every namespace ---
 *
 * dl_iterate_phdr lists only those of the program's own, but code loaded by dlmopen calls CUDA too. The
 * other namespaces are read from the lists that glibc (2.35 and later) provides for debuggers. */

struct dl_phdr_info; /* link.h */
typedef int vs_loaded_object_fn(struct dl_phdr_info *info, size_t size, void *arg);

/* vs_loaded_object_init: finds the functions that the loader offers. Takes the loader's lock, so
 * the caller must hold none of our locks. Call once, before the other functions; any thread. */
void vs_loaded_object_init(void);

/* vs_loaded_object_each: like dl_iterate_phdr, over all namespaces, the program's own first. *fn*
 * runs under the loader's lock. */
void vs_loaded_object_each(vs_loaded_object_fn *fn, void *arg);

/* vs_loaded_object_frames: the search table of call frame information (.eh_frame_hdr) of the object
 * that contains *pc*, in any namespace. *bytes* receives how many bytes are readable from there.
 * NULL when there is none. Any thread, takes no lock. */
const uint8_t *vs_loaded_object_frames(uint64_t pc, uint64_t *bytes);

/* --- cfi.c --- */

enum vs_frame_kind {
    VS_FRAME_OTHER, /* no rule of the kinds below */
    VS_FRAME_END,   /* the outermost frame */
    VS_FRAME_SP,    /* CFA = sp + cfa_offset */
    VS_FRAME_FP,    /* CFA = fp + cfa_offset */
    VS_FRAME_FP_LOAD, /* CFA = the word at fp + cfa_offset (realigned stacks) */
    VS_FRAME_SIGNAL,  /* sp points to the context that a signal interrupted */
    VS_FRAME_NONE,    /* no information about the caller */
};

/* Offsets of the registers that the kernel saved, from the sp of a signal frame (struct
 * ucontext). */
#define VS_SIGNAL_FP 120
#define VS_SIGNAL_SP 160
#define VS_SIGNAL_PC 168

enum vs_saved_fp {
    VS_FP_KEPT,   /* the caller's value is still in the register */
    VS_FP_AT_CFA, /* saved at CFA + fp_offset */
    VS_FP_AT_FP,  /* saved at fp + fp_offset */
};

/* CFA: the caller's stack pointer; the return address is directly below it. */
struct vs_frame_rule {
    uint8_t kind, saved_fp;
    int32_t cfa_offset, fp_offset;
};

/* vs_cfi_find: finds the rule of the frame that the return address *pc* belongs to. Calls *found*
 * with it while the object cannot be unloaded. Any thread; takes the loader's lock, so the caller
 * must hold none of our locks. Cost: tens of microseconds. */
void vs_cfi_find(uint64_t pc, void (*found)(uint64_t pc, const struct vs_frame_rule *rule));

/* vs_cfi_entry: the rule for *target* from the .eh_frame entry at *at*. */
struct vs_frame_rule vs_cfi_entry(const uint8_t *at, uint64_t target);

#endif
