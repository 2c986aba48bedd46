# SPDX-License-Identifier: Apache-2.0
"""The store of a rank alone (python/vramscope/ranks/store.py) knows the keys of earlier ranks.

    check_ranks_store.py PYTHON-FOLDER
"""
import importlib.util
import os
import socket
import struct
import sys
import tempfile
import types

sys.modules["vramscope_values"] = types.SimpleNamespace(notes=types.SimpleNamespace(once=lambda *args: None))
spec = importlib.util.spec_from_file_location("store", os.path.join(
    sys.argv[1], "vramscope", "ranks", "store.py"))
store = importlib.util.module_from_spec(spec)
spec.loader.exec_module(store)


def is_known(server, key):
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(bytes([store._CHECK]) + struct.pack("<QQ", 1, len(key)) + key)
        return client.recv(1) == b"\0"


with tempfile.TemporaryDirectory() as folder:
    first, second = store.Server(2, folder), store.Server(2, folder)
    for key in (b"hosts/0", b"epoch:1", b"go"):
        assert not is_known(second, key), key
        first._set(key, b"value")
        assert is_known(second, key) and second._get(key) == b"value", key
    # NCCL's ids are never those of an earlier rank
    for key in (b"default_pg//cuda//0", b"2//cuda//0:1", b"x/nccl_storekey_1", b"UniqueNCCLID:4"):
        first._set(key, b"id")
        assert second._get(key) == b"\1" * 128, key
    assert second._get(b"hosts/7") == b""
