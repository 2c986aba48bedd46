/* SPDX-License-Identifier: Apache-2.0 */
/* A training loop in miniature, which allocates as one does: weights that stay, activations of each
 * step, and gradients. It uses the CUDA driver, which it loads itself: no toolkit is needed to build it. */
#pragma once

/* Returns 0; otherwise the driver's error, or -1 without a driver. */
int trainer_open(int layers);
int trainer_step(void);
void trainer_close(void);
