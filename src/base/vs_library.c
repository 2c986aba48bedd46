/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The loader ends its sentence with the system's words for the error, in
 * the language that strerror has too. */
#include "base/vs_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

const char *vs_library_trouble(void)
{
    const char *words = dlerror();
    return words && !strstr(words, strerror(ENOENT)) ? words : NULL;
}
