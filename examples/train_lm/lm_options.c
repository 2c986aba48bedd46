/* SPDX-License-Identifier: Apache-2.0
 *
 * See lm_options.h. Each number is checked against its range here, and combinations of
 * options at the end, so that the rest of the program can rely on them. */
#include "lm_options.h"

#include "lm_kernel_args.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_STEPS = 256,
    OPT_BATCH,
    OPT_CONTEXT,
    OPT_LAYERS,
    OPT_WIDTH,
    OPT_HEADS,
    OPT_PRECISION,
    OPT_CHECKPOINT,
    OPT_ACCUMULATE,
    OPT_LEAK,
    OPT_SPIKE,
    OPT_OPTIMIZER,
    OPT_RATE,
    OPT_SEED,
    OPT_SELFCHECK,
    OPT_GRADCHECK,
    OPT_DATA,
    OPT_SAMPLE,
    OPT_HELP
};

static const struct option long_options[] = {
    {"steps", required_argument, NULL, OPT_STEPS},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"context", required_argument, NULL, OPT_CONTEXT},
    {"layers", required_argument, NULL, OPT_LAYERS},
    {"width", required_argument, NULL, OPT_WIDTH},
    {"heads", required_argument, NULL, OPT_HEADS},
    {"precision", required_argument, NULL, OPT_PRECISION},
    {"checkpoint", no_argument, NULL, OPT_CHECKPOINT},
    {"accumulate", required_argument, NULL, OPT_ACCUMULATE},
    {"leak", required_argument, NULL, OPT_LEAK},
    {"spike", optional_argument, NULL, OPT_SPIKE},
    {"optimizer", required_argument, NULL, OPT_OPTIMIZER},
    {"learning-rate", required_argument, NULL, OPT_RATE},
    {"seed", required_argument, NULL, OPT_SEED},
    {"selfcheck", no_argument, NULL, OPT_SELFCHECK},
    {"gradcheck", no_argument, NULL, OPT_GRADCHECK},
    {"data", required_argument, NULL, OPT_DATA},
    {"sample", required_argument, NULL, OPT_SAMPLE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const char help_text[] =
    "usage: train_lm [OPTION]…\n"
    "\n"
    "Trains a small character-level transformer language model on the GPU, real or\n"
    "simulated, and prints the loss.\n"
    "\n"
    "Model and training\n"
    "  --steps N           optimizer steps (100)\n"
    "  --batch N           sequences per step (12)\n"
    "  --context N         characters per sequence (64)\n"
    "  --layers N          transformer blocks (2)\n"
    "  --width N           width of the model, a multiple of --heads (64)\n"
    "  --heads N           attention heads (4)\n"
    "  --precision P       fp32, or bf16: activations and working weights in bf16, master\n"
    "                      weights in fp32 (fp32)\n"
    "  --optimizer O       adam or sgd (adam)\n"
    "  --learning-rate X   learning rate (0.005 for adam, 0.5 for sgd)\n"
    "  --seed N            seed of the random numbers (1)\n"
    "  --data FILE         text to learn (the bundled book of Genesis)\n"
    "  --sample N          write N characters with the trained model\n"
    "\n"
    "Memory\n"
    "  --checkpoint        keep only the input of each block; compute the rest again in\n"
    "                      the backward pass\n"
    "  --accumulate N      process each batch in N parts and accumulate the gradients\n"
    "  --leak SIZE         leak one buffer of SIZE bytes in every step (4MiB, 512KiB, …)\n"
    "  --spike[=SIZE]      allocate one huge temporary buffer in the middle step (default:\n"
    "                      the logits of the whole text)\n"
    "  --selfcheck         print the program's own count of its device memory\n"
    "\n"
    "  --help              print this text\n";

__attribute__((noreturn, format(printf, 1, 2))) static void usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("train_lm: ", stderr);
    vfprintf(stderr, format, args);
    fputs("; see --help\n", stderr);
    va_end(args);
    exit(2);
}

static long parse_count(const char *option, const char *text, long min, long max)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0')
        usage_error("--%s: '%s' is not a whole number", option, text);
    if (errno == ERANGE || value < min || value > max)
        usage_error("--%s: %s is outside %ld … %ld", option, text, min, max);
    return value;
}

/* A number of bytes with an optional unit: B, K, KB, KiB, M, …; all powers of
 * 1024. */
