/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that the result of a run is known to depend on: its command with folder and environment, the files
 * that it names, the Python files beside them, the installed packages of its Python, the GPU, the changes and this
 * vramscope. Files count by their time and size. What a program imports from elsewhere, or reads, is not known:
 * the manual says so, and --no-cache runs everything again. */
#define _GNU_SOURCE
#include <fts.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_output_file.h"
#include "base/vs_text.h"
#include "tools/advise/advise_internal.h"
#include "tools/common/paths.h"
#include "tools/run/reach.h"

#define TREE_MAX 4000 /* files of a folder that are looked at */
#define KEPT_SECONDS (14 * 86400)

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A file, or the Python files of a folder. */
static void put_files(FILE *out, const char *path)
{
    FTS *tree = fts_open((char *const[]){(char *)(uintptr_t)path, NULL}, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR |
                         FTS_XDEV, by_name);
    FTSENT *entry;
    for (int files = 0; tree && files < TREE_MAX && (entry = fts_read(tree));) {
        const char *name = entry->fts_name;
        if (entry->fts_info == FTS_D && entry->fts_level &&
            (*name == '.' || strcmp(name, "__pycache__") == 0 || strcmp(name, "site-packages") == 0))
            fts_set(tree, entry, FTS_SKIP);
        files += entry->fts_info == FTS_F;
        if (entry->fts_info == FTS_F && (!entry->fts_level || vs_text_ends(name, ".py")))
            fprintf(out, "file %s %lld.%09ld %lld\n", entry->fts_path, (long long)entry->fts_statp->st_mtim.tv_sec,
                    entry->fts_statp->st_mtim.tv_nsec, (long long)entry->fts_statp->st_size);
    }
    if (tree)
        fts_close(tree);
}

/* The program's file, and when packages of a Python beside it were last installed. */
static void put_program(FILE *out, const char *name)
{
    char file[2 * PATH_MAX];
    vs_reach_find(name, file, sizeof file - 64);
    put_files(out, file);
    char *slash = strrchr(file, '/');
    if (!slash)
        return;
    glob_t found;
    strcpy(slash, "/../lib*/python3*/*-packages");
    for (size_t i = 0; !glob(file, 0, NULL, &found) && i < found.gl_pathc; i++) {
        struct stat st;
        if (!stat(found.gl_pathv[i], &st))
            fprintf(out, "packages %s %lld.%09ld\n", found.gl_pathv[i], (long long)st.st_mtim.tv_sec,
                    st.st_mtim.tv_nsec);
    }
    globfree(&found);
}

/* A sum, because their order is any; not the texts, because some are secrets. Those of the terminal and of the
 * session do not count; anything else may matter to the program. */
static uint64_t hash_environment(void)
{
    static const char *const left_out[] = {"_=", "SHLVL=", "PWD=", "OLDPWD=", "COLUMNS=", "LINES=", "TERM",
                                           "SSH_", "DBUS_", "WINDOWID=", "VTE_", "TMUX", "STY=", "XDG_",
                                           "LS_COLORS=", "PS1="};
    uint64_t hash = 0;
    for (char **variable = environ; *variable; variable++) {
        size_t i = 0;
        while (i < sizeof left_out / sizeof *left_out && !vs_text_begins(*variable, left_out[i]))
            i++;
        if (i == sizeof left_out / sizeof *left_out)
            hash += vs_text_hash(VS_TEXT_HASH_START, *variable);
    }
    return hash;
}

const char *vs_run_key(const struct vs_trials *trials, const struct vs_fit_run *run, const char *changes,
                       const char *conf)
{
    const struct vs_fit_job *job = &trials->job->fit;
    char *text, path[PATH_MAX] = "";
    size_t bytes;
    FILE *out = vs_xstream(&text, &bytes);
    fprintf(out, "vramscope %s\ngpu %s\nchanges %s\nsettings %s\nsteps %llu\nfolder %s\nenvironment %016llx\n",
            VS_VERSION, run->gpu, changes, conf, job->steps, getcwd(path, sizeof path) ? path : "",
            (unsigned long long)hash_environment());
    put_files(out, "/proc/self/exe");
    if (!vs_path_python_startup(path, sizeof path))
        put_files(out, strcat(path, "/.."));
    for (char **flag = job->run_flags; flag && *flag; flag++)
        fprintf(out, "flag %s\n", *flag);
    bool script = false;
    char **command = vs_fit_command(job, run->value);
    for (size_t i = 0; command[i]; i++) {
        const char *word = command[i], *equals = strchr(word, '=');
        struct stat st;
        fprintf(out, "word %s\n", word);
        for (const char *file = word; file; file = file == word && equals ? equals + 1 : NULL)
            if (!stat(file, &st) && S_ISREG(st.st_mode))
                put_files(out, file);
        if (i && vs_text_ends(word, ".py") && !access(word, R_OK)) {
            snprintf(path, sizeof path, "%.*s", (int)(vs_text_base_name(word) - word), word);
            put_files(out, *path ? path : ".");
            script = true;
        }
        free(command[i]);
    }
    free(command);
    put_program(out, job->program[0]);
    if (!script)
        put_files(out, ".");
    vs_xstream_end(out);
    const char *key = vs_xarena_text(trials->memory, text);
    free(text);
    return key;
}

int vs_run_cache(struct vs_fit_job *job, bool *temporary)
{
    char folder[PATH_MAX];
    *temporary = !vs_folder_cache("advise", folder, sizeof folder);
    job->keep = *temporary ? NULL : folder;
    int status = vs_fit_folder_make(job);
    job->keep = NULL;
    DIR *dir = status || *temporary ? NULL : opendir(job->folder);
    for (struct dirent *entry; (entry = vs_tool_entry(&dir));) {
        struct stat st;
        char path[PATH_MAX + 512];
        snprintf(path, sizeof path, "%s/%s", job->folder, entry->d_name);
        if (strspn(entry->d_name, "0123456789abcdef") == 16 && !stat(path, &st) && time(NULL) - st.st_mtime > KEPT_SECONDS)
            vs_fit_folder_clear(path);
    }
    return status;
}
