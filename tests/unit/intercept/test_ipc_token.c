/* SPDX-License-Identifier: Apache-2.0
 *
 * An IPC handle with an added offset: any driver handle is either restored exactly or not accepted,
 * and no other bytes are mistaken for one. */

#include "support/cmocka_test.h"
#include "intercept/track/ipc_token.h"

/* From the driver of an RTX GPU, in a user's report. */
static const unsigned char real[64] =
    "\xe0\xdf\x23\x62\xe8\x5f\x00\x00\xd8\x29\x10\x00\x00\x00\x00\x00"
    "\x00\x02\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x02\x03\x00"
    "\x00\x01\x00\x00\x00\xff\x00\x00\x2f\x00\x00\x00\x00\x00\x00\x00"
    "\x8c\x02\xd0\xc1\x8d\x00\x00\x5c\x00\x00\x00\x00\x00\x00\x00"; /* and a zero */

static bool there_and_back(const unsigned char *handle, uint64_t offset, uint64_t bytes)
{
    struct vs_ipc_token token = {.offset = offset, .bytes = bytes}, got;
    CUipcMemHandle sent;
    memcpy(&token.handle, handle, sizeof token.handle);
    if (!vs_ipc_token_make(&token, &sent))
        return false;
    assert_true(vs_ipc_token_read(&sent, &got));
    assert_memory_equal(&got.handle, handle, sizeof got.handle);
    assert_int_equal(got.offset, offset);
    assert_int_equal(got.bytes, bytes);
    assert_memory_not_equal(&sent, handle, sizeof sent);
    return true;
}

TEST(a_real_handle_comes_back)
{
    assert_true(there_and_back(real, 512, 1));
    assert_true(there_and_back(real, 0, 0));
    assert_true(there_and_back(real, (UINT64_C(1) << 41) - 512, (UINT64_C(1) << 40) - 1));
}

TEST(what_does_not_fit_is_not_made)
{
    assert_false(there_and_back(real, 100, 1));
    assert_false(there_and_back(real, UINT64_C(1) << 41, 1));
    assert_false(there_and_back(real, 512, UINT64_C(1) << 40));
}

TEST(as_many_bytes_as_there_is_room_for)
{
    unsigned char handle[64];
    srand(1);
    for (int n = 0; n <= 64; n++) {
        for (int turn = 0; turn < 200; turn++) {
            memset(handle, 0, sizeof handle);
            for (int left = n; left;) {
                unsigned char *byte = &handle[rand() % 64];
                left -= !*byte;
                if (!*byte)
                    *byte = (unsigned char)(1 + rand() % 255);
            }
            assert_int_equal(there_and_back(handle, 512 * (uint64_t)rand(), (uint64_t)rand()),
                             n <= 35);
        }
    }
}

TEST(handles_of_the_driver_and_damaged_ones_are_none)
{
    struct vs_ipc_token token = {.offset = 1 << 20, .bytes = 5000}, got;
    CUipcMemHandle sent;
    unsigned char damaged[64];
    memcpy(&token.handle, real, sizeof real);
    assert_false(vs_ipc_token_read(&token.handle, &got));
    assert_true(vs_ipc_token_make(&token, &sent));
    for (int bit = 0; bit < 512; bit++) {
        memcpy(damaged, &sent, sizeof damaged);
        damaged[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_false(vs_ipc_token_read((const CUipcMemHandle *)damaged, &got));
    }
    memset(damaged, 0, sizeof damaged);
    assert_false(vs_ipc_token_read((const CUipcMemHandle *)damaged, &got));
}
