# SPDX-License-Identifier: Apache-2.0
"""The store of a rank alone: a server that speaks the protocol of PyTorch's TCPStore, on a thread.

All users in C++ reach it through their own clients (clone, check, PrefixStore, ProcessGroupNCCL's
watchdog). The other ranks are taken to do what this one does: a key that only they would set is there
when it is waited for, and counters of arrivals are full. Keys that an earlier rank set are
read from its file.
"""
import os
import re
import socket
import struct
import threading
import urllib.parse

from vramscope_values import notes

_UNIQUE_ID = re.compile(
    r"//cuda//\d+(:\d+)?$|(^|/)(nccl_storekey_|UniqueNCCLID:).*$")  # where PyTorch keeps NCCL's ids
_KEPT_BYTES = 1 << 16

(_VALIDATE, _SET, _COMPARE_SET, _GET, _ADD, _CHECK, _WAIT, _COUNT, _DELETE, _APPEND, _MULTI_GET,
 _MULTI_SET, _CANCEL_WAIT, _PING, _PUSH, _POP, _LENGTH) = range(17)


class Server:
    def __init__(self, world, folder):
        self.world = world
        self.folder = folder
        self.values = {}
        self.queues = {}
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            client = self.listener.accept()[0]
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        stream = client.makefile("rb")

        def number(layout="<Q"):
            return struct.unpack(layout, stream.read(struct.calcsize(layout)))[0]

        def text():
            return stream.read(number())

        def texts():
            return [text() for _ in range(number())]

        def reply(*values):
            client.sendall(b"".join(struct.pack("<Q", len(v)) + v if isinstance(v, bytes)
                                    else struct.pack("<q", v) for v in values))

        try:
            while True:
                kind = stream.read(1)
                if not kind:
                    return
                kind = kind[0]
                if kind == _VALIDATE:
                    number("<I")
                elif kind == _PING:
                    client.sendall(stream.read(4))
                elif kind == _SET:
                    self._set(text(), text())
                elif kind == _COMPARE_SET:
                    reply(self._compare_set(text(), text(), text()))
                elif kind == _GET:
                    reply(self._get(text()))
                elif kind == _ADD:
                    reply(self._add(text(), number("<q")))
                elif kind == _CHECK:  # 0: all are there; keys of others are not
                    client.sendall(bytes([not all(self._is_known(key) for key in texts())]))
                elif kind == _WAIT:
                    texts()
                    client.sendall(b"\0")
                elif kind == _COUNT:
                    reply(len(self.values))
                elif kind == _DELETE:
                    reply(int(self.values.pop(text(), None) is not None))
                elif kind == _APPEND:
                    key = text()
                    self._set(key, self.values.get(key, b"") + text())
                elif kind == _MULTI_GET:
                    reply(*[self._get(key) for key in texts()])
                elif kind == _MULTI_SET:
                    for _ in range(number()):
                        self._set(text(), text())
                elif kind == _PUSH:
                    self.queues.setdefault(text(), []).append(text())
                elif kind == _POP:
                    reply(self.queues.get(text(), [b""]).pop(0))
                elif kind == _LENGTH:
                    reply(len(self.queues.get(text(), ())))
                else:
                    notes.once("unanswered", "store", f"request {kind} of PyTorch's store")
                    return
        except (OSError, struct.error):
            pass
        finally:
            client.close()

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
