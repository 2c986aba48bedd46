/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the time of a program from start to end, alone and with a library preloaded, in
 * alternation: prints the medians and minimum of each, and the median of the differences of
 * adjacent runs, in microseconds. Usage: bench_start COUNT LIBRARY PROGRAM [ARGUMENTS] */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../bench.h"

extern char **environ;

static double run(char **argv, char **env)
{
    pid_t pid;
    int status;
    double start = bench_ns(CLOCK_MONOTONIC);
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, env) || waitpid(pid, &status, 0) != pid ||
        !WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "%s did not end well\n", argv[0]);
        exit(1);
    }
    return (bench_ns(CLOCK_MONOTONIC) - start) / 1e3;
}

int main(int argc, char **argv)
{
    size_t count = argc > 3 ? strtoull(argv[1], NULL, 10) : 0, variables = 0;
    if (!count)
        return 2;
    while (environ[variables])
        variables++;
    char preload[4096 + 16], **with = calloc(variables + 2, sizeof *with);
    double *times[3];
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[2]);
    with[0] = preload;
    memcpy(with + 1, environ, variables * sizeof *with);
    for (int i = 0; i < 3; i++)
        times[i] = calloc(count, sizeof **times);
    for (size_t i = 0; i < count; i++) {
        times[0][i] = run(argv + 3, environ);
        times[1][i] = run(argv + 3, with);
        times[2][i] = times[1][i] - times[0][i];
    }
    double medians[3];
    for (int i = 0; i < 3; i++)
        medians[i] = bench_median(times[i], count);
    printf("alone %.0f (best %.0f), preloaded %.0f (best %.0f), difference %.0f us\n",
           medians[0], times[0][0], medians[1], times[1][0], medians[2]);
    return medians[2] > 1000; /* the target */
}
