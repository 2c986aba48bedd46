/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries that are loaded at run time: their names, and the reason why dlopen failed: the library
 * is not installed, or another problem, which installing would not solve. */
#ifndef VS_LIBRARY_H
#define VS_LIBRARY_H

/* The names of the libraries that libvramscope.so loads itself. In a package that brings them they
 * have names of their own: the program may use others of the usual names, older or newer. */
#ifdef VS_BUNDLED
#define VS_LIBUNWIND "libvramscope-unwind.so.8"
#define VS_LIBZSTD "libvramscope-zstd.so.1"
#else
#define VS_LIBUNWIND "libunwind.so.8"
#define VS_LIBZSTD "libzstd.so.1"
#endif

/* vs_library_trouble: to be called right after a failed dlopen: the loader's message, or NULL if
 * the file does not exist. Valid until this thread's next dlerror. */
const char *vs_library_trouble(void);

#endif
