/* SPDX-License-Identifier: Apache-2.0
 *
 * The terminal, by ncurses: it writes only what changed, in one write for each screen. Signals are
 * handled while the loop waits (vs_terminal_wait), so that ncurses is never interrupted: an
 * interrupt ends the loop, a suspension restores the terminal and stops the process. Only a crash is
 * handled at once: the saved settings and the sequences that leave the screen are written by a
 * signal handler. */
#define _GNU_SOURCE
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>
#undef columns /* macros for capabilities of the terminal */
#undef lines

#include "base/vs_option.h"
#include "tools/top/top_command.h"

#define LEAVE_MAX 256
#define ESCAPE_MS 25 /* an escape alone is a key if nothing follows for so long */
#define CRASH_STACK_BYTES ((size_t)16 << 10)

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static volatile sig_atomic_t interrupted, suspended, resized;
static sigset_t handled, before;
static struct termios saved;
static char leave[LEAVE_MAX]; /* sequences that leave the screen */
static size_t leave_bytes;
static SCREEN *screen;
static struct vs_grid grid;
static char crash_stack[CRASH_STACK_BYTES];

/* --- signals --- */

static void on_signal(int number)
{
    if (number == SIGTSTP)
        suspended = 1;
    else if (number == SIGWINCH || number == SIGCONT)
        resized = 1;
    else
        interrupted = number;
}

static void on_crash(int number)
{
    (void)!write(STDOUT_FILENO, leave, leave_bytes);
    tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    signal(number, SIG_DFL);
    raise(number);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, found;
    if (!sigaction(number, NULL, &found) && found.sa_handler == SIG_IGN && handler == on_signal)
        return; /* as of nohup */
    sigaction(number, &action, NULL);
}

static void drop_signals(void)
{
    for (size_t i = 0; i < COUNT(crashes); i++)
        signal(crashes[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int vs_terminal_interrupted(void)
{
    return (int)interrupted;
}

/* --- the screen --- */

static void keep_sequence(const char *name)
{
    const char *text = tigetstr((char *)name);
    if (!text || text == (char *)-1 || strlen(text) + leave_bytes > LEAVE_MAX)
        return;
    memcpy(leave + leave_bytes, text, strlen(text));
    leave_bytes += strlen(text);
}

static void begin_colours(void)
{
    static const short colours[] = {[VS_GOOD] = COLOR_GREEN, [VS_BAD] = COLOR_RED,
                                    [VS_WARN] = COLOR_YELLOW};
    const char *none = vs_environment("NO_COLOR");
    if ((none && *none) || !has_colors() || start_color() == ERR)
        return;
    short back = use_default_colors() == ERR ? COLOR_BLACK : -1;
    for (short i = VS_GOOD; i <= VS_WARN; i++)
        init_pair(i, colours[i], back);
}

bool vs_terminal_open(char *why)
{
    const char *term = vs_environment("TERM");
    int unknown;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        snprintf(why, VS_READER_WHY_MAX, "the live view needs a terminal; to print the state: --once");
        return false;
    }
    setlocale(LC_CTYPE, "");
    if (!term || !*term || setupterm(term, STDOUT_FILENO, &unknown) != OK || !tigetstr("cup") ||
        tcgetattr(STDIN_FILENO, &saved)) {
        snprintf(why, VS_READER_WHY_MAX,
                 "the live view cannot be drawn on a terminal of type \"%.60s\" (TERM); to print the "
                 "state: --once", term ? term : "");
        return false;
    }
    keep_sequence("sgr0");
    keep_sequence("rmkx");
    keep_sequence("rmcup");
    keep_sequence("cnorm");
    static const int seen[] = {SIGTSTP, SIGCONT, SIGWINCH};
    stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};
    sigemptyset(&handled);
    for (size_t i = 0; i < COUNT(ending); i++)
        sigaddset(&handled, ending[i]);
    for (size_t i = 0; i < COUNT(seen); i++)
        sigaddset(&handled, seen[i]);
    sigprocmask(SIG_BLOCK, &handled, &before);
    for (size_t i = 0; i < COUNT(ending); i++)
        handle(ending[i], on_signal, 0);
    for (size_t i = 0; i < COUNT(seen); i++)
        handle(seen[i], on_signal, 0);
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < COUNT(crashes); i++)
        handle(crashes[i], on_crash, SA_ONSTACK | (int)SA_RESETHAND);
    screen = newterm(NULL, stdout, stdin);
    if (!screen) {
        drop_signals();
        snprintf(why, VS_READER_WHY_MAX, "ncurses cannot use this terminal; to print the state: --once");
        return false;
    }
    atexit(vs_terminal_close); /* also when memory is short */
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    begin_colours();
    grid.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    return true;
}

