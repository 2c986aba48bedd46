/* SPDX-License-Identifier: Apache-2.0
 *
 * Files count by their time and size. What a program imports from elsewhere, or reads, is not known: the
 * manual says so, and --no-cache runs everything again. */
#define _GNU_SOURCE
#include "tools/advise/run_key.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_option.h"
#include "base/vs_text.h"
#include "tools/common/command.h"
#include "tools/common/paths.h"

#define TREE_MAX 4000 /* files of a folder that are looked at */
#define KEPT_SECONDS (14 * 86400)

static uint64_t tree_hash;
static size_t tree_files;

static uint64_t hash_file(const char *path, const struct stat *st)
{
    uint64_t facts[] = {(uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_size};
    return vs_text_hash_bytes(vs_text_hash(VS_TEXT_HASH_START, path), facts, sizeof facts);
}

/* A sum, for the order of files is any. */
static int visit(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    const char *name = path + at->base;
    if (kind == FTW_D && at->level && (*name == '.' || strcmp(name, "__pycache__") == 0 ||
                                       strcmp(name, "site-packages") == 0))
        return FTW_SKIP_SUBTREE;
    if (kind == FTW_F && vs_text_ends(name, ".py"))
        tree_hash += hash_file(path, st);
    return kind == FTW_F && ++tree_files > TREE_MAX ? FTW_STOP : FTW_CONTINUE;
}

static void put_tree(FILE *out, const char *folder)
{
    tree_hash = tree_files = 0;
    nftw(folder, visit, 16, FTW_PHYS | FTW_ACTIONRETVAL | FTW_MOUNT);
    fprintf(out, "tree %s %016llx\n", folder, (unsigned long long)tree_hash);
}

static void put_file(FILE *out, const char *path)
{
    struct stat st;
    if (!stat(path, &st) && S_ISREG(st.st_mode))
        fprintf(out, "file %s %016llx\n", path, (unsigned long long)hash_file(path, &st));
}

/* The program's file, and the packages of a Python beside it. */
static void put_program(FILE *out, const char *name)
{
    const char *path = vs_environment("PATH");
    char file[2 * PATH_MAX];
    snprintf(file, sizeof file, "%s", name);
    while (!strchr(name, '/') && path && *path) {
        size_t length = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
        if (!access(file, X_OK))
            break;
        path += length + (path[length] == ':');
    }
    put_file(out, file);
    char *slash = strrchr(file, '/');
    if (!slash)
        return;
    glob_t found;
    snprintf(slash, (size_t)(file + sizeof file - slash), "/../lib*/python3*/*-packages");
    for (size_t i = 0; !glob(file, 0, NULL, &found) && i < found.gl_pathc; i++) {
        struct stat st;
        if (!stat(found.gl_pathv[i], &st))
            fprintf(out, "packages %s %016llx\n", found.gl_pathv[i],
                    (unsigned long long)hash_file(found.gl_pathv[i], &st));
    }
    globfree(&found);
}

/* Of the terminal and of the session; anything else may matter to the program. */
static bool is_of_session(const char *variable)
{
    static const char *const names[] = {"_=", "SHLVL=", "PWD=", "OLDPWD=", "COLUMNS=", "LINES=", "TERM",
                                        "SSH_", "DBUS_", "WINDOWID=", "VTE_", "TMUX", "STY=", "XDG_",
                                        "LS_COLORS=", "PS1="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vs_text_begins(variable, names[i]))
            return true;
    return false;
}

/* A sum, because their order is any; not the texts, because some are secrets. */
static uint64_t hash_environment(void)
{
    uint64_t hash = 0;
    for (char **variable = environ; *variable; variable++)
        if (!is_of_session(*variable))
            hash += vs_text_hash(VS_TEXT_HASH_START, *variable);
    return hash;
}

char *vs_run_key(const struct vs_fit_job *job, const struct vs_fit_run *run, const char *changes,
                 const char *conf)
{
    char *text, path[PATH_MAX];
    size_t bytes;
    FILE *out = vs_xstream(&text, &bytes);
    char **command = vs_fit_command(job, run->value);
    fprintf(out, "vramscope %s\ngpu %s\nchanges %s\nsettings %s\nsteps %llu\n", VS_VERSION, run->gpu, changes,
            conf ? conf : "", job->steps);
    put_file(out, "/proc/self/exe");
    if (!vs_path_python_startup(path, sizeof path))
        put_tree(out, strcat(path, "/.."));
    for (char **flag = job->run_flags; flag && *flag; flag++)
        fprintf(out, "flag %s\n", *flag);
    bool script = false;
    for (size_t i = 0; command[i]; i++) {
        const char *word = command[i], *equals = strchr(word, '=');
        fprintf(out, "word %s\n", word);
        put_file(out, word);
        if (equals)
            put_file(out, equals + 1);
        if (i && vs_text_ends(word, ".py") && !access(word, R_OK)) {
            snprintf(path, sizeof path, "%.*s", (int)(vs_text_base_name(word) - word), word);
            put_tree(out, *path ? path : ".");
            script = true;
        }
        free(command[i]);
    }
    free(command);
    put_program(out, job->program[0]);
    if (!script)
        put_tree(out, ".");
    fprintf(out, "folder %s\n", getcwd(path, sizeof path) ? path : "");
    fprintf(out, "environment %016llx\n", (unsigned long long)hash_environment());
    vs_xstream_end(out);
    return text;
}

int vs_run_cache(struct vs_fit_job *job, bool *temporary)
{
    const char *home = vs_environment("XDG_CACHE_HOME"), *below = "";
    if (!home || *home != '/') {
        home = vs_environment("HOME");
        below = "/.cache";
    }
    *temporary = !home || *home != '/';
    if (*temporary)
        return vs_fit_folder_make(job);
    char *folder = vs_xprintf("%s%s/vramscope/advise", home, below);
    job->keep = folder;
    int status = vs_fit_folder_make(job);
    job->keep = NULL;
    free(folder);
    DIR *dir = status ? NULL : opendir(job->folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        struct stat st;
        char path[PATH_MAX + 512];
        snprintf(path, sizeof path, "%s/%s", job->folder, entry->d_name);
        if (strspn(entry->d_name, "0123456789abcdef") == 16 && !stat(path, &st) && time(NULL) - st.st_mtime > KEPT_SECONDS)
            vs_fit_folder_clear(path);
    }
    if (dir)
        closedir(dir);
    return status;
}
