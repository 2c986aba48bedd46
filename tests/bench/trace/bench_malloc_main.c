/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_malloc PAIRS: the loop of bench_malloc.c; ns a pair on standard output, the median
 * of five rounds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../bench.h"

double bench_malloc_loop(uint64_t pairs);

int main(int argc, char **argv)
{
    double rounds[5];
    uint64_t pairs = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    for (int i = 0; i < 5; i++)
        rounds[i] = bench_malloc_loop(pairs / 5);
    printf("%.1f\n", bench_median(rounds, 5));
    return 0;
}
