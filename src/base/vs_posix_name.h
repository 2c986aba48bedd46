/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of error and signal numbers that came from a file: any number may stand there.
 * Thread-safe; nothing is allocated (glibc's strerror keeps a text for each thread). */
#ifndef VS_POSIX_NAME_H
#define VS_POSIX_NAME_H

#include <stdint.h>

/* vs_errno_text: "No space left on device" for 28, always in English; NULL for 0 and for what is
 * no error number. */
const char *vs_errno_text(uint64_t number);

/* vs_signal_name: "SEGV" for 11; NULL for what is no signal with a name. */
const char *vs_signal_name(uint64_t number);

#endif
