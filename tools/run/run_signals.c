/* SPDX-License-Identifier: Apache-2.0
 *
 * The terminal sends ^C, ^\\ and ^Z to the whole group, the program included; a
 * signal from another process reaches this command alone and is forwarded. A stop signal is
 * forwarded and then applied to this command too, so that its parent sees it stopped. */
#include "tools/run/run_internal.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/vs_output_file.h"

/* --- before the program --- */

static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
#define INTERRUPTS (sizeof interrupts / sizeof *interrupts)
static const char *volatile manifest_path;

static void handle_interrupts(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, found;
    for (size_t i = 0; i < INTERRUPTS; i++)
        sigaddset(&action.sa_mask, interrupts[i]);
    for (size_t i = 0; i < INTERRUPTS; i++) {
        if (!sigaction(interrupts[i], NULL, &found) && found.sa_handler != SIG_IGN)
            sigaction(interrupts[i], &action, NULL);
    }
}

static void give_up(int number)
{
    vs_run_manifest_remove(manifest_path);
    raise(number); /* by now the default: it ends this process when this handler returns */
}

void vs_run_signals_prepare(const char *manifest)
{
    manifest_path = manifest;
    handle_interrupts(give_up, (int)SA_RESETHAND);
}

void vs_run_signals_child(void)
{
    handle_interrupts(SIG_DFL, 0);
}

/* --- while it runs --- */

static volatile sig_atomic_t program;

static const struct {
    int number;
    bool typed; /* the terminal may have sent it to the program as well */
} passed_on[] = {
    {SIGINT, true},   {SIGQUIT, true},  {SIGTSTP, true},  {SIGCONT, true},
    {SIGTERM, false}, {SIGHUP, false},  {SIGUSR1, false}, {SIGUSR2, false},
};
#define PASSED_ON (sizeof passed_on / sizeof *passed_on)
static struct sigaction before[PASSED_ON];

static void pass_on(int number)
{
    if (program > 0)
        kill((pid_t)program, number);
}

static void pass_on_unless_typed(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == SI_USER || info->si_code == SI_QUEUE)
        pass_on(number);
    if (number == SIGTSTP)
        raise(SIGSTOP);
}

void vs_run_signals_to(pid_t pid)
{
    program = pid;
    for (size_t i = 0; i < PASSED_ON; i++) {
        struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
        if (passed_on[i].typed) {
            action.sa_sigaction = pass_on_unless_typed;
            action.sa_flags |= SA_SIGINFO;
        }
        if (!sigaction(passed_on[i].number, NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
            sigaction(passed_on[i].number, &action, NULL);
    }
}

void vs_run_signals_end(void)
{
    program = 0;
    for (size_t i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i].number, &before[i], NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* --- the summary --- */

static volatile sig_atomic_t exit_code;

static void leave(int number)
{
    (void)number;
    vs_replacement_discard();
    vs_run_manifest_remove(manifest_path);
    _exit(exit_code);
}

void vs_run_signals_summary(int code, const char *manifest)
{
    exit_code = code;
    manifest_path = manifest;
    handle_interrupts(leave, 0);
}
