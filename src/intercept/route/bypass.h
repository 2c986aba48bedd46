/* SPDX-License-Identifier: Apache-2.0
 *
 * What reaches CUDA past this library, and so is missing from the trace. */
#ifndef VS_BYPASS_H
#define VS_BYPASS_H

/* vs_bypass_report: say, once in a process, which loaded objects were bound past us
 * (RTLD_DEEPBIND), and whether CUDA was loaded into a namespace of its own (dlmopen).
 * Call at the process's end, while the trace still takes notes. Cost: microseconds where
 * CUDA is not loaded; else a look at each object's undefined symbols. */
void vs_bypass_report(void);

#endif
