/* SPDX-License-Identifier: Apache-2.0
 *
 * The `vramscope` command: one table of verbs, help, version, and a suggestion for a mistyped verb.
 * Everything else is in the verbs' own files. */
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/common/report_names.h"
#include "tools/common/symbol_tool.h"

#ifndef VS_VERSION
#error "the build defines VS_VERSION"
#endif

static const struct vs_command *const commands[] = {
#define VS_VERB(name) &vs_cmd_##name,
#include "tools/common/verb_table.h"
#undef VS_VERB
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static const struct vs_command *find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void print_help(FILE *out)
{
    fputs("usage: vramscope VERB [ARGUMENTS]\n"
          "\n"
          "Shows where every byte of GPU memory went, in any CUDA program.\n"
          "\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "  vramscope VERB --help    the options of a verb\n"
          "  vramscope --version\n"
          "\n"
          "Exit codes: 0 done; 1 a budget was exceeded (check), the program does not fit\n"
          "(fit, advise) or nothing can be recorded (doctor); 2 unreadable input, wrong\n"
          "usage or no answer. `run` exits with the program's status.\n", out);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv)
{
    vs_own_state_begin();
    if (argc < 2) {
        print_help(stderr);
        return VS_EXIT_UNUSABLE;
    }
    const char *word = argv[1];
    if (is_help(word) || (strcmp(word, "help") == 0 && argc == 2)) {
        print_help(stdout);
        return vs_tool_finish("vramscope", stdout, VS_EXIT_OK);
    }
    if (strcmp(word, "--version") == 0) {
        puts("vramscope " VS_VERSION);
        return vs_tool_finish("vramscope", stdout, VS_EXIT_OK);
    }
    bool help = strcmp(word, "help") == 0;
    const struct vs_command *command = find(help ? argv[2] : word);
    if (!command) {
        const char *name = help ? argv[2] : word;
        const char *names[COMMAND_COUNT];
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            names[i] = commands[i]->name;
        size_t meant = vs_name_meant(name, names, COMMAND_COUNT);
        if (meant < COMMAND_COUNT)
            return vs_tool_fail("vramscope", "unknown verb '%s'; did you mean '%s'?", name,
                                names[meant]);
        return vs_tool_usage("vramscope", "unknown verb '%s'", name);
    }
    if (help || (argc > 2 && is_help(argv[2]))) {
        fputs(command->usage, stdout);
        return vs_tool_finish("vramscope", stdout, VS_EXIT_OK);
    }
    char who[64];
    snprintf(who, sizeof who, "vramscope %s", command->name);
    argv[1] = who;
    vs_xalloc_begin(who, VS_EXIT_UNUSABLE);
    vs_symbol_tool_environment();
    argc--, argv++;
    if (command->symbols && !vs_symbol_tool_flags(&argc, argv))
        return VS_EXIT_UNUSABLE;
    return command->main(argc, argv);
}
