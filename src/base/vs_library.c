/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The loader's message ends with strerror's text, in the same language. */
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
