/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of train_lm. */
#ifndef LM_OPTIONS_H
#define LM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lm_optimizer { LM_ADAM, LM_SGD };

struct lm_options {
    long steps, batch, context, layers, width, heads, accumulate, sample;
    int type; /* enum lm_type of the activations and the working weights */
    bool checkpoint, selfcheck, gradcheck;
    size_t leak_bytes;        /* per step; 0: none */
    bool spike;               /* one large temporary in the middle of the run */
    size_t spike_bytes;       /* 0: as large as the logits of the whole text */
    enum lm_optimizer optimizer;
    double rate;              /* learning rate */
    uint64_t seed;
    const char *data;         /* NULL: the bundled text */
};

/* Fills *options* from the command line. Prints the help and exits with 0 for
 * --help; prints one line on stderr and exits with 2 for invalid options. */
void lm_options_parse(struct lm_options *options, int argc, char **argv);

#endif
