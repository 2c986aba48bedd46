/* SPDX-License-Identifier: Apache-2.0
 *
 * The library that allocated memory: the innermost object on the stack that is not part of the path
 * to the driver, under its common name. Code linked statically into the program counts as the
 * program's. */
#ifndef VS_LIBRARY_H
#define VS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/reader.h"

#define VS_LIBRARY_NAME_MAX 128

/* vs_library_of_module: the name for an object's *path*, *exe* being the program's; NULL when it is
 * part of the path to the driver (the runtime, the C library, our own library). *name* may hold the
 * returned string. *framework*: PyTorch. */
const char *vs_library_of_module(const char *path, const char *exe, char name[VS_LIBRARY_NAME_MAX],
                                 bool *framework);

/* vs_library_of_stack: likewise for a stack; "unknown" where none was recorded or no frame is in a
 * known object. */
const char *vs_library_of_stack(const struct vs_reader *reader, uint64_t stack, const char *exe,
                                char name[VS_LIBRARY_NAME_MAX], bool *framework);

/* vs_library_is_allocator: whether the innermost object on *stack* that is not part of the path to
 * the driver is the one that contains PyTorch's caching allocator (libc10): the memory holds
 * tensors. */
bool vs_library_is_allocator(const struct vs_reader *reader, uint64_t stack);

/* vs_library_same_pool: whether the innermost functions outside of the path to the driver, four of them, are the
 * same on stacks *a* and *b*: the code that takes memory for an allocator of the program's own. */
bool vs_library_same_pool(const struct vs_reader *reader, uint64_t a, uint64_t b);

/* vs_library_same_caller: whether stacks *a* and *b* are the same outside of the path to the driver and
 * of PyTorch's caching allocator: two requests of one call, of which one was refused. */
bool vs_library_same_caller(const struct vs_reader *reader, uint64_t a, uint64_t b);

/* vs_library_installed: whether the object at *path* was installed rather than built by the user: a
 * known library, or one in a folder of the system or of Python. *name* (VS_PACKAGE_MAX bytes of
 * python_file.h) receives its common name or its file's, "" for the user's. */
bool vs_library_installed(const char *path, char *name);

/* vs_library_of_code: the library whose template or inline function *function* is, compiled into a
 * program: by its header *file* (a path of the debug information; NULL: unknown) in a folder of the
 * toolkit, of the compiler or of the system, or by its namespace: "C++ library", "Thrust". NULL for
 * other functions. */
const char *vs_library_of_code(const char *function, const char *file);

/* vs_library_add: the code that the prefixes in *list*, separated by ',', match is a library's in all
 * that is named from now on. A prefix is of a path, of a folder or file in it, of an object's file
 * name, or of a function with its namespace. Kept for the life of the process. Returns false when
 * there are too many. Call before names are looked up; one thread. */
bool vs_library_add(const char *list);

/* vs_library_named: whether a prefix of vs_library_add matches *path* or *function* (NULL: none).
 * *name* (VS_PACKAGE_MAX bytes) receives the library's name, the last part of the prefix. */
bool vs_library_named(const char *path, const char *function, char *name);

#endif
