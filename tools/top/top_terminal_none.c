/* SPDX-License-Identifier: Apache-2.0
 *
 * In place of top_terminal.c in builds without ncurses. */
#include <stdio.h>

#include "tools/top/top_command.h"

const char *vs_terminal_missing(void)
{
    return "this vramscope was built without ncurses; use --once, or install libncurses-dev "
           "(Debian) or ncurses-devel (Fedora) and build it again";
}

bool vs_terminal_open(char *why)
{
    snprintf(why, VS_READER_WHY_MAX, "%s", vs_terminal_missing());
    return false;
}

void vs_terminal_draw(const struct vs_top_model *model)
{
    (void)model;
}

enum vs_top_key vs_terminal_wait(struct pollfd *fds, size_t count, int timeout_ms)
{
    (void)fds;
    (void)count;
    (void)timeout_ms;
    return VS_KEY_QUIT;
}

int vs_terminal_interrupted(void)
{
    return 0;
}

void vs_terminal_close(void)
{
}
