/* SPDX-License-Identifier: Apache-2.0
 *
 * --ranks: single ranks of a job, each as a process that believes in the whole world. Rank 0 runs
 * first; from its groups the Python part (python/vramscope/ranks) knows which other ranks may differ,
 * and these follow. Small messages are files of a folder that all of them share: a rank that receives
 * from one that has not run asks for it there (wanted.RANK), and that one is started beside it, as the
 * stages of a pipeline ask each other for shapes; ended.RANK says that nothing more comes. The command of a
 * launcher stays as it is, but srun and mpirun, which would start the others: what they set is set here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading/vs_xalloc.h"
#include "tools/common/command.h"
#include "tools/fit/fit_internal.h"

#define VARIABLES_MAX 24

/* ---- the command ---- */

unsigned long long vs_fit_per_node(char *const *program)
{
    static const char *const names[] = {"--nproc-per-node", "--nproc_per_node", "--ntasks-per-node",
                                        "--num_gpus", "--npernode", "-npernode", "-ppn"};
    for (; *program; program++) {
        if (strcmp(*program, "-pernode") == 0 || strcmp(*program, "--pernode") == 0)
            return 1;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            size_t length = strlen(names[i]);
            if (strncmp(*program, names[i], length) != 0)
                continue;
            const char *value = (*program)[length] == '=' ? *program + length + 1 : program[1];
            unsigned long long count;
            if (value && vs_tool_count(value, 1, VS_FIT_RANKS_MAX, &count))
                return count;
        }
    }
    return 0;
}

/* Words between blanks: options without a value, and with two. */
static const struct {
    const char *names, *alone, *pairs;
} launchers[] = {
    [VS_FIT_SRUN] = {" srun ",
                     " label unbuffered exclusive overlap exact pty verbose quiet overcommit oversubscribe no-kill "
                     "preserve-env wait-all-nodes l u s v Q E O X Z k H ", " "},
    [VS_FIT_MPIRUN] = {" mpirun mpiexec orterun mpirun.openmpi mpiexec.openmpi mpirun.mpich mpiexec.hydra ",
                       " allow-run-as-root oversubscribe nooversubscribe use-hwthread-cpus tag-output "
                       "timestamp-output merge-stderr-to-stdout xml report-bindings report-child-jobs-separately "
                       "report-state-on-timeout get-stack-traces display-map display-devel-map "
                       "display-diffable-map display-topo display-allocation display-devel-allocation "
                       "output-proctable show-progress index-argv-by-rank preload-binary do-not-resolve "
                       "do-not-launch use-regexp set-cwd-to-session-dir leave-session-attached enable-recovery "
                       "disable-recovery continuous novm nolocal noprefix pernode bynode bycore byslot bysocket "
                       "bind-to-core bind-to-socket bind-to-none debug debug-devel debug-daemons "
                       "debug-daemons-file tv verbose quiet version genvall genvnone envall envnone prepend-rank "
                       "print-rank-map print-all-exitcodes enable-x disable-x d l q v V ",
                       " mca gmca genv env "},
};

