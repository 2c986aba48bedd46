/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA_VISIBLE_DEVICES. A process reads it once, so each case runs this program again with a list
 * and reads the UUIDs of its devices. */
#include "conf.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD "VS_CONF_VISIBLE_CHILD"
#define RULE(what) "guide, CUDA_VISIBLE_DEVICES: " what
#define DEVICES_MAX 32

static struct {
    int count;
    CUuuid uuid[DEVICES_MAX];
} seen;

/* The child, before main: writes the UUIDs to the pipe. */
__attribute__((constructor)) static void be_the_child(void)
{
    const char *fd = getenv(CHILD);
    int count = 0;
    if (!fd)
        return;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS)
        _exit(77);
    for (int i = 0; i < count && i < DEVICES_MAX; i++) {
        CUuuid uuid;
        if (cuDeviceGetUuid(&uuid, i) != CUDA_SUCCESS ||
            write(atoi(fd), &uuid, sizeof uuid) != (ssize_t)sizeof uuid)
            _exit(1);
    }
    _exit(0);
}

/* Stores in *seen* the devices of a process with this list. */
static void look(const char *list)
{
    int fds[2], status;
    char number[16];
    NEED(!getenv("CUDA_VISIBLE_DEVICES"), "CUDA_VISIBLE_DEVICES is set already");
    DO(pipe(fds));
    snprintf(number, sizeof number, "%d", fds[1]);
    pid_t pid = fork();
    if (!pid) {
        close(fds[0]);
        setenv(CHILD, number, 1);
        setenv("CUDA_VISIBLE_DEVICES", list, 1);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execl("/proc/self/exe", "conformance", "visible", (char *)NULL);
        _exit(2);
    }
    close(fds[1]);
    seen.count = 0;
    while (seen.count < DEVICES_MAX &&
           read(fds[0], &seen.uuid[seen.count], sizeof(CUuuid)) == (ssize_t)sizeof(CUuuid))
        seen.count++;
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
}

static bool is(int index, CUdevice device)
{
    CUuuid uuid;
    DO(cuDeviceGetUuid(&uuid, device));
    return seen.count > index && !memcmp(&uuid, &seen.uuid[index], sizeof uuid);
}

TEST(ordinals_choose)
{
    look("0");
    FACT_EQ(seen.count, 1, RULE("only devices in the list are visible"));
    FACT(is(0, 0), RULE("ordinals are those without it"));
    look("");
    FACT_EQ(seen.count, 0, RULE("an empty list hides all"));
    look("-1");
    FACT_EQ(seen.count, 0, RULE("an invalid index ends the list"));
    look("0,-1,0");
    FACT_EQ(seen.count, 1, RULE("only devices before the invalid index are visible"));
    look("999");
    FACT_EQ(seen.count, 0, RULE("an invalid index ends the list"));
}

TEST(uuids_choose)
{
    char text[48], name[256] = "";
    DO(cuDeviceGetName(name, sizeof name, 0));
    NEED(!strstr(name, "MIG"), "the device is a MIG instance, whose UUID has another prefix");
    CUuuid uuid;
    DO(cuDeviceGetUuid(&uuid, 0));
    int n = sprintf(text, "GPU-");
    for (int i = 0; i < 16; i++)
        n += sprintf(text + n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                     (unsigned char)uuid.bytes[i]);
    look(text);
    FACT_EQ(seen.count, 1, RULE("a UUID with the prefix GPU- names a device"));
    FACT(is(0, 0), RULE("a UUID with the prefix GPU- names a device"));
}

TEST(the_list_gives_the_order)
{
    int count = conf_device_count();
    NEED(count >= 2, "fewer than two devices");
    look("1");
    FACT_EQ(seen.count, 1, RULE("only devices in the list are visible"));
    FACT(is(0, 1), RULE("visible devices are counted from 0"));
    look("1,0");
    FACT_EQ(seen.count, 2, RULE("devices are visible in the order of the list"));
    FACT(is(0, 1) && is(1, 0), RULE("devices are visible in the order of the list"));
    look("1,-1,0");
    FACT_EQ(seen.count, 1, RULE("only devices before the invalid index are visible"));
    FACT(is(0, 1), RULE("only devices before the invalid index are visible"));
}
