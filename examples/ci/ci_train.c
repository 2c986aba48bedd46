/* SPDX-License-Identifier: Apache-2.0 */
#include "ci_trainer.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 20;
    int status = trainer_open(8);
    for (int i = 0; !status && i < steps; i++)
        status = trainer_step();
    trainer_close();
    if (status) {
        fprintf(stderr, "train: CUDA error %d%s\n", status, status < 0    ? ": there is no CUDA driver"
                                                          : status == 2 ? ": out of memory" : "");
        return 1;
    }
    printf("%d steps\n", steps);
    return 0;
}
