# SPDX-License-Identifier: Apache-2.0
"""What calibrate.py makes of two outputs of calibrate_problems.py, written here."""
import json
import os
import tempfile
import unittest

import calibrate

VERSIONS = {"torch": "2.15.0", "cudnn": 92600, "architecture": "sm_90", "device": "H100", "gpu": "h100-80g"}
KEY = "forward half channels-last x 32x64x56x56 w 64x64x3x3 pad 1x1 stride 1x1 dilation 1x1"


class Calibrate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def output(self, name, *lines):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(line) + "\n" for line in lines)
        return calibrate.read(path)

    def pair(self, real, simulated):
        first = {"versions": VERSIONS}
        return calibrate.pair(self.output("real", first, *real), self.output("simulated", first, *simulated))

    def test_a_problem_makes_a_row_of_the_table(self):
        rows, left_out = self.pair([{"problem": "a", "kind": "workspace", "sizes": [4096], "names": []}],
                                   [{"problem": "a", "sizes": [0], "names": [["cuDNN", f"convolution {KEY}"]]}])
        self.assertEqual(left_out, [])
        self.assertEqual(rows[0][:7], ("cudnn", "9.26.0-9.26.0", "sm_90", "convolution", KEY, "4096", "measured"))
        self.assertIn("H100, torch 2.15.0", rows[0][7])

    def test_no_allocation_is_a_workspace_of_nothing(self):
        rows, _ = self.pair([{"problem": "a", "kind": "outside", "sizes": [], "names": []}],
                            [{"problem": "a", "sizes": [], "names": [["cusolver", "handle"]]}])
        self.assertEqual(rows[0][:6], ("cusolver", "*", "sm_90", "handle", "*", "0"))

    def test_a_context_makes_a_row_of_the_driver(self):
        rows, left_out = self.pair([{"problem": "context", "kind": "outside", "sizes": [541065216], "names": []}],
                                   [{"problem": "context", "sizes": [-2097152], "names": [["driver", "context", 419430400]]}])
        self.assertEqual(left_out, [])
        self.assertEqual(rows[0][:7], ("driver", "*", "*", "context", "h100-80g", "541065216", "measured"))

    def test_a_workspace_among_other_allocations_is_found_by_its_place(self):
        rows, left_out = self.pair(
            [{"problem": "eigh", "kind": "workspace", "sizes": [512, 90112, 1024], "names": []}],
            [{"problem": "eigh", "sizes": [512, 4096, 1024],
              "names": [["cusolver", "cusolverDnXsyevd FP32 64x64x2", 3800]]}])
        self.assertEqual(left_out, [])
        self.assertEqual(rows[0][:6], ("cusolver", "*", "sm_90", "cusolverDnXsyevd", "FP32 64x64x2", "90112"))

    def test_each_of_several_workspaces_is_found_by_its_place(self):
        rows, _ = self.pair(
            [{"problem": "LSTM", "kind": "workspace", "sizes": [8192, 1536], "names": []}],
            [{"problem": "LSTM", "sizes": [2048, 1024],
              "names": [["cudnn", "rnn-workspace LSTM x", 2048], ["cudnn", "rnn-reserve LSTM x", 1000]]}])
        self.assertEqual(sorted((row[3], row[4], row[5]) for row in rows),
                         [("rnn-reserve", "LSTM x", "1536"), ("rnn-workspace", "LSTM x", "8192")])

    def test_a_different_number_of_allocations_gives_no_place(self):
        rows, left_out = self.pair(
            [{"problem": "fft", "kind": "workspace", "sizes": [512, 90112, 1024], "names": []}],
            [{"problem": "fft", "sizes": [4096, 1024], "names": [["cufft", "plan 1024 batch 1 C2C FP32", 4096]]}])
        self.assertEqual((rows, left_out), ([], ["fft: 3 allocations could be the workspace"]))

    def test_what_is_ambiguous_is_left_out_with_its_reason(self):
        named = {"sizes": [], "names": [["cudnn", f"convolution {KEY}"]]}
        two = {"sizes": [], "names": [["cudnn", "a x"], ["cudnn", "b y"]]}
        rows, left_out = self.pair(
            [{"problem": p, "kind": "workspace", "sizes": s, "names": []} for p, s in
             (("several", [1, 2]), ("names", [1]), ("none", [1]), ("absent", [1]))]
            + [{"problem": "failed", "error": "no memory"}],
            [{"problem": "several", **named}, {"problem": "names", **two}, {"problem": "none", "sizes": [], "names": []},
             {"problem": "failed", **named}])
        self.assertEqual(rows, [])
        for part in ("several: 2 allocations", "names: 2 sizes", "none: its stand-in", "absent: the simulated GPU: not run",
                     "failed: the real GPU: no memory"):
            self.assertTrue(any(line.startswith(part) for line in left_out), (part, left_out))

    def test_two_problems_of_one_name_and_different_sizes_give_no_row(self):
        named = {"sizes": [], "names": [["cudnn", f"convolution {KEY}"]]}
        rows, left_out = self.pair([{"problem": p, "kind": "workspace", "sizes": [n], "names": []} for p, n in (("a", 1), ("b", 2))],
                                   [{"problem": "a", **named}, {"problem": "b", **named}])
        self.assertEqual(rows, [])
        self.assertIn("b: 2 bytes, and another problem of the same name 1", left_out[0])

    def test_handles_and_workspaces_are_told_apart(self):
        names = [["cuDNN", "handle"], ["cuDNN", f"convolution {KEY}"]]
        rows, _ = self.pair([{"problem": p, "kind": p, "sizes": [n], "names": []} for p, n in
                             (("outside", 1), ("workspace", 2))],
                            [{"problem": p, "sizes": [], "names": names} for p in ("outside", "workspace")])
        self.assertEqual([(row[3], row[5]) for row in rows], [("handle", "1"), ("convolution", "2")])

    def test_writing_replaces_old_measurements_and_keeps_the_rest(self):
        path = os.path.join(self.folder.name, "sizes.tsv")
        with open(path, "w", encoding="utf-8") as f:
            f.write("# comment\ncudnn\t*\tsm_90\thandle\t*\t5\tassumed\tguess\ncudnn\t*\tsm_90\thandle\t*\t6\tmeasured\told\n")
        row = ("cudnn", "*", "sm_90", "handle", "*", "7", "measured", "new")
        calibrate.write(path, [row])
        with open(path, encoding="utf-8") as f:
            self.assertEqual(f.read(), "# comment\ncudnn\t*\tsm_90\thandle\t*\t5\tassumed\tguess\n" + "\t".join(row) + "\n")
        calibrate.write(path, [row])
        with open(path, encoding="utf-8") as f:
            self.assertEqual(len(f.readlines()), 3)

    def test_an_output_without_versions_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "did not start"):
            self.output("empty")


if __name__ == "__main__":
    unittest.main()
