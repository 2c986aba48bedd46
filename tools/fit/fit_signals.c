/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupts of `vramscope fit`: the running program receives them, then the temporary files are
 * removed, and the command ends by the same signal. What the terminal sends reaches the program
 * directly; a second interrupt asks it to terminate. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "tools/fit/fit_internal.h"

static volatile sig_atomic_t program, interrupted;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    bool typed = number == SIGINT && info->si_code != SI_USER && info->si_code != SI_QUEUE;
    bool again = interrupted != 0;
    interrupted = number;
    if (program > 0 && (!typed || again))
        kill((pid_t)program, again ? SIGTERM : number);
}

void vs_fit_signals_begin(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, found;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sigaction(numbers[i], NULL, &found) && found.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

void vs_fit_signals_to(int pid)
{
    program = pid;
    if (pid && interrupted) /* it came before the program was known */
        kill(pid, (int)interrupted);
}

int vs_fit_interrupted(void)
{
    return (int)interrupted;
}

void vs_fit_signals_leave(void)
{
    signal((int)interrupted, SIG_DFL);
    raise((int)interrupted);
}
