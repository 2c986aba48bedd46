/* SPDX-License-Identifier: Apache-2.0
 *
 * Process settings that the command changes at its start and restores for the programs it starts:
 * signals that would end it while it writes a file or would hide how a program ended, and the limit
 * of open files. */
#ifndef VS_OWN_STATE_H
#define VS_OWN_STATE_H

/* vs_own_state_begin: changes the settings; called first in main. */
void vs_own_state_begin(void);

/* vs_own_state_end: restores the settings; in a child, before exec. Async-signal-safe. */
void vs_own_state_end(void);

#endif
