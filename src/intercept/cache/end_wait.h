/* SPDX-License-Identifier: Apache-2.0
 *
 * The wait for the device at the end of the program. cudaFree waits for the device; a free into the cache does
 * not. A program whose last call is cudaFree would therefore end while kernels and copies still run, and
 * CUPTI would deliver no records of them. */
#ifndef VS_END_WAIT_H
#define VS_END_WAIT_H

/* vs_end_wait: where kernels and copies are recorded, waits for the devices on which memory was freed into a
 * cache without a later synchronisation, at most 5 s: work that the program started after its last cudaFree
 * may never end. If it was not possible to wait until the end, the trace has a note. A second caller does not
 * wait. Does nothing during a capture. No thread is started, and no lock of an allocator is waited for
 * longer than 0.1 s: another thread may hold it in a call that never returns. */
void vs_end_wait(void);

#endif
