/* SPDX-License-Identifier: Apache-2.0
 *
 * The reason why dlopen failed: the library is not installed, or another problem, which installing
 * would not solve. */
#ifndef VS_LIBRARY_H
#define VS_LIBRARY_H

/* vs_library_trouble: to be called right after a failed dlopen: the loader's message, or NULL if
 * the file does not exist. Valid until this thread's next dlerror. */
const char *vs_library_trouble(void);

#endif
