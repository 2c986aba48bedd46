/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a library that is loaded at run time was not: absent, which a user mends by
 * installing it, or something else that installing would not change. */
#ifndef VS_LIBRARY_H
#define VS_LIBRARY_H

/* vs_library_trouble: right after a dlopen that failed: the loader's words, or NULL where
 * the file is just not there. Valid until this thread's next dlerror. */
const char *vs_library_trouble(void);

#endif
