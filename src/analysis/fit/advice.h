/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope advise` found for one GPU: a row for each set of changes that was tried, the cheapest
 * set with which the program fits, and what was left out. Made by tools/advise, shown by viewer/report.
 * The texts live as long as the command. */
#ifndef VS_ADVICE_H
#define VS_ADVICE_H

#include "analysis/fit/fit_answer.h"

enum vs_advice_source {
    VS_ADVICE_RUN,       /* the program ran with the changes, on a GPU like this one */
    VS_ADVICE_REPLAYED,  /* the requests of a run were replayed with other settings of the allocator */
    VS_ADVICE_ESTIMATED, /* computed from the sizes of a run */
};

struct vs_advice_row {
    const char *label;    /* "as it is", "chunked loss + bf16 autocast" */
    const char *changes;  /* as VRAMSCOPE_CHANGES has them; "" */
    const char *settings; /* for PYTORCH_ALLOC_CONF; "" */
    const char *value;    /* of --vary; NULL */
    enum vs_advice_source source;
    const char *why;      /* there are no figures, or it was tried on the GPU and fails; NULL */
    bool known;           /* the figures */
    uint64_t peak, reserved, used; /* bytes: as in struct vs_fit_device; used: of the device */
    int64_t saved;        /* of used, compared with the program as it is */
    int64_t headroom;     /* negative: it is short by that */
    bool fits;            /* with the margin */
    bool no_answer;       /* it failed for another reason than memory, or the change had no effect */
    bool proven;          /* it ran on the GPU itself */
    bool if_assumed;      /* if the assumed sizes hold */
    bool cost_known;      /* an estimate, as the following */
    double compute;       /* time of kernels in a step, compared: 0.3 is 30 % more */
    int64_t copies;       /* more bytes between host and device in a step */
    bool cached;
    uint64_t wall_ns;
};

/* A change of the plan. */
struct vs_advice_step {
    const char *label, *change; /* as VRAMSCOPE_CHANGES has it, or the setting or value */
    bool known;
    int64_t saved; /* of used, compared with the changes before it */
    const struct vs_advice_line {
        const char *place, *code; /* "train.py:40", the words to write there; place "": the command */
        uint64_t count;           /* how often it took effect */
    } *lines;
    size_t line_count;
};

struct vs_advice_left {
    const char *label, *change, *why;
};

struct vs_advice {
    const char *gpu;
    uint64_t total_bytes, margin_bytes;
    enum vs_fit_answer answer;   /* the program as it is, or a plan, fits with the margin */
    const char *why, *errors;    /* of no answer */
    bool interrupted;            /* the rows are those of the runs that had ended */
    const struct vs_fit_run *as_it_is; /* on the GPU itself */
    struct vs_advice_row *rows;  /* the first: as it is */
    size_t row_count;
    size_t plan;                 /* a row; 0: nothing needs to change, row_count: there is none */
    size_t nearest;              /* without a plan, the row that saves most; 0: none saves anything */
    struct vs_advice_step *steps; /* of the plan, or of the nearest row */
    size_t step_count;
    struct vs_advice_left *absent, *spared; /* not tried: nothing shows that they would help; a plan was
                                             * found before, or it was interrupted */
    size_t absent_count, spared_count;
    const char *torch;           /* release; "" */
    size_t runs, cached;         /* of the program; of these read from the cache */
    unsigned long long steps_run; /* --steps, or less where every run ended before */
};

/* All GPUs of one command. */
struct vs_advice_set {
    struct vs_advice *items;
    size_t count;
    char *const *program; /* NULL-terminated */
    const char *vary;     /* NULL: nothing varies */
    const char *kept;     /* folder of the traces; NULL: not kept */
    bool all;
};

#endif
