/* SPDX-License-Identifier: Apache-2.0
 *
 * How the background thread is started, from whichever thread of the program. */
#ifndef VS_THREAD_START_H
#define VS_THREAD_START_H

#include <pthread.h>

/* vs_thread_start: pthread_create with *stack_bytes* for our own code, beside the C library's data
 * on each stack, without the caller's real-time policy, and with all signals blocked but SIGSYS.
 * *Returns* 0 or pthread_create's error. */
int vs_thread_start(pthread_t *thread, size_t stack_bytes, void *(*fn)(void *), void *arg);

#endif
