/* SPDX-License-Identifier: Apache-2.0
 *
 * The C side of check_checkpoints.py: prints for every path on standard input a line "# PATH" and
 * the trace's checkpoints as text, or "!!" if it is not a trace. With an argument N, it first adds
 * checkpoints to the traces, one at every Nth event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/checkpoint/checkpoint_build.h"
#include "decoder/checkpoint_print.h"

static int put_trace(const char *path, uint64_t every)
{
    const struct vs_checkpoint_options options = {.interval = every, .share = 100000};
    struct vs_reader *reader = NULL;
    char why[VS_READER_WHY_MAX];
    printf("# %s\n", path);
    enum vs_err err = VS_OK;
    if (every) {
        err = vs_checkpoint_into_trace(path, &options, NULL, why);
        if (err)
            fprintf(stderr, "checkpoint_text: %s\n", why);
    }
    if (!err && vs_reader_open(path, &reader, why)) {
        printf("!!\n");
        return 0;
    }
    if (!err)
        err = vs_checkpoint_print(reader, stdout);
    vs_reader_close(reader);
    return err != VS_OK;
}

int main(int argc, char **argv)
{
    uint64_t every = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    char path[4096];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = '\0';
        if (put_trace(path, every))
            return 1;
    }
    return 0;
}
