/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands for NVIDIA's runtime in a folder of the user's: its answer is one that no runtime gives. */
int cudaGetDeviceCount(int *count);

__attribute__((visibility("default"))) int cudaGetDeviceCount(int *count)
{
    *count = VS_ANSWER;
    return 0;
}
