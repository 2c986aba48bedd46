/* SPDX-License-Identifier: Apache-2.0 */
#include "base/steps/vs_step_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const step_words[] = {
    "profilerstep", "training_iteration", "training iteration", "training_step", "training step",
    "train_iteration", "train iteration", "train_step", "train step", "trainstep", "global_step",
    "global step", "iteration", "minibatch", "batch", "iter", "step",
};

bool vs_step_name_parse(const char *name, struct vs_step_name *out)
{
    size_t stem = 0;
    for (size_t i = 0; i < sizeof step_words / sizeof *step_words && !stem; i++) {
        size_t n = strlen(step_words[i]);
        if (strncasecmp(name, step_words[i], n) == 0)
            stem = n;
    }
    if (!stem)
        return false;
    const char *p = name + stem;
    if (!*p) {
        *out = (struct vs_step_name){.prefix_length = stem, .stem_length = stem};
        return true;
    }
    p += strspn(p, " _#:=-");
    if (!isdigit((unsigned char)*p))
        return false;
    uint64_t number = 0;
    const char *digits = p;
    for (; isdigit((unsigned char)*p) && p - digits < 18; p++)
        number = number * 10 + (uint64_t)(*p - '0');
    if (*p && *p != '/' && strncmp(p, " of ", 4) != 0)
        return false; /* "step 3 forward" is a part of a step, not a step */
    *out = (struct vs_step_name){.prefix_length = (size_t)(digits - name), .stem_length = stem,
                                 .numbered = true, .number = number};
    return true;
}
