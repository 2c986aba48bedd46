# SPDX-License-Identifier: Apache-2.0
"""The store of a rank alone: a server that speaks the protocol of PyTorch's TCPStore, on a thread.

All users in C++ reach it through their own clients (clone, check, PrefixStore, ProcessGroupNCCL's
watchdog). The other ranks are taken to do what this one does: a key that only they would set is there
when it is waited for, and counters of arrivals are full. Keys that an earlier rank set are
read from its file.
"""
import os
import re
import socketserver
import struct
import threading
import urllib.parse

from vramscope_values import notes

_UNIQUE_ID = re.compile(
    r"//cuda//\d+(:\d+)?$|(^|/)(nccl_storekey_|UniqueNCCLID:).*$")  # where PyTorch keeps NCCL's ids
_KEPT_BYTES = 1 << 16

(_VALIDATE, _SET, _COMPARE_SET, _GET, _ADD, _CHECK, _WAIT, _COUNT, _DELETE, _APPEND, _MULTI_GET,
 _MULTI_SET, _CANCEL_WAIT, _PING, _PUSH, _POP, _LENGTH) = range(17)


def _packed(*values):
    return b"".join(struct.pack("<Q", len(v)) + v if isinstance(v, bytes) else struct.pack("<q", v) for v in values)


_ANSWERS = {  # by request: what is sent for it, if anything
    _VALIDATE: lambda client, store: client.rfile.read(4)[4:],
    _PING: lambda client, store: client.rfile.read(4),
    _SET: lambda client, store: store._set(client.text(), client.text()),
    _COMPARE_SET: lambda client, store: _packed(store._compare_set(client.text(), client.text(), client.text())),
    _GET: lambda client, store: _packed(store._get(client.text())),
    _ADD: lambda client, store: _packed(store._add(client.text(), client.number("<q"))),
    # 0: all are there; keys of others are not
    _CHECK: lambda client, store: bytes([not all(map(store._is_known, client.texts()))]),
    _WAIT: lambda client, store: (client.texts(), b"\0")[1],
    _COUNT: lambda client, store: _packed(len(store.values)),
    _DELETE: lambda client, store: _packed(int(store.values.pop(client.text(), None) is not None)),
    _APPEND: lambda client, store: store._append(client.text(), client.text()),
    _MULTI_GET: lambda client, store: _packed(*map(store._get, client.texts())),
    _MULTI_SET: lambda client, store: store._set_all([(client.text(), client.text()) for _ in range(client.number())]),
    _PUSH: lambda client, store: store.queues.setdefault(client.text(), []).append(client.text()),
    _POP: lambda client, store: _packed(store.queues.get(client.text(), [b""]).pop(0)),
    _LENGTH: lambda client, store: _packed(len(store.queues.get(client.text(), ()))),
}


class _Client(socketserver.StreamRequestHandler):
    """The requests of one client, until it goes."""
    disable_nagle_algorithm = True

    def number(self, layout="<Q"):
        return struct.unpack(layout, self.rfile.read(struct.calcsize(layout)))[0]

    def text(self):
        return self.rfile.read(self.number())

    def texts(self):
        return [self.text() for _ in range(self.number())]

    def handle(self):
        try:
            while kind := self.rfile.read(1):
                if kind[0] not in _ANSWERS:
                    notes.once("unanswered", "store", f"request {kind[0]} of PyTorch's store")
                    return
                self.wfile.write(_ANSWERS[kind[0]](self, self.server) or b"")
        except (OSError, struct.error):
            pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads, request_queue_size = True, 64

    def __init__(self, world, folder):
        super().__init__(("127.0.0.1", 0), _Client)
        self.world, self.folder = world, folder
        self.values, self.queues = {}, {}
        self.lock = threading.Lock()
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def _file(self, key):
        name = urllib.parse.quote(key.decode(errors="replace"), safe="")
        return os.path.join(self.folder, "key." + name[-200:])

    def _is_known(self, key):
        return key in self.values or os.path.exists(self._file(key))

    def _set(self, key, value):
        with self.lock:
            self.values[key] = value
        if len(value) <= _KEPT_BYTES and not _UNIQUE_ID.search(key.decode(errors="replace")):
            write_whole(self._file(key), value)

    def _set_all(self, pairs):
        for key, value in pairs:
            self._set(key, value)

    def _append(self, key, value):
        self._set(key, self.values.get(key, b"") + value)

    def _compare_set(self, key, expected, value):
        with self.lock:
            present = self.values.get(key)
            if present is None and not expected or present == expected:
                self.values[key] = value
            return self.values.get(key, expected)

    def _get(self, key):
        value = self.values.get(key)
        if value is not None:
            return value
        name = key.decode(errors="replace")
        try:
            with open(self._file(key), "rb") as f:
                return f.read()
        except OSError:
            if _UNIQUE_ID.search(name):
                return b"\1" * 128
            notes.once("unanswered", "store", f"key {name}, which another rank sets: read as empty")
            return b""

    def _add(self, key, amount):
        """A look at a counter (0 is added) sees the numbers that the others would have added, too."""
        with self.lock:
            total = int(self.values.get(key, b"0")) + amount
            self.values[key] = str(total).encode()
        return total if amount else total * self.world


def write_whole(path, data):
    """Others see the whole file or none."""
    try:
        with open(f"{path}.{os.getpid()}.new", "wb") as f:
            f.write(data)
        os.replace(f.name, path)
    except OSError:
        pass  # a value less for later ranks
