/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA_VISIBLE_DEVICES, as the CUDA programming guide describes it: a list of ordinals or of UUIDs
 * (a unique prefix is enough), in the order in which the devices are numbered; the first invalid
 * entry ends the list. Empty: no device. CUDA_DEVICE_ORDER has no effect here, since equal devices
 * are ordered by bus number in both cases. */
#include "simulator/driver/vs_sim_driver.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void vs_sim_device_uuid(int physical, CUuuid *uuid)
{
    snprintf(uuid->bytes, sizeof uuid->bytes, "vramscope-sim%02u", (unsigned)physical % 100);
}

int vs_sim_device_seen(int physical)
{
    for (unsigned i = 0; i < vs_sim_spec.devices; i++)
        if (vs_sim_devices[i].physical == physical)
            return (int)i;
    return VS_SIM_UNSEEN;
}

/* *entry*: the start of "GPU-" and groups of 8, 4, 4, 4 and 12 digits. */
static int by_uuid(const char *entry, size_t length, int count)
{
    char text[48];
    int found = -1;
    for (int i = 0; i < count; i++) {
        CUuuid uuid;
        vs_sim_device_uuid(i, &uuid);
        char *at = text + sprintf(text, "GPU-");
        for (int k = 0; k < 16; k++)
            at += sprintf(at, k == 4 || k == 6 || k == 8 || k == 10 ? "-%02x" : "%02x",
                          (unsigned char)uuid.bytes[k]);
        if (length > strlen(text) || strncasecmp(entry, text, length))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

static int by_ordinal(const char *entry, size_t length, int count)
{
    long value = 0;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)entry[i]))
            return -1;
        value = value * 10 + (entry[i] - '0');
        if (value >= count)
            return -1;
    }
    return length ? (int)value : -1;
}

unsigned vs_sim_visible(const char *list, unsigned count, int physical[VS_SIM_DEVICES_MAX])
{
    unsigned n = 0;
    if (!list) {
        for (; n < count; n++)
            physical[n] = (int)n;
        return n;
    }
    for (;;) {
        while (isspace((unsigned char)*list))
            list++;
        size_t length = strcspn(list, ","), shown = length;
        while (shown && isspace((unsigned char)list[shown - 1]))
            shown--;
        int device = shown > 4 && !strncmp(list, "GPU-", 4) ? by_uuid(list, shown, (int)count)
                                                            : by_ordinal(list, shown, (int)count);
        for (unsigned i = 0; i < n && device >= 0; i++)
            if (physical[i] == device)
                device = -1; /* listed twice: not valid */
        if (device < 0 || n == count)
            return n;
        physical[n++] = device;
        if (!list[length])
            return n;
        list += length + 1;
    }
}