static size_t parse_size(const char *option, const char *text)
{
    static const char letters[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || text[0] == '-')
        usage_error("--%s: '%s' is not a size such as 4MiB", option, text);
    const char *letter = *end ? strchr(letters, *end >= 'a' ? *end - 32 : *end) : NULL;
    unsigned shift = letter ? 10u * (unsigned)(letter - letters + 1) : 0;
    end += letter != NULL;
    if (letter && *end == 'i')
        end++;
    if (*end == 'B')
        end++;
    if (*end != '\0')
        usage_error("--%s: '%s' is not a size such as 4MiB", option, text);
    if (errno == ERANGE || value == 0 || value > ((unsigned long long)1 << 62) >> shift)
        usage_error("--%s: %s is outside 1 … 4194304 TiB", option, text);
    return (size_t)(value << shift);
}

static double parse_rate(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0.0 && value <= 100.0))
        usage_error("--learning-rate: '%s' is not a number above 0 and up to 100", text);
    return value;
}

static uint64_t parse_seed(const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE || text[0] == '-')
        usage_error("--seed: '%s' is not a whole number from 0 to 2^64 - 1", text);
    return value;
}

/* Index of *text* among two words. */
static int parse_word(const char *option, const char *text, const char *first, const char *second)
{
    if (strcmp(text, first) == 0)
        return 0;
    if (strcmp(text, second) == 0)
        return 1;
    usage_error("--%s: '%s' is neither %s nor %s", option, text, first, second);
}

static void check_together(struct lm_options *o)
{
    if (o->width % o->heads != 0)
        usage_error("--width %ld is not a multiple of --heads %ld", o->width, o->heads);
    if (o->batch % o->accumulate != 0)
        usage_error("--batch %ld cannot be divided into %ld equal parts (--accumulate)", o->batch,
                    o->accumulate);
    if (o->gradcheck && o->type != LM_FP32)
        usage_error("--gradcheck needs --precision fp32");
    if (o->rate == 0.0)
        o->rate = o->optimizer == LM_ADAM ? 0.005 : 0.5;
}

static void parse_one(struct lm_options *o, int option, const char *arg)
{
    switch (option) {
    case OPT_STEPS:
        o->steps = parse_count("steps", arg, 1, 1000000);
        break;
    case OPT_BATCH:
        o->batch = parse_count("batch", arg, 1, 65536);
        break;
    case OPT_CONTEXT:
        o->context = parse_count("context", arg, 1, 65536);
        break;
    case OPT_LAYERS:
        o->layers = parse_count("layers", arg, 1, 256);
        break;
    case OPT_WIDTH:
        o->width = parse_count("width", arg, 1, 16384);
        break;
    case OPT_HEADS:
        o->heads = parse_count("heads", arg, 1, 256);
        break;
    case OPT_PRECISION:
        o->type = parse_word("precision", arg, "fp32", "bf16") ? LM_BF16 : LM_FP32;
        break;
    case OPT_CHECKPOINT:
        o->checkpoint = true;
        break;
    case OPT_ACCUMULATE:
        o->accumulate = parse_count("accumulate", arg, 1, 65536);
        break;
    case OPT_LEAK:
        o->leak_bytes = parse_size("leak", arg);
        break;
    case OPT_SPIKE:
        o->spike = true;
        o->spike_bytes = arg ? parse_size("spike", arg) : 0;
        break;
    case OPT_OPTIMIZER:
        o->optimizer = parse_word("optimizer", arg, "adam", "sgd") ? LM_SGD : LM_ADAM;
        break;
    case OPT_RATE:
        o->rate = parse_rate(arg);
        break;
    case OPT_SEED:
        o->seed = parse_seed(arg);
        break;
    case OPT_SELFCHECK:
        o->selfcheck = true;
        break;
    case OPT_GRADCHECK:
        o->gradcheck = true;
        break;
    case OPT_DATA:
        o->data = arg;
        break;
    case OPT_SAMPLE:
        o->sample = parse_count("sample", arg, 1, 1000000);
        break;
    default:
        break;
    }
}

void lm_options_parse(struct lm_options *options, int argc, char **argv)
{
    *options = (struct lm_options){.steps = 100,
                                   .batch = 12,
                                   .context = 64,
                                   .layers = 2,
                                   .width = 64,
                                   .heads = 4,
                                   .accumulate = 1,
                                   .type = LM_FP32,
                                   .optimizer = LM_ADAM,
                                   .seed = 1};
    opterr = 0;
    for (;;) {
        int option = getopt_long(argc, argv, ":", long_options, NULL);
        if (option == -1)
            break;
        if (option == OPT_HELP) {
            fputs(help_text, stdout);
            exit(0);
        }
        if (option == ':')
            usage_error("%s needs a value", argv[optind - 1]);
        if (option == '?')
            usage_error("unknown or invalid option '%s'", argv[optind - 1]);
        parse_one(options, option, optarg);
    }
    if (optind < argc)
        usage_error("'%s' is not an option", argv[optind]);
    check_together(options);
}
