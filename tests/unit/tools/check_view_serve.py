#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope view --serve`: who gets an answer, the parts of a trace, and the end.

    check_view_serve.py VRAMSCOPE TRACE
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

COMMAND, TRACE = sys.argv[1:3]


class Served(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.trace = os.path.join(self.folder.name, "trace.vst")
        shutil.copy(TRACE, self.trace)
        self.server = subprocess.Popen([COMMAND, "view", "--serve", self.trace, "--partial"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, "XDG_CACHE_HOME": self.folder.name,
                                            "MALLOC_MMAP_THRESHOLD_": "65536"})  # freed memory goes
        self.url = urllib.parse.urlsplit(self.server.stdout.readline().strip())

    def tearDown(self):
        if self.server.poll() is None:
            self.server.kill()
        self.server.communicate()
        self.folder.cleanup()

    def ask(self, target, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.url.port, timeout=600)
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, answer.headers

    def data(self, query):
        return self.ask(f"/data?{self.url.query}&{query}")

    def test_the_page_is_served_with_its_own_policy(self):
        status, page, headers = self.ask(f"/?{self.url.query}")
        self.assertEqual(status, 200)
        self.assertIn("connect-src 'self'", page)
        self.assertIn('"serve":true', page)
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(self.ask(f"/?{self.url.query}", Host=f"localhost:{self.url.port}")[0], 200)

    def memory(self, which):
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as status:
            return int(re.search(which + r":\s+(\d+) kB", status.read()).group(1)) * 1024

    def test_an_answer_needs_no_copy_of_the_page(self):
        with open(COMMAND, "rb") as program:
            if b"__asan_init" in program.read():
                self.skipTest("AddressSanitizer keeps freed memory")
        page = len(self.ask(f"/?{self.url.query}")[1])
        with open(f"/proc/{self.server.pid}/clear_refs", "w", encoding="ascii") as reset:
            reset.write("5")  # the highest memory so far is that of now
        before = self.memory("VmRSS")
        for _ in range(4):
            self.assertEqual(len(self.ask(f"/?{self.url.query}")[1]), page)
        self.assertLess(self.memory("VmHWM") - before, page // 2)

    def test_only_the_address_that_was_printed_is_answered(self):
        token = self.url.query
        self.assertRegex(token, "^token=[0-9a-f]{32}$")
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        for target in "/", f"/?{wrong}", "/?token=", "/data?from=0&to=9", f"/?x{token}":
            self.assertEqual(self.ask(target)[0], 403, target)
        for host in "example.org", f"example.org:{self.url.port}", "127.0.0.1", "":
            self.assertEqual(self.ask(f"/?{token}", Host=host)[0], 403, host)
        for method in "POST", "PUT", "DELETE", "OPTIONS":
            self.assertEqual(self.ask(f"/?{token}", method, "x" * 100000)[0], 405, method)
        self.assertEqual(self.ask(f"/etc/passwd?{token}")[0], 404)

    def test_it_listens_on_this_machine_only(self):
        with open("/proc/net/tcp", encoding="ascii") as table:
            local = [line.split()[1] for line in table if line.split()[3] == "0A"]
        port = f"{self.url.port:04X}"
        self.assertEqual([a for a in local if a.endswith(":" + port)], ["0100007F:" + port])

    def test_a_part_has_its_blocks_and_says_which_part_it_is(self):
        status, text, _ = self.data("from=0&to=99999999999999")
        self.assertEqual(status, 200)
        head = json.loads(re.search(r'id="head">(.*?)</script>', text, re.S).group(1))
        whole = head["sections"]["blocks"]["columns"][0]["count"]
        self.assertEqual(head["window"]["why"], "as asked")
        middle = head["duration"] // 2
        status, text, _ = self.data(f"from={middle}&to={middle}")
        self.assertEqual(status, 200)
        part = json.loads(re.search(r'id="head">(.*?)</script>', text, re.S).group(1))
        self.assertLessEqual(part["sections"]["blocks"]["columns"][0]["count"], whole)
        self.assertEqual(part["report"]["devices"], head["report"]["devices"])

    def test_times_that_are_none_are_refused_in_a_line(self):
        for query in "from=1", "from=5&to=2", "from=-1&to=5", "from=a&to=b", "from=1&to=1e9", \
                     "from=99999999999999999999999&to=3", "from=999999999999999999&to=9999999999999999999":
            status, text, _ = self.data(query)
            self.assertEqual(status, 400, query)
            self.assertEqual(text.count("\n"), 1)

    def test_an_interrupt_ends_it(self):
        with socket.create_connection(("127.0.0.1", self.url.port)):
            self.server.send_signal(signal.SIGINT)
            self.assertEqual(self.server.wait(300), 0)
        with self.assertRaises(OSError):
            self.ask("/")

    def test_a_port_in_use_is_named(self):
        second = subprocess.run([COMMAND, "view", "--serve", "--partial", "--port",
                                 str(self.url.port), self.trace], capture_output=True, text=True,
                                timeout=600, check=False)
        self.assertEqual(second.returncode, 2)
        self.assertIn(f"port {self.url.port}", second.stderr)
        self.assertEqual(second.stdout, "")


unittest.main(argv=sys.argv[:1])
