# SPDX-License-Identifier: Apache-2.0
"""Databases as `nsys export --type sqlite` writes them (schema 3.x, the columns that memory needs), for tests and for
the corpus of tests/fuzz.

    nsys_maker.py FILE
"""
import sqlite3
import sys

MIB = 1 << 20
PID, OTHER = 4242, 4300
SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, totalMemory INTEGER,
    uuid TEXT, cuDevice INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL,
    callchainId INTEGER);
CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL,
    unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER NOT NULL, PRIMARY KEY (id, stackDepth));
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL,
    bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, name TEXT,
    correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
    color INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER);
"""
STRINGS = ["cudaMalloc_v3020", "cudaFree_v3020", "cudaMallocAsync_v11020", "load_weights", "main", "/opt/model/run",
           "/usr/lib/libcudart.so.12", "forward", "cudaMalloc"]
CHAIN = [("cudaMalloc", "/usr/lib/libcudart.so.12"), ("load_weights", "/opt/model/run"), ("main", "/opt/model/run")]


def thread(pid, tid=None):
    return 1 << 48 | pid << 24 | (tid or 0)


# start, device, address, bytes, memKind, operation, name of the call, thread, pool
EVENTS = [
    (1000, 0, 0x700000000, 64 * MIB, 2, 0, "cudaMalloc_v3020", 7, None),
    (3000, 0, 0x710000000, 32 * MIB, 2, 0, "cudaMallocAsync_v11020", 7, 0x90),
    (3500, 0, 0x7f0000000, 8 * MIB, 1, 0, None, 7, None),
    (3600, 1, 0x720000000, 16 * MIB, 4, 0, "cudaMalloc_v3020", 8, None),
    (3700, 0, 0x730000000, 4096, 5, 0, None, 7, None), # a static variable
    (4000, 0, 0x710000000, 32 * MIB, 2, 1, "cudaFree_v3020", 7, 0x90),
    (4500, 0, 0x740000000, 2 * MIB, 2, 1, None, 7, None), # of memory from before the recording
    (9000, 0, 0x750000000, 8 * MIB, 2, 0, "cudaMalloc_v3020", 7, None),
]
RANGES = [ # start, end, type, text, textId, thread, domain
    (0, None, 75, "library", None, 7, 2),
    (2000, 5000, 59, "step 1", None, 7, 0), (2000, 3200, 59, None, "forward", 7, 2), (5000, 9500, 59, "step 2", None, 7, 0),
    (2500, 2500, 59, "empty", None, 7, 0), (2600, 4600, 60, "epoch", None, 7, 0), (2700, None, 34, "mark", None, 7, 0)]


def make(path, without=(), columns=()):
    """*without*: tables that are left out. *columns*: (table, column) likewise."""
    db = sqlite3.connect(path)
    db.executescript("PRAGMA page_size = 512; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;" + SCHEMA)
    ids = {text: i + 40 for i, text in enumerate(STRINGS)}
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, text) for text, i in ids.items()])
    db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1781267898002099210, '', '')")
    db.executemany("INSERT INTO TARGET_INFO_GPU VALUES (1, ?, ?, ?, '', ?)",
                   [(5, "NVIDIA H100", 85 << 30, 0), (6, "NVIDIA H100", 85 << 30, 1)])
    for depth, (function, module) in enumerate(CHAIN):
        db.execute("INSERT INTO CUDA_CALLCHAINS VALUES (3, ?, ?, 0, 0, ?)", (ids[function], ids[module], depth))
    for number, (start, device, addr, size, kind, operation, call, tid, pool) in enumerate(EVENTS, 100):
        db.execute("INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (?,?,?,1,?,0,?,?,?,NULL,?,13,?)",
                   (start, thread(PID), device, addr, size, kind, operation, number, pool))
        for pid in (PID, OTHER) if call else (): # a correlation is that of a process
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,1,?,?,?,?,?)",
                       (start - 10, start + 10, thread(pid, tid if pid == PID else 99), number, ids[call], 0,
                        3 if number == 100 else None))
    for pid in (PID, OTHER, OTHER): # calls that returned out of memory
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (9200,9210,1,?,999,?,2,NULL)", (thread(pid, 7), ids["cudaMalloc"]))
    db.execute("INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1500,?,0,1,4096,0,512,2,0,NULL,NULL,7,NULL)", (thread(OTHER),))
    for start, end, kind, text, text_id, tid, domain in RANGES:
        db.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,?,NULL,NULL,?,?,?,?)",
                   (start, end, kind, text, thread(PID, tid), ids.get(text_id), domain))
    for table in without:
        db.execute(f"DROP TABLE {table}")
    for table, column in columns:
        db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    db.commit()
    db.execute("VACUUM")
    db.close()


if __name__ == "__main__":
    make(sys.argv[1])
