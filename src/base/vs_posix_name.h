/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of error and signal numbers read from a file, which may contain any number. Thread-safe;
 * nothing is allocated (glibc's strerror keeps a text for each thread). */
#ifndef VS_POSIX_NAME_H
#define VS_POSIX_NAME_H

#include <stdint.h>

/* vs_errno_text: "No space left on device" for 28, always in English; NULL for 0 and for other
 * numbers that are not errors. */
const char *vs_errno_text(uint64_t number);

/* vs_signal_name: "SEGV" for 11; NULL for a number that is not a named signal. */
const char *vs_signal_name(uint64_t number);

#endif
