/* SPDX-License-Identifier: Apache-2.0
 *
 * The events of a test's program as a few lines of text:
 *
 *     vs_trace(&b, "at site_leak; alloc 100 20M; step 1; fail 40M free 12M");
 *
 * Statements are separated by `;` or a new line. A word that is not known, or one too many, fails the
 * test with the statement. The format is printf's, for figures that the test computes.
 *
 *     device SIZE NAME            the device, 0 unless `gpu` said another
 *     gpu N                       the device of what follows
 *     context N [ends]            of the device; N is 1 + the device in allocations
 *     at FRAME [< FRAME ...]      call stack of the memory events that follow, the innermost first:
 *                                 FUNCTION [LINE] of the program, FUNCTION PATH[:LINE] in Python,
 *                                 @/PATH for native code of that object, @NAME for the function NAME
 *                                 of a library; without frames: unknown
 *     by API                      what the program calls for the allocations that follow
 *     thread N                    of the events that follow: N after the main thread
 *     step N | push NAME | pop    ranges
 *     mark TEXT | option NAME VALUE
 *     alloc AT SIZE [FAMILY] [as SIZE]   FAMILY: device (else said), async, managed, pinned, vmm, …;
 *                                 `as`: what the allocation takes
 *     free AT
 *     fail SIZE [FAMILY] [free SIZE] [by API] [error N]   an allocation that is refused; `free`: what
 *                                 the device had free, of all its memory; unknown without it
 *     refused context|module|limit|launch CONTEXT [free SIZE]    memory that is no allocation
 *     segment AT SIZE [stream N] [pool N] | unsegment AT SIZE    of our cache
 *     grow AT SIZE | shrink AT SIZE      a segment of our cache that is mapped in parts
 *     tensor AT SIZE [stream N] [of SIZE SIZE]   a block of PyTorch, at the current call site; `of`:
 *                                 what it has allocated and reserved then
 *     drop AT
 *     run forward|backward|recomputed|none [PATH]   the module of PyTorch that the thread runs from here on
 *     own AT parameter|gradient|state|renamed NAME  the name of a tensor in a block of PyTorch
 *     raise SIZE                  PyTorch's OutOfMemoryError
 *     map AT SIZE N | unmap AT    memory N (allocated at memory:N) is mapped
 *     kernel STREAM START LENGTH NAME    in ns, since the start of the process
 *     copy STREAM htod|dtoh SIZE START LENGTH [pageable|pinned]
 *     call                        of the next kernel or copy, at the current call site
 *     switch [on]                 kernels and copies are recorded from here on; without `on` no longer
 *     wait KIND START LENGTH      for the device, at the current call site; KIND: of enum vs_wait
 *     sample SIZE                 what the device has free
 *     usage own|others|process|pools SIZE [count N] [pid N] [HOW]   what the driver or NVML reports
 *     overhead context|module|limit CONTEXT [less] SIZE [measured|reported|at_most]
 *     graphs SIZE [used SIZE]     what the driver holds for graphs
 *     repeat N { … }              the statements N times; `i` counts from 0
 *
 * SIZE: as vs_size_parse reads it (20M, 4G, 512), bytes less than that (20M-100),
 * or MiB that depend on i (2i+11M). AT: an address: a sum of numbers and of multiples of i
 * (5, 20i, 20i+5), each a MiB, from VS_TRACE_ADDRESS on; memory:N stands for physical memory. N may be
 * such a sum too. */
#ifndef VS_TRACE_TEXT_H
#define VS_TRACE_TEXT_H

#include "support/trace_builder.h"

#define VS_TRACE_ADDRESS UINT64_C(0x7f0000000000)
#define A(n) (VS_TRACE_ADDRESS + (uint64_t)(n) * MIB) /* an address of a trace's text */

/* vs_trace: adds the events of *format*. */
void vs_trace(struct vs_builder *builder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* vs_trace_site: the stack of *function*, called at *line* of the program; for the events that no
 * statement writes. */
uint64_t vs_trace_site(struct vs_builder *builder, const char *function, unsigned line);

#endif
