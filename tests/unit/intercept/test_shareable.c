/* SPDX-License-Identifier: Apache-2.0
 *
 * No handle makes one memory be taken for another: neither a reused descriptor number, nor the
 * device node that all of a driver's descriptors have in common. */
#define _GNU_SOURCE
#include "support/cmocka_test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "intercept/cache/shareable.h"

#define DESCRIPTOR CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC 8u

TEST(a_file_of_its_own_is_known_by_every_descriptor)
{
    int a = memfd_create("a", MFD_CLOEXEC), b = memfd_create("b", MFD_CLOEXEC), again = dup(a);
    uint64_t id = vs_shareable_identity(NULL, a, DESCRIPTOR);
    assert_true(a >= 0 && b >= 0 && again >= 0 && id);
    assert_true(vs_shareable_identity(NULL, again, DESCRIPTOR) == id);
    assert_true(vs_shareable_identity(NULL, b, DESCRIPTOR) != id);
    close(a);
    close(b);
    close(again);
}

TEST(a_device_node_says_nothing)
{
    int exported = open("/dev/null", O_RDWR | O_CLOEXEC), number = exported;
    assert_true(exported >= 0);
    assert_true(vs_shareable_identity(NULL, exported, DESCRIPTOR) == 0);
    close(exported); /* sent to another process, whose reply has the same number */
    exported = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(exported, number);
    assert_true(vs_shareable_identity(NULL, exported, DESCRIPTOR) == 0);
    close(exported);
}

TEST(a_fabric_handle_is_its_bytes)
{
    char a[64] = "one", b[64] = "one", c[64] = "two";
    assert_true(vs_shareable_identity(a, -1, FABRIC) != 0);
    assert_true(vs_shareable_identity(a, -1, FABRIC) == vs_shareable_identity(b, -1, FABRIC));
    assert_true(vs_shareable_identity(a, -1, FABRIC) != vs_shareable_identity(c, -1, FABRIC));
    assert_true(vs_shareable_identity(NULL, -1, FABRIC) == 0);
    assert_true(vs_shareable_identity(NULL, -1, DESCRIPTOR) == 0);
}
