/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers: bytes that a copy from the device to the host shall deliver in place of the device's. A
 * library reads back counts that its kernels computed (how many elements are not zero) and then
 * allocates memory for that many. Kernels compute nothing here; a host that knows the count puts it
 * here before it calls the library. Each thread has its own answers, and each serves one copy. */
#include "simulator/driver/vs_sim_driver.h"

#include <stdlib.h>
#include <string.h>

#define ANSWERS_MAX 16
#define ANSWER_BYTES_MAX 64

int vramscopeSimAnswer(const void *bytes, size_t count);
int vramscopeSimAnswersDrop(void);

struct vs_sim_answer {
    size_t bytes;
    char content[ANSWER_BYTES_MAX];
};

/* In the order of their use; allocated by the first answer, since thread-local memory is taken from
 * the stacks of all threads. */
static _Thread_local struct vs_sim_answer *answers;
static _Thread_local unsigned answer_count;
static pthread_key_t at_exit;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

static void make_at_exit(void) { pthread_key_create(&at_exit, free); }

/* vramscopeSimAnswer: the next copy of *count* bytes that this thread requests from a device to the
 * host delivers *bytes*, which are copied. Several answers of one size serve successive copies.
 * Returns 0 if they are too many or too long. */
VS_SIM_EXPORT int vramscopeSimAnswer(const void *bytes, size_t count)
{
    if (answer_count == ANSWERS_MAX || !bytes || !count || count > ANSWER_BYTES_MAX)
        return 0;
    if (!answers) {
        pthread_once(&at_exit_once, make_at_exit);
        answers = vs_sim_need(calloc(ANSWERS_MAX, sizeof *answers));
        pthread_setspecific(at_exit, answers);
    }
    answers[answer_count].bytes = count;
    memcpy(answers[answer_count++].content, bytes, count);
    return 1;
}

/* vramscopeSimAnswersDrop: forgets this thread's answers. Returns how many were unused. */
VS_SIM_EXPORT int vramscopeSimAnswersDrop(void)
{
    unsigned unused = answer_count;
    answer_count = 0;
    return (int)unused;
}

void vs_sim_answer_take(size_t bytes, void **content)
{
    for (unsigned i = 0; i < answer_count; i++) {
        if (answers[i].bytes != bytes)
            continue;
        *content = vs_sim_dup(answers[i].content, bytes);
        answer_count--;
        memmove(&answers[i], &answers[i + 1], (answer_count - i) * sizeof answers[i]);
        return;
    }
}
