/* SPDX-License-Identifier: Apache-2.0
 *
 * What the command does not leave as it found it when it was started: signals that would end it
 * amid a file or hide how a program ended, and the number of files it may open. A program that it
 * starts gets all of it as it was. */
#ifndef VS_OWN_STATE_H
#define VS_OWN_STATE_H

/* vs_own_state_begin: first thing in main. */
void vs_own_state_begin(void);

/* vs_own_state_end: as it was; in a child, before exec. Async-signal-safe. */
void vs_own_state_end(void);

#endif
