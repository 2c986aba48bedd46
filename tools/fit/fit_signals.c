/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupts of `vramscope fit`: the running programs receive them, then the temporary files are
 * removed, and the command ends by the same signal. What the terminal sends reaches the programs
 * directly; a second interrupt asks them to terminate. */
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "tools/fit/fit_internal.h"

static volatile sig_atomic_t programs[VS_FIT_GPUS_MAX], interrupted;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    bool typed = number == SIGINT && info->si_code != SI_USER && info->si_code != SI_QUEUE;
    bool again = interrupted != 0;
    interrupted = number;
    for (size_t i = 0; i < VS_FIT_GPUS_MAX; i++)
        if (programs[i] > 0 && (!typed || again))
            kill((pid_t)programs[i], again ? SIGTERM : number);
}

void vs_fit_signals_begin(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, found;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sigaction(numbers[i], NULL, &found) && found.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

void vs_fit_signals_to(size_t slot, int pid)
{
    programs[slot] = pid;
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