static attr_t attribute(const struct vs_grid_cell *cell)
{
    attr_t out = cell->reverse ? A_REVERSE : A_NORMAL;
    switch ((enum vs_paint)cell->paint) {
    case VS_BOLD: return out | A_BOLD;
    case VS_DIM: return out | A_DIM;
    case VS_BAD: return out | A_BOLD | (attr_t)COLOR_PAIR(VS_BAD);
    case VS_GOOD:
    case VS_WARN: return out | (attr_t)COLOR_PAIR(cell->paint);
    default: return out;
    }
}

void vs_terminal_draw(const struct vs_top_model *model)
{
    struct winsize size;
    if (resized && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
        resized = 0;
        resizeterm(size.ws_row, size.ws_col);
        clearok(stdscr, TRUE);
    }
    vs_grid_begin(&grid, (unsigned)LINES, (unsigned)COLS);
    vs_top_draw(model, &grid);
    for (unsigned row = 0; row < grid.rows; row++) {
        move((int)row, 0);
        for (unsigned column = 0; column < grid.columns; column++) {
            const struct vs_grid_cell *cell = vs_grid_at(&grid, row, column);
            attrset((int)attribute(cell));
            addstr(*cell->text ? cell->text : " ");
        }
    }
    refresh();
}

/* --- keys --- */

static enum vs_top_key key_of_character(int c)
{
    switch (c) {
    case KEY_UP: case KEY_BTAB: case 'k': return VS_KEY_UP;
    case KEY_DOWN: case '\t': case 'j': return VS_KEY_DOWN;
    case 's': return VS_KEY_SORT;
    case 'e': case '\r': case '\n': return VS_KEY_EXPAND;
    case 'g': return VS_KEY_GROWTH;
    case 'p': case ' ': return VS_KEY_PAUSE;
    case '?': case 'h': return VS_KEY_HELP;
    case 'q': case 'Q': return VS_KEY_QUIT;
    case ERR: return VS_KEY_NONE;
    default: return VS_KEY_OTHER;
    }
}

enum vs_top_key vs_terminal_wait(struct pollfd *fds, size_t count, int timeout_ms)
{
    struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
    enum vs_top_key key = key_of_character(getch()); /* one may be left from before */
    if (key != VS_KEY_NONE)
        return key;
    fds[count] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    int ready = ppoll(fds, count + 1, &timeout, &before);
    if (suspended) {
        /* The terminal is restored while the process is stopped. */
        struct sigaction handler, stop = {.sa_handler = SIG_DFL};
        sigset_t one;
        suspended = 0;
        endwin();
        sigaction(SIGTSTP, &stop, &handler);
        sigemptyset(&one);
        sigaddset(&one, SIGTSTP);
        raise(SIGTSTP);
        sigprocmask(SIG_UNBLOCK, &one, NULL); /* stops here */
        sigprocmask(SIG_BLOCK, &one, NULL);
        sigaction(SIGTSTP, &handler, NULL);
        resized = 1;
    }
    if (ready <= 0)
        return VS_KEY_NONE;
    if (fds[count].revents & (POLLHUP | POLLERR | POLLNVAL))
        return VS_KEY_QUIT;
    return fds[count].revents ? key_of_character(getch()) : VS_KEY_NONE;
}

void vs_terminal_close(void)
{
    if (!screen)
        return;
    endwin();
    delscreen(screen);
    screen = NULL;
    vs_grid_free(&grid);
    int number = (int)interrupted;
    if (number)
        signal(number, SIG_DFL);
    drop_signals();
    if (number)
        raise(number);
}
