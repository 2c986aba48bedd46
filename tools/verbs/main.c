/* SPDX-License-Identifier: Apache-2.0
 *
 * The `vramscope` command: one table of verbs, help, version, and a suggestion for a mistyped verb.
 * Everything else is in the verbs' own files. */
#include <stdlib.h>
#include <string.h>

#include "tools/common/command.h"
#include "tools/common/own_state.h"
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
          "Exit codes: 0 done; 1 a budget was exceeded (check), the program does not fit (fit) or\n"
          "nothing can be recorded (doctor); 2 unusable input, wrong usage or no answer. `run`\n"
          "exits with the program's status.\n", out);
}

/* Levenshtein distance, for names of at most 31 bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), row[32];
    if (la > 31 || lb > 31)
        return 32;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

static int unknown_verb(const char *name)
{
    const struct vs_command *nearest = NULL;
    size_t least = 3; /* larger distances are not suggested */
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        size_t d = distance(name, commands[i]->name);
        if (d < least && 2 * d <= strlen(name)) {
            least = d;
            nearest = commands[i];
        }
    }
    if (nearest)
        return vs_tool_fail("vramscope", "unknown verb '%s'; did you mean '%s'?", name,
                            nearest->name);
    return vs_tool_usage("vramscope", "unknown verb '%s'", name);
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
    if (!command)
        return unknown_verb(help ? argv[2] : word);
    if (help || (argc > 2 && is_help(argv[2]))) {
        fputs(command->usage, stdout);
        return vs_tool_finish("vramscope", stdout, VS_EXIT_OK);
    }
    char who[64];
    snprintf(who, sizeof who, "vramscope %s", command->name);
    argv[1] = who;
    vs_symbol_tool_environment();
    return command->main(argc - 1, argv + 1);
}
