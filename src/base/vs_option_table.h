/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of options. VS_OPTION(name, type, default, min, max, unit, help)
 * gives each option its environment variable (VRAMSCOPE_<NAME>), its flag for
 * `vramscope run` (--<name>, '_' written '-'), its parser and its line in
 * `vramscope options`. *type* is STRING, BOOL, COUNT, SIZE, CHOICE, LIMIT or STEPS; for
 * CHOICE *unit* lists the words, separated by '|', for BOOL it is a third word,
 * which means more than "on" and has the number 2. min and max bound COUNT and
 * SIZE. No include guard: included with VS_OPTION defined by each user. */
VS_OPTION(record, BOOL, "on", 0, 0, "",
          "write a trace; off: memory is served and counted as usual, but nothing is written")
VS_OPTION(output, STRING, VS_OUTPUT_DEFAULT, 0, 0, "pattern",
          "trace file; %n program, %p pid, %h host, %r rank")
VS_OPTION(job, STRING, "", 0, 0, "name",
          "the job that the process belongs to, for tables of many; by default SLURM_JOB_ID, PBS_JOBID or LSB_JOBID")
VS_OPTION(allocator, CHOICE, "auto", 0, 0, "auto|caching|observe",
          "serve cudaMalloc from a cache, or only record; auto: caching, but observe under PyTorch and other "
          "frameworks with a pool, with --limit, and on a simulated GPU with check= or fail=")
VS_OPTION(policy, CHOICE, "pytorch", 0, 0, policy_choices,
          "how the cache places blocks: by PyTorch's rules, or more densely")
VS_OPTION(alloc_conf, STRING, "", 0, 0, "options",
          "options of the cache in PyTorch's syntax, such as expandable_segments:True")
VS_OPTION(ipc, CHOICE, "auto", 0, 0, "auto|always",
          "always: any process can open handles of cudaIpcGetMemHandle; auto: after the first export")
VS_OPTION(limit, LIMIT, "", 0, 0, "bytes",
          "limit the memory of each device: 8GiB, 50%, or per device 0:8GiB,1:16GiB")
VS_OPTION(stacks, CHOICE, "both", 0, 0, "both|native|python|none",
          "call stacks recorded with each allocation: native frames, Python frames, or both")
VS_OPTION(stack_depth, COUNT, "64", 1, 128, "frames", "most frames recorded of a stack")
VS_OPTION(min_size, SIZE, "0", 0, UINT64_C(1) << 50, "bytes",
          "count smaller allocations without an event or stack; totals and peaks stay exact")
VS_OPTION(sample, COUNT, "1", 1, 1000000, "allocations",
          "record 1 allocation in N; figures by site are estimates, totals and peaks stay exact")
VS_OPTION(sample_seed, COUNT, "0", 0, 1000000000, "",
          "seed that selects which allocation of each group is recorded")
VS_OPTION(max_trace_size, SIZE, "0", UINT64_C(1) << 20, UINT64_C(1) << 50, "bytes",
          "largest trace; drops kernels, then new stacks, then all but totals and peaks; 0: no limit")
VS_OPTION(kernels, BOOL, "on", 0, 0, "api",
          "record kernels, copies, memsets and waits; api: also each call of CUDA, with call stacks of what begins work")
VS_OPTION(kernels_steps, STEPS, "", 0, 0, "steps",
          "record kernels of these steps only: 10-12, or wait=5,warmup=1,active=2,repeat=3 as in torch.profiler")
VS_OPTION(kernels_range, STRING, "", 0, 0, "name", "record kernels only inside NVTX ranges with this name")
VS_OPTION(kernels_signal, CHOICE, "none", 0, 0, "none|USR1|USR2|SIGUSR1|SIGUSR2",
          "record kernels only between two of these signals; not where the program handles the signal itself")
VS_OPTION(copy_stacks, BOOL, "off", 0, 0, "", "record the call stack of each copy; included in kernels=api")
VS_OPTION(modules, BOOL, "off", 0, 0, "",
          "record which module of PyTorch (nn.Module) allocates and owns each tensor, for report --by module")
VS_OPTION(pools, BOOL, "off", 0, 0, "",
          "record each array in the memory pool of CuPy (Python part)")
VS_OPTION(nvtx, BOOL, "on", 0, 0, "", "record NVTX ranges and marks")
VS_OPTION(compression, COUNT, "1", 0, 19, "zstd level", "trace compression level; 0: no compression")
VS_OPTION(flush_ms, COUNT, "1000", 10, 60000, "ms", "longest time an event stays uncompressed in FILE.live")
VS_OPTION(sample_ms, COUNT, "100", 1, 60000, "ms",
          "minimum time between two readings of the device's free memory")
VS_OPTION(nvml, BOOL, "on", 0, 0, "", "query NVML from time to time for the processes that use the device")
VS_OPTION(debug_dir, STRING, "", 0, 0, "folders",
          "folders searched for debug files before /usr/lib/debug, separated by ':'")
VS_OPTION(library, STRING, "", 0, 0, "prefixes",
          "code named as a library's: prefixes of folders, files, objects or functions, separated by ','")
VS_OPTION(symbol_cache, BOOL, "on", 0, 0, "",
          "cache function names in ~/.cache/vramscope/symbols")
VS_OPTION(symbol_seconds, COUNT, "20", 0, 86400, "s",
          "time limit for reading function names; 0: no limit")
VS_OPTION(symbolize, BOOL, "off", 0, 0, "",
          "run: write function names into each trace at the end (vramscope symbolize)")
VS_OPTION(log, CHOICE, "warn", 0, 0, "error|warn|info|debug", "messages on standard error")
VS_OPTION(via, CHOICE, "preload", 0, 0, "preload|injection",
          "how run loads the library: LD_PRELOAD, or CUDA's injection, which only records")
VS_OPTION(manifest, STRING, "", 0, 0, "file",
          "existing file; each process appends the path of its trace, or ! if it could not record")
VS_OPTION(simulate, STRING, "", 0, 0, "device",
          "run on a simulated GPU, such as h100-80g or t4-16g,capacity=2GiB")
VS_OPTION(simulate_notes, STRING, "", 0, 0, "file",
          "existing file; each process on a simulated GPU appends what it assumed or could not do")
VS_OPTION(values, SIZE, "1MiB", 0, UINT64_C(1) << 40, "bytes, or off",
          "on a simulated GPU, compute PyTorch's tensors of at most this size on the CPU")
VS_OPTION(changes, STRING, "", 0, 0, "changes",
          "on a simulated GPU, change the PyTorch program from outside, as fused;checkpoint:path=blocks")
VS_OPTION(survey, STRING, "", 0, 0, "file",
          "on a simulated GPU, write what could be changed in the PyTorch program as JSON; %p pid")
