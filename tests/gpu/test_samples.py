# SPDX-License-Identifier: Apache-2.0
"""What samples.py makes of a program's source and output, on sources of our own."""
import unittest

import samples

SOURCE = """
#include <cooperative_groups.h>
#define TWICE(x) \\
    ((x) + (x))
namespace names {
__device__ int half(int x) { return x / 2; } // a comment with {
}
__constant__ float table[2] = {1.0f, 2.0f};
struct pair { int a; int b; };
extern "C" __global__ void plain(float *v) { extern __shared__ float shared[]; v[0] = shared[0]; }
template <typename T> __global__ void templated(T *v) { v[0] = TWICE(v[0]); }
static float mean(const float *v, int n = 3) { return v[n]; }
int main(int argc, char **argv)
{
    struct cudaKernelNodeParams p;
    p.gridDim = dim3(1);
    plain<<<1, 2, (3)>>>((float *)"}");
    templated<float><<<1, 1>>>(NULL);
    return 0;
}
"""


class HostCopy(unittest.TestCase):
    def setUp(self):
        self.copy = samples.host_copy(samples.strip_comments(SOURCE))

    def test_device_code_types_macros_and_variables_stay(self):
        for text in ("half(int x)", "((x) + (x))", "table[2] = {1.0f, 2.0f};", "struct pair", "plain(", "templated(",
                     "#include <cooperative_groups.h>"):
            self.assertIn(text, self.copy)

    def test_functions_of_the_host_and_comments_go(self):
        for text in ("main", "<<<", "gridDim", "mean", "comment"):
            self.assertNotIn(text, self.copy)

    def test_launches_name_the_instances_of_templates(self):
        self.assertEqual(samples.LAUNCH.findall(SOURCE), [("templated", "<float>")])

    def test_dynamic_shared_arrays_are_found(self):
        self.assertEqual(samples.shared_arrays(SOURCE), [("float", "shared")])
        self.assertEqual(samples.shared_arrays("extern double __shared__ a[]; extern int b[];"), [("double", "a")])


class Answers(unittest.TestCase):
    def test_times_addresses_and_pids_do_not_count(self):
        self.assertEqual(samples.answers("took 3.5 ms at 0x7f00 by PID 12\n", False),
                         samples.answers("took 4.25 ms at 0x1234 by PID 77\n", False))

    def test_results_count(self):
        self.assertNotEqual(samples.answers("sum 3.5\n", False), samples.answers("sum 4.5\n", False))
        self.assertNotEqual(samples.answers("a\nb\n", False), samples.answers("b\na\n", False))
        self.assertEqual(samples.answers("a\nb\n", True), samples.answers("b\na\n", True))


if __name__ == "__main__":
    unittest.main()
