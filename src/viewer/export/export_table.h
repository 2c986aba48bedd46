/* SPDX-License-Identifier: Apache-2.0
 *
 * The formats of `vramscope export`. VS_EXPORT_FORMAT(id, name, extension, options, help): the
 * format is written by vs_export_id (export.h), in a file export_*.c of this folder or in a folder
 * of its own; *options* are those it has a use for, *help* is one line. The help of the verb, its
 * messages and the check of its manual read this table. No include guard: included with
 * VS_EXPORT_FORMAT defined by each user. */
VS_EXPORT_FORMAT(chrome, "chrome", "json",
                 VS_EXPORT_SPAN | VS_EXPORT_MIN_BYTES | VS_EXPORT_ALL_POINTS | VS_EXPORT_MAX_SIZE,
                 "timeline for ui.perfetto.dev and chrome://tracing")
VS_EXPORT_FORMAT(perfetto, "perfetto", "pftrace",
                 VS_EXPORT_SPAN | VS_EXPORT_MIN_BYTES | VS_EXPORT_ALL_POINTS | VS_EXPORT_MAX_SIZE,
                 "the same timeline for ui.perfetto.dev, in its own format")
VS_EXPORT_FORMAT(flamegraph, "flamegraph", "svg",
                 VS_EXPORT_SPAN | VS_EXPORT_AT | VS_EXPORT_BY | VS_EXPORT_INVERTED | VS_EXPORT_DEVICE,
                 "interactive flame graph for a browser")
VS_EXPORT_FORMAT(collapsed, "collapsed", "txt",
                 VS_EXPORT_SPAN | VS_EXPORT_AT | VS_EXPORT_BY | VS_EXPORT_INVERTED | VS_EXPORT_DEVICE,
                 "stacks for flamegraph.pl and similar tools")
VS_EXPORT_FORMAT(speedscope, "speedscope", "json",
                 VS_EXPORT_SPAN | VS_EXPORT_AT | VS_EXPORT_INVERTED | VS_EXPORT_DEVICE,
                 "profile for speedscope.app")
VS_EXPORT_FORMAT(pprof, "pprof", "pb.gz", VS_EXPORT_SPAN | VS_EXPORT_AT | VS_EXPORT_DEVICE,
                 "profile for pprof (go tool pprof)")
VS_EXPORT_FORMAT(csv, "csv", "csv", VS_EXPORT_SPAN | VS_EXPORT_DEVICE,
                 "a line for each allocation, for spreadsheets")
VS_EXPORT_FORMAT(sqlite, "sqlite", "db", VS_EXPORT_SPAN | VS_EXPORT_DEVICE,
                 "database with a row for each allocation, for SQL")
VS_EXPORT_FORMAT(parquet, "parquet", "parquet", VS_EXPORT_SPAN | VS_EXPORT_DEVICE | VS_EXPORT_JOB | VS_EXPORT_FOLDER,
                 "folder of tables of many jobs, for DuckDB and Spark")
VS_EXPORT_FORMAT(json, "json", "jsonl", VS_EXPORT_SPAN,
                 "every event as a line of JSON, for programs")
VS_EXPORT_FORMAT(torch_snapshot, "torch-snapshot", "pickle", VS_EXPORT_SPAN,
                 "memory snapshot for pytorch.org/memory_viz")
VS_EXPORT_FORMAT(rmm_csv, "rmm-csv", "csv", VS_EXPORT_SPAN | VS_EXPORT_DEVICE,
                 "log of allocations for RMM's replay benchmark")
