/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strerrordesc_np, sigabbrev_np */
#include "base/vs_posix_name.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

const char *vs_errno_text(uint64_t number)
{
    return number && number <= INT_MAX ? strerrordesc_np((int)number) : NULL;
}

const char *vs_signal_name(uint64_t number)
{
    return number <= INT_MAX ? sigabbrev_np((int)number) : NULL;
}