static bool is_among(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; length && (at = strstr(at, word)); at++)
        if (at > words && at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

char **vs_fit_without_launcher(char **program, enum vs_fit_launcher *launcher)
{
    const char *base = strrchr(program[0], '/');
    *launcher = VS_FIT_MPIRUN;
    while (*launcher && !is_among(launchers[*launcher].names, base ? base + 1 : program[0]))
        (*launcher)--;
    if (!*launcher)
        return program;
    while (*++program && **program == '-') {
        const char *word = *program, *name = word + strspn(word, "-");
        if (strcmp(word, "--") == 0)
            return program + 1;
        bool attached = *launcher == VS_FIT_SRUN && word[1] != '-' && word[2];
        if (strchr(word, '=') || attached || is_among(launchers[*launcher].alone, name))
            continue;
        int values = is_among(launchers[*launcher].pairs, name) ? 2 : 1;
        if (*launcher == VS_FIT_MPIRUN && is_among(" x genv env ", name) && program[1]) { /* the program inherits it */
            if (strchr(program[1], '=')) {
                putenv(program[1]);
                values = 1;
            } else if (values == 2 && program[2])
                setenv(program[1], program[2], 1);
        }
        for (; values && program[1]; values--)
            program++;
    }
    return program;
}

/* ---- one rank ---- */

struct rank_queue {
    const struct vs_fit_job *job;
    const char *gpu;
    char messages[PATH_MAX + 300];
    unsigned long long ranks[VS_FIT_RANKS_LISTED];
    size_t count, next, jobs;
    size_t wanted; /* ranks before this index are started whatever else is running */
    struct vs_fit_run *runs; /* [VS_FIT_RANKS_LISTED], of the ranks, as the processes */
    struct vs_fit_process *processes;
    struct vs_arena memory; /* of their variables */
};

static const char **variables_of(struct rank_queue *queue, unsigned long long rank)
{
    const struct vs_fit_job *job = queue->job;
    unsigned long long node = rank / job->per_node, nodes = (job->ranks + job->per_node - 1) / job->per_node;
    const struct {
        unsigned long long value;
        const char *names[VS_FIT_MPIRUN + 1][3]; /* the first are those of torchrun, which are always set */
    } numbers[] = {
        {rank, {{"RANK"}, {"SLURM_PROCID"}, {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}}},
        {job->ranks, {{"WORLD_SIZE"}, {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS"},
                      {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}}},
        {rank % job->per_node, {{"LOCAL_RANK"}, {"SLURM_LOCALID"},
                                {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}}},
        {job->per_node, {{"LOCAL_WORLD_SIZE"}, {"SLURM_NTASKS_PER_NODE"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}}},
        {node, {{"GROUP_RANK", "NODE_RANK"}, {"SLURM_NODEID"}}},
        {nodes, {{"GROUP_WORLD_SIZE"}, {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}}},
        {29500, {{"MASTER_PORT"}}},
        {1, {{NULL}, {"SLURM_JOB_ID"}}},
    };
    size_t n = 0;
    const char **out = vs_xarena(&queue->memory, VARIABLES_MAX * sizeof *out);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int set = 0; set <= VS_FIT_MPIRUN; set++)
            for (size_t k = 0; (!set || set == (int)job->launcher) && k < 3 && numbers[i].names[set][k]; k++)
                out[n++] = vs_xarena_printf(&queue->memory, "%s=%llu", numbers[i].names[set][k], numbers[i].value);
    out[n++] = "MASTER_ADDR=127.0.0.1";
    if (job->launcher == VS_FIT_SRUN)
        out[n++] = "SLURM_JOB_NODELIST=localhost";
    out[n++] = vs_xarena_printf(&queue->memory, "VRAMSCOPE_SIMULATE_ALONE=%llu/%llu/%llu/%s", rank, job->ranks,
                                job->per_node, queue->messages);
    out[n++] = vs_xarena_printf(&queue->memory, "VRAMSCOPE_SIMULATE_COMMAND=%ld", (long)getpid());
    out[n] = NULL;
    return out;
}

/* Nothing more comes from *rank*. */
static void write_ended(const struct rank_queue *queue, unsigned long long rank)
{
    char path[sizeof queue->messages + 40];
    snprintf(path, sizeof path, "%s/ended.%llu", queue->messages, rank);
    VS_TOOL_FILE file = fopen(path, "w");
}

static void add_rank(struct rank_queue *queue, unsigned long long rank)
{
    for (size_t i = 0; i < queue->count; i++)
        if (queue->ranks[i] == rank)
            return;
    if (rank < queue->job->ranks && queue->count < VS_FIT_RANKS_LISTED)
        queue->ranks[queue->count++] = rank;
}

/* Moves the ranks that others wait for to the front of those that have not started. */
static void take_wanted(struct rank_queue *queue)
{
    DIR *dir = opendir(queue->messages);
    for (struct dirent *entry; (entry = vs_tool_entry(&dir));) {
        unsigned long long rank;
        size_t at = 0;
        if (strncmp(entry->d_name, "wanted.", 7) != 0 ||
            !vs_tool_count(entry->d_name + 7, 0, queue->job->ranks - 1, &rank))
            continue;
        unlinkat(dirfd(dir), entry->d_name, 0);
        add_rank(queue, rank);
        while (at < queue->count && queue->ranks[at] != rank)
            at++;
        if (queue->wanted < queue->next)
            queue->wanted = queue->next;
        if (at == queue->count)
            write_ended(queue, rank); /* there are too many ranks: it is not run */
        if (at < queue->wanted || at == queue->count)
            continue;
        queue->ranks[at] = queue->ranks[queue->wanted];
        queue->ranks[queue->wanted++] = rank;
    }
}

static struct vs_fit_process *next_rank(void *of, size_t running, int *status)
{
    struct rank_queue *queue = of;
    (void)status;
    take_wanted(queue);
    if (queue->next == queue->count || (running >= queue->jobs && queue->next >= queue->wanted))
        return NULL;
    struct vs_fit_process *process = &queue->processes[queue->next];
    unsigned long long rank = queue->ranks[queue->next];
    struct vs_fit_run *run = process->run = &queue->runs[queue->next++];
    *run = (struct vs_fit_run){.gpu = queue->gpu, .rank = vs_xprintf("%llu", rank),
                               .environment = variables_of(queue, rank)};
    vs_fit_name_folder(queue->job, process);
    return process;
}

static int end_rank(void *of, struct vs_fit_process *process)
{
    static const char *const words[] = {"no answer", "does not fit", "fits"};
    struct rank_queue *queue = of;
    struct vs_fit_run *run = process->run;
    write_ended(queue, strtoull(run->rank, NULL, 10));
    run->environment = NULL;
    if (vs_fit_interrupted())
        return 0;
    int status = vs_fit_read_result(queue->job, process);
    const struct vs_fit_note_list *list = &run->notes.lists[VS_FIT_UNANSWERED];
    for (size_t i = 0; i < list->count && !status; i++)
        if (strcmp(list->items[i].name, "rank") == 0) { /* what was run is not this rank */
            run->answer = VS_FIT_UNKNOWN;
            snprintf(run->why, sizeof run->why, "%s", list->items[i].text);
        }
    if (!status && !queue->job->quiet)
        fprintf(stderr, "%s: %s, rank %s of %llu … %s (%.1f s)\n", queue->job->who, run->gpu, run->rank,
                queue->job->ranks, words[run->answer], (double)run->wall_ns / 1e9);
    return status;
}

/* ---- which ranks ---- */

static int by_rank(const void *a, const void *b)
{
    unsigned long long x = strtoull(((const struct vs_fit_run *)a)->rank, NULL, 10);
    unsigned long long y = strtoull(((const struct vs_fit_run *)b)->rank, NULL, 10);
    return x < y ? -1 : x > y;
}

/* Adds the ranks that may differ from rank 0, which has run. Without a note of its groups, the second
 * and the last rank. */
static void add_others(struct rank_queue *queue)
{
    const struct vs_fit_note_list *list = &queue->runs[0].notes.lists[VS_FIT_RANKS];
    for (size_t i = 0; i < list->count; i++)
        for (const char *text = list->items[i].text; *text;) {
            char *end;
            add_rank(queue, strtoull(text, &end, 10));
            text = end + strspn(end, " ");
        }
    if (!list->count) {
        add_rank(queue, 1);
        add_rank(queue, queue->job->ranks - 1);
    }
    for (size_t i = 0; i < queue->job->rank_count; i++)
        add_rank(queue, queue->job->rank_list[i]);
}

int vs_fit_ranks(const struct vs_fit_job *given, struct vs_fit_set *set)
{
    struct vs_fit_job job = *given;
    job.program = vs_fit_without_launcher(given->program, &job.launcher);
    int status = 0;
    set->ranks = job.ranks;
    for (size_t g = 0; g < job.gpu_count && !status && !vs_fit_interrupted(); g++) {
        struct rank_queue queue = {.job = &job, .gpu = job.gpus[g], .jobs = 1,
                                   .runs = vs_xcalloc(VS_FIT_RANKS_LISTED, sizeof *queue.runs),
                                   .processes = vs_xcalloc(VS_FIT_RANKS_LISTED, sizeof *queue.processes)};
        snprintf(queue.messages, sizeof queue.messages, "%s/.vramscope-messages-%zu", job.folder, g);
        vs_fit_folder_clear(queue.messages);
        if (mkdir(queue.messages, 0777))
            status = vs_tool_fail(job.who, "cannot create %s: %s", queue.messages, strerror(errno));
        add_rank(&queue, 0);
        if (!status)
            status = vs_fit_run_all(&job, &queue, next_rank, end_rank);
        if (!status && queue.runs[0].answer != VS_FIT_UNKNOWN) {
            add_others(&queue);
            queue.jobs = vs_fit_at_once(&job);
            status = vs_fit_run_all(&job, &queue, next_rank, end_rank);
        }
        vs_fit_folder_clear(queue.messages);
        qsort(queue.runs, queue.next, sizeof *queue.runs, by_rank);
        set->runs = vs_xrealloc(set->runs, set->count + queue.next, sizeof *set->runs);
        for (size_t i = 0; i < queue.next; i++)
            set->runs[set->count++] = queue.runs[i];
        free(queue.runs);
        free(queue.processes);
        vs_arena_free_all(&queue.memory);
    }
    return status;
}
