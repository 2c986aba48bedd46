/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports objects whose CUDA calls bypass this library, and so are missing from the trace. */
#ifndef VS_BYPASS_H
#define VS_BYPASS_H

/* vs_bypass_report: reports, once per process, loaded objects that were bound past us
 * (RTLD_DEEPBIND), and whether CUDA was loaded into a namespace of its own (dlmopen). Called at the
 * end of the process, while the trace accepts notes. Cost: microseconds if CUDA is not loaded;
 * otherwise it reads each object's undefined symbols. */
void vs_bypass_report(void);

#endif
