/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VS_OPENMETRICS_H
#define VS_OPENMETRICS_H

#include <stdio.h>

/* vs_metric_label: writes *before* ("{" or ",") and the label of a sample, of any *text*. */
void vs_metric_label(FILE *out, const char *name, const char *text, const char *before);

#endif
