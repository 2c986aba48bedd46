/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of options. VS_OPTION(name, type, default, min, max, unit, help)
 * gives each option its environment variable (VRAMSCOPE_<NAME>), its flag for
 * `vramscope run` (--<name>, '_' written '-'), its parser and its line in
 * `vramscope options`. *type* is STRING, BOOL, COUNT, SIZE, CHOICE or LIMIT; for
 * CHOICE *unit* lists the words, separated by '|'. min and max bound COUNT and
 * SIZE. No include guard: included with VS_OPTION defined by each user. */
VS_OPTION(record, BOOL, "on", 0, 0, "",
          "write a trace; off: device memory is served as usual, statistics kept, nothing written")
VS_OPTION(output, STRING, "vramscope.%n.%p.vst", 0, 0, "pattern",
          "trace file; %n program, %p pid, %h host, %r rank")
VS_OPTION(allocator, CHOICE, "auto", 0, 0, "auto|caching|observe",
          "serve device memory from the cache, or only watch; auto: caching, except under PyTorch")
VS_OPTION(policy, CHOICE, "pytorch", 0, 0, "pytorch|compact",
          "how the cache places memory: by PyTorch's rules, or in less of it")
VS_OPTION(plan, STRING, "", 0, 0, "file",
          "place memory by this plan (vramscope plan); run also takes a trace; with policy compact")
VS_OPTION(alloc_conf, STRING, "", 0, 0, "options",
          "the cache's options as PyTorch writes them, such as expandable_segments:True")
VS_OPTION(ipc, CHOICE, "auto", 0, 0, "auto|always",
          "always: any process can open cudaIpcGetMemHandle's memory; auto: after a first export")
VS_OPTION(limit, LIMIT, "", 0, 0, "bytes",
          "let each device seem this big: 8GiB, 50%, or by device 0:8GiB,1:16GiB")
VS_OPTION(stacks, CHOICE, "both", 0, 0, "both|native|python|none",
          "call stacks recorded with each allocation: native frames, Python's, or both in place")
VS_OPTION(stack_depth, COUNT, "64", 1, 128, "frames", "deepest stack kept")
VS_OPTION(min_size, SIZE, "0", 0, UINT64_C(1) << 50, "bytes",
          "smaller allocations are only counted: no event, no stack; totals and peaks stay exact")
VS_OPTION(sample, COUNT, "1", 1, 1000000, "allocations",
          "record one allocation of so many; by site estimates, totals and peaks stay exact")
VS_OPTION(sample_seed, COUNT, "0", 0, 1000000000, "",
          "which allocation of each group is the sample; another seed, another choice")
VS_OPTION(max_trace_size, SIZE, "0", UINT64_C(1) << 20, UINT64_C(1) << 50, "bytes",
          "largest trace; ends kernels, then new stacks, then all but totals and peaks; 0: no limit")
VS_OPTION(kernels, BOOL, "on", 0, 0, "", "record kernels, copies and memsets through CUPTI")
VS_OPTION(nvtx, BOOL, "on", 0, 0, "", "record NVTX ranges and marks")
VS_OPTION(compression, COUNT, "1", 0, 19, "zstd level", "trace compression; 0 stores plainly")
VS_OPTION(flush_ms, COUNT, "1000", 10, 60000, "ms", "longest time an event stays uncompressed")
VS_OPTION(sample_ms, COUNT, "100", 1, 60000, "ms",
          "least time between two readings of the device's free memory")
VS_OPTION(nvml, BOOL, "on", 0, 0, "", "ask NVML which processes use the device, now and then")
VS_OPTION(debug_dir, STRING, "", 0, 0, "folders",
          "where debug files are looked for, with ':' between, before /usr/lib/debug")
VS_OPTION(symbol_cache, BOOL, "on", 0, 0, "",
          "keep names of functions in ~/.cache/vramscope/symbols, once read")
VS_OPTION(symbol_seconds, COUNT, "20", 0, 86400, "s",
          "longest time for reading names of functions; 0: no limit")
VS_OPTION(symbolize, BOOL, "off", 0, 0, "",
          "run: write names of functions into each trace at the end (vramscope symbolize)")
VS_OPTION(log, CHOICE, "warn", 0, 0, "error|warn|info|debug", "messages on standard error")
VS_OPTION(via, CHOICE, "preload", 0, 0, "preload|injection",
          "how run gets in: before the program, or by CUDA's injection, which only observes")
VS_OPTION(manifest, STRING, "", 0, 0, "file",
          "existing file to which each process appends its trace's path, or ! if it could not record")
VS_OPTION(simulate, STRING, "", 0, 0, "device",
          "run on a simulated GPU, such as h100-80g or t4-16g,capacity=2GiB")
