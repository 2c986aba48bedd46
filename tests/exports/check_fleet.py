#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of many traces, read by an engine: the queries of examples/fleet find what was put into the traces.

    check_fleet.py COMMAND MAKER RANDOM_TRACE ROOT [TRACES [ENGINE [FOLDER]]]

TRACES: 100 where not given; ENGINE: duckdb, spark or dask (the latter reads and sums only); FOLDER keeps traces and
tables, and is used again. Prints sizes and times. Exit 1 and a line per problem; 77: DuckDB is missing.
"""
import concurrent.futures
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "check"))
import format_parsers  # noqa: E402
from recorded import Problems  # noqa: E402

RANKS, STEPS, MIB = 4, 8, 1 << 20
TABLES = ("allocations", "peaks", "sites", "steps", "failures")
TEAMS = ("speech", "search", "vision", "robots", "maps")


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def duckdb_engine(folder):
    import duckdb
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    for table in TABLES:
        db.execute(f"CREATE VIEW {table} AS FROM read_parquet('{folder}/tables/*/{table}.parquet')")
    db.execute(f"CREATE VIEW jobs AS SELECT CAST(job AS VARCHAR) AS job, team FROM read_csv('{folder}/jobs.csv')")
    return lambda query: db.execute(query).fetchall()


def spark_engine(folder):
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
        "spark.sql.session.timeZone", "UTC").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for table in TABLES:
        spark.read.parquet(f"{folder}/tables/*/{table}.parquet").createOrReplaceTempView(table)
    spark.read.csv(f"{folder}/jobs.csv", header=True).createOrReplaceTempView("jobs")
    return lambda query: [tuple(row) for row in spark.sql(query.rstrip(" \n;")).collect()]


def model(job, rank):
    return 1024 + job % 7 * 100 + (2048 if job % 25 == 7 and rank == 3 else 0)


def rank_of(job, rank):
    return None if job % 40 == 24 and rank == 0 else rank


def peak(job, rank):
    return model(job, rank) + (512 if job % 2 else 256) + 700 + (64 * STEPS if job % 20 == 4 and rank == 0 else 0)


def usual(job):
    return statistics.median(peak(job, rank) for rank in range(RANKS))


def check_queries(problems, ask, queries, jobs, times):
    def result(name):
        begin = time.monotonic()
        rows = ask(queries[name])
        times.append(f"{name} {time.monotonic() - begin:.2f} s")
        return rows

    ranks = [(job, rank) for job in range(jobs) for rank in range(RANKS)]
    wanted = {}
    for job, rank in ranks:
        wanted.setdefault(TEAMS[job % 5], []).append((12 if job % 5 == 2 else 9) - peak(job, rank) / 1024)
    found = result("unused memory by team")
    problems.same("unused memory", {team: (gpus, round(gib, 6)) for team, gpus, gib, _ in found},
                  {team: (len(each), round(sum(each) / len(each), 6)) for team, each in wanted.items()})
    problems.same("the team that wastes most", found[0][0], "vision")
    found = [(program, site.split(" ")[0], mib, before) for program, site, mib, before in result("growth since last week")]
    problems.same("site that grew", found[:1], [("train.py", "load_batch", 512.0, 256.0)])
    found = {(job, rank, mib, mib_usual) for job, rank, _, mib, mib_usual in result("outliers")}
    far = [(str(job), rank_of(job, rank), float(peak(job, rank)), float(usual(job)))
           for job, rank in ranks if abs(peak(job, rank) - usual(job)) > 0.1 * usual(job)]
    problems.same("outliers", (len(found), found <= set(far)), (min(10, len(far)), True))
    failed = [(str(job), rank_of(job, 0), 80000.0, 64.0 * STEPS + model(job, 0), 1, 64.0, "grows") for job in range(4, jobs, 20)]
    problems.same("failures", [row[:2] + tuple(map(float, row[3:5])) + row[5:] for row in result("failures and causes")],
                  sorted(failed))
    found = result("growth")
    problems.same("growth", {(job, rank, round(mib, 6)) for job, rank, mib, _ in found} <= {
        (str(job), rank_of(job, 0), 64.0) for job in range(4, jobs, 20)}, True)
    problems.same("jobs that grow", len(found), min(10, len(failed)))
    rows = result("sums")
    problems.same("allocations", rows, [(len(ranks) * (2 * STEPS + 1) + len(failed) * STEPS, sum(
        model(*r) + STEPS * (peak(*r) - model(*r) - (64 * STEPS if r[0] % 20 == 4 and r[1] == 0 else 0))
        for r in ranks) * MIB + len(failed) * 64 * STEPS * MIB)])


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_rows(problems, command, traces, folder):
    """Every row of tables is one of the database."""
    import duckdb
    for trace in traces:
        run(command, "export", "-f", "sqlite", "-o", folder / "rows.db", "--partial", trace)
        run(command, "export", "-f", "parquet", "-o", folder / "rows", "--job", os.fsdecode(b"7\xff"), "--partial", trace)
        with sqlite3.connect(folder / "rows.db") as db:
            for table, columns, joined in (
                    ("steps", "step, start_event, start_ns, end_event, end_ns, end_bytes", "steps"),
                    ("peaks", "device, name, uuid, total_bytes, peak_bytes, peak_event, peak_reserved_bytes, end_bytes", "devices"),
                    ("failures", "event, time_ns, device, requested, allocated, reserved, recovered, {}label AS site", "failures"),
                    ("allocations", "device, address, requested, size, born_event, born_ns, end{}ed, end_event, end_ns, "
                     "{}label AS site, library, {}path AS phase, step, kind, family, stream, context, thread, module, pass",
                     "allocations LEFT JOIN sites USING (site) LEFT JOIN phases USING (phase)")):
                wanted = db.execute("SELECT " + columns.replace("{}ed", " AS ended").replace("{}", "") + f" FROM {joined}").fetchall()
                names = re.sub(r"\{\}\w+ AS ", "", columns).replace("{}", "")
                found = duckdb.sql(f"SELECT {names} FROM '{folder}/rows/{table}.parquet' WHERE job = '7\ufffd'").fetchall()
                problems.same(f"{trace}: {table}", len(found), len(wanted))
                problems.true(f"{trace}: rows of {table}", sorted(map(repr, found)) == sorted(map(repr, wanted)))
    planted = folder / "planted"
    planted.write_text("of another user")
    done = subprocess.run(["sh", "-c", 'ln -s "$3" "$2/.peaks.parquet.$$.new"; ln -s "$3" "$2/.peaks.parquet.$$"; '
                           'exec "$0" export -f parquet -o "$2" "$1"', command, traces[1], folder / "rows", planted], check=False)
    problems.same("a planted link", (done.returncode, planted.read_text()), (0, "of another user"))
    whole = traces[1].read_bytes()
    (folder / "cut.vst").write_bytes(whole[:len(whole) * 2 // 3])
    before = contents(folder / "rows")
    refused = subprocess.run([command, "export", "-f", "parquet", "-o", folder / "rows", folder / "cut.vst"], check=False,
                             stderr=subprocess.PIPE, text=True)
    problems.same("a damaged trace", (refused.returncode, "is cut off" in refused.stderr), (2, True))
    problems.true("the tables are unchanged then", contents(folder / "rows") == before)


def check_dask(problems, folder, jobs):
    import dask.dataframe
    peaks = dask.dataframe.read_parquet(sorted(map(str, folder.glob("tables/*/peaks.parquet"))))
    found = peaks.groupby("rank").peak_bytes.sum().compute().to_dict()
    problems.same("sum of peaks by rank", found,
                  {r: sum(peak(j, r) for j in range(jobs) if rank_of(j, r) == r) * MIB for r in range(RANKS)})


def check(command, maker, random_trace, root, traces, engine, folder):
    problems, jobs, times = Problems(), traces // RANKS, []
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "jobs.csv").write_text("job,team\n" + "".join(f"{job},{TEAMS[job % 5]}\n" for job in range(jobs)))
    if not (folder / "tables").exists():
        run(maker, folder / "traces", 0, jobs)
        (folder / "tables").mkdir()
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(lambda job: run(command, "merge", *(folder / f"traces/{job}.{rank}.vst" for rank in range(RANKS)),
                                          "-f", "parquet", "-o", folder / f"tables/{job}"), range(jobs)))
        times.append(f"tables {time.monotonic() - begin:.2f} s")
    for table in TABLES:
        times.append(f"{table} {sum(f.stat().st_size for f in folder.glob(f'tables/*/{table}.parquet'))} bytes")
    text = pathlib.Path(root, "examples/fleet/README.md").read_text()
    queries = dict(re.findall(r"```sql\n-- ([^\n]+)\n(.*?)```", text, flags=re.S))
    queries["sums"] = "SELECT count(*), CAST(sum(size) AS BIGINT) FROM allocations"
    if engine == "dask":
        check_dask(problems, folder, jobs)
    else:
        ask = {"duckdb": duckdb_engine, "spark": spark_engine}[engine](folder)
        check_queries(problems, ask, queries, jobs, times)
    if engine == "duckdb":
        run(random_trace, 3, 4000, 1, folder / "random.vst")
        check_rows(problems, command, (folder / "random.vst", folder / "traces/4.0.vst"), folder)
    print(f"{traces} traces:", ", ".join(times))
    return problems.finish()


def main():
    command, maker, random_trace, root = sys.argv[1:5]
    traces = int(sys.argv[5]) if len(sys.argv) > 5 else 100
    engine = sys.argv[6] if len(sys.argv) > 6 else "duckdb"
    if engine == "duckdb":
        format_parsers.DUCKDB.require("VS_DUCKDB_STARTED", "tests/check/format_parsers.py")
    if len(sys.argv) > 7:
        os.makedirs(sys.argv[7], exist_ok=True)
        return check(command, maker, random_trace, root, traces, engine, pathlib.Path(sys.argv[7]))
    with tempfile.TemporaryDirectory() as folder:
        return check(command, maker, random_trace, root, traces, engine, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
