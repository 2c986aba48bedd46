/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table of event kinds: VS_EVENT(code, name, PROPERTIES, FIELDS). *code* is stored in the
 * file (never reused, never renumbered). PROPERTIES is a list of P(property), see enum
 * vs_event_property (event.h); code that handles some kinds differently tests a property and keeps
 * no list of kinds. FIELDS is a list of F(field, codec) in file order. Codecs:
 *   U    unsigned varint
 *   S    signed, zigzag varint
 *   A    address: zigzag varint of the difference to the previous address field
 *   T    time in ns: zigzag varint of the difference to the previous T field
 *   STR  string id (0 = none), as U; the string was defined earlier
 *   STK  stack id (0 = none), as U; the node was defined earlier
 * Every event also has its own time and thread (event.h). Codes 0 and 56-59 are not available for
 * this table: a record never begins with 0, and 56-59 are the definition records (format.h). Fields
 * may only be appended to a kind. No include guard: each user defines VS_EVENT and includes it.
 * docs/internals/trace-format.md gives the meaning of each field. */

/* --- processes, threads, devices: written before anything refers to them --- */
VS_EVENT(1, process, P(HEAD) P(STATE),
         F(pid, U) F(ppid, U) F(start_realtime_ns, U) F(start_ns, U) F(exe, STR) F(cmdline, STR)
         F(host, STR) F(version, STR) F(policy, STR) F(page_bytes, U) F(born_ns, U)
         F(parent_born_ns, U) F(boot, STR) F(lineage, STR))
VS_EVENT(2, option, P(HEAD) P(STATE), F(name, STR) F(value, STR))
VS_EVENT(3, device, P(STATE) P(NUMBERED),
         F(device, U) F(name, STR) F(uuid, STR) F(total_bytes, U) F(sm_count, U) F(cc_major, U)
         F(cc_minor, U) F(simulated, U) F(driver_version, U))
VS_EVENT(4, context, P(SUMS_FIRST) P(STATE) P(NUMBERED),
         F(context, U) F(device, U) F(handle, U) F(primary, U) F(alive, U))
VS_EVENT(5, stream, P(STATE) P(NUMBERED),
         F(stream, U) F(device, U) F(handle, U) F(name, STR) F(alive, U))
VS_EVENT(6, thread, P(STATE) P(NUMBERED), F(tid, U) F(name, STR))
/* A loaded object; offset = pc - base is an address in the object file. With a function: a Python
 * function, path is its source file and the offset of its frames is the line. */
VS_EVENT(7, module, P(HEAD),
         F(module, U) F(base, U) F(start, U) F(end, U) F(path, STR) F(build_id, STR) F(alive, U)
         F(function, STR))

/* Sums of the changes without events of their own since the previous such event of the same
 * account: allocations and frees, the change of reserved, and how far above their earlier values
 * the family's live bytes and the account's allocated, requested and reserved bytes rose in
 * between. enum vs_level, enum vs_why (event.h) */
VS_EVENT(8, unrecorded, P(KEPT),
         F(level, U) F(why, U) F(device, U) F(family, U) F(allocs, U) F(requested, U) F(size, U)
         F(frees, U) F(freed_requested, U) F(freed_size, U) F(reserved, S) F(family_peak, U)
         F(peak_allocated, U) F(peak_requested, U) F(peak_reserved, U) F(peak_ns, T))
/* the selection from here on: enum vs_recording (event.h) */
VS_EVENT(9, recording_changed, P(HEAD) P(KEPT),
         F(what, U) F(min_size, U) F(sample, U) F(seed, U) F(limit_bytes, U) F(file_bytes, U))

/* --- memory --- */
/* requested = bytes that the program asked for, size = bytes of the block */
VS_EVENT(16, alloc, P(ALLOCATES) P(KEPT),
         F(addr, A) F(requested, U) F(size, U) F(family, U) F(device, U) F(context, U) F(stream, U)
         F(api, STR) F(stack, STK))
VS_EVENT(17, free, P(FREES) P(KEPT), F(addr, A) F(device, U) F(stream, U) F(api, STR) F(stack, STK))
VS_EVENT(18, alloc_failed, P(SUMS_FIRST) P(FAILS) P(KEPT_IF_ROOM),
         F(requested, U) F(family, U) F(device, U) F(context, U) F(stream, U) F(api, STR) F(stack, STK)
         F(error, U) F(device_free_bytes, U) F(device_total_bytes, U))
/* device memory reserved by the caching allocator; its blocks are `alloc` events */
VS_EVENT(19, segment_alloc, P(ALLOCATES) P(KEPT),
         F(addr, A) F(size, U) F(device, U) F(context, U) F(stream, U) F(pool, U) F(stack, STK))
VS_EVENT(20, segment_free, P(FREES) P(KEPT), F(addr, A) F(size, U) F(device, U))
/* the framework's own allocator above the device's (PyTorch): second level */
VS_EVENT(21, framework_alloc, P(ALLOCATES) P(KEPT),
         F(addr, A) F(size, U) F(device, U) F(total_allocated, U) F(total_reserved, U) F(stack, STK)
         F(framework_stream, U) F(requested, U))
VS_EVENT(22, framework_free, P(FREES) P(KEPT),
         F(addr, A) F(size, U) F(device, U) F(total_allocated, U) F(total_reserved, U))
VS_EVENT(23, framework_oom, P(SUMS_FIRST) P(FAILS) P(KEPT_IF_ROOM),
         F(requested, U) F(device, U) F(total_allocated, U) F(total_reserved, U) F(stack, STK)
         F(framework_stream, U))
VS_EVENT(24, device_sample, P(SUMS_FIRST), F(device, U) F(free_bytes, U) F(total_bytes, U))
/* memory mapped to and unmapped from address ranges of the caching allocator; reserved = bytes of
 * it that are newly allocated or freed: 0 where the same memory is also mapped elsewhere */
VS_EVENT(25, segment_map, P(ALLOCATES) P(KEPT),
         F(addr, A) F(size, U) F(reserved, U) F(device, U) F(context, U) F(stream, U) F(pool, U)
         F(stack, STK))
VS_EVENT(26, segment_unmap, P(FREES) P(KEPT), F(addr, A) F(size, U) F(reserved, U) F(device, U))
/* address ranges where the program maps and unmaps memory of cuMemCreate; memory = its number, the
 * addr of its `alloc` event */
VS_EVENT(27, vmm_map, P(NONE),
         F(addr, A) F(size, U) F(memory, U) F(offset, U) F(device, U) F(imported, U) F(stack, STK))
VS_EVENT(28, vmm_unmap, P(NONE), F(addr, A) F(size, U) F(memory, U) F(device, U))
/* memory that the driver reserves for graphs: used by launches, reserved (until trimmed), and the
 * peaks since the program reset them. `alloc` events of that family lie within the reserved
 * bytes */
VS_EVENT(29, graph_memory, P(ALLOCATES) P(FREES) P(SUMS_FIRST) P(KEPT),
         F(device, U) F(used, U) F(used_high, U) F(reserved, U) F(reserved_high, U))
/* memory use of the device by process: *what* and *how* are enum vs_usage_what and vs_usage_how
 * (event.h) */
VS_EVENT(30, device_usage, P(SUMS_FIRST),
         F(device, U) F(what, U) F(bytes, U) F(count, U) F(pid, U) F(name, STR) F(how, U))
/* device memory used by a context, a module or a limit, without an allocation */
VS_EVENT(31, overhead, P(NONE),
         F(device, U) F(context, U) F(what, U) F(bytes, S) F(how, U) F(stack, STK))
/* such memory was refused; its size is unknown, and context is 0 where none could be created */
VS_EVENT(36, overhead_failed, P(SUMS_FIRST) P(FAILS) P(KEPT_IF_ROOM),
         F(what, U) F(device, U) F(context, U) F(api, STR) F(stack, STK) F(error, U)
         F(device_free_bytes, U) F(device_total_bytes, U))

/* something wrong at a call: *what* is enum vs_finding (event.h); *earlier_stack*: of the call that
 * it conflicts with */
VS_EVENT(39, finding, P(KEPT_IF_ROOM),
         F(what, U) F(addr, A) F(bytes, U) F(api, STR) F(stack, STK) F(error, U) F(alloc_stack, STK)
         F(earlier_stack, STK) F(text, STR))

/* --- activity on the device; start and end in the trace's clock; graph, graph_node: CUPTI's numbers of
 * the launched graph and of the node, 0: not of a graph; src_kind, dst_kind, memory_kind: enum
 * vs_memory_kind, 0: not recorded, then nor are src_device, dst_device --- */
VS_EVENT(32, kernel, P(ACTIVITY),
         F(start_ns, T) F(end_ns, T) F(device, U) F(context, U) F(stream, U) F(name, STR)
         F(correlation, U) F(grid_x, U) F(grid_y, U) F(grid_z, U) F(block_x, U) F(block_y, U)
         F(block_z, U) F(shared_bytes, U) F(graph, U) F(graph_node, U))
VS_EVENT(33, memcpy, P(ACTIVITY),
         F(start_ns, T) F(end_ns, T) F(device, U) F(context, U) F(stream, U) F(bytes, U) F(copy_kind, U)
         F(async, U) F(correlation, U) F(src_kind, U) F(dst_kind, U) F(src_device, U) F(dst_device, U)
         F(graph, U) F(graph_node, U))
VS_EVENT(34, memset, P(ACTIVITY),
         F(start_ns, T) F(end_ns, T) F(device, U) F(context, U) F(stream, U) F(bytes, U) F(value, U)
         F(correlation, U) F(memory_kind, U) F(graph, U) F(graph_node, U))
/* the call that begins the work with this correlation: a kernel, copy or memset, or all of a graph; before or
 * behind it. With kernels=api, or of copies alone with copy_stacks. *thread*: 0 if not recorded */
VS_EVENT(37, work_call, P(CALL), F(correlation, U) F(api, STR) F(stack, STK) F(thread, U))
/* a call of CUDA by the program; *driver*: of the driver, perhaps inside one of the runtime with the
 * same correlation; *result*: its error; kernels=api */
VS_EVENT(40, api_call, P(CALL),
         F(start_ns, T) F(end_ns, T) F(thread, U) F(api, STR) F(correlation, U) F(driver, U)
         F(result, U))
/* CUPTI itself took this time, on *thread* or 0; overhead_kind: CUPTI's value; kernels=api */
VS_EVENT(42, cupti_overhead, P(CALL),
         F(start_ns, T) F(end_ns, T) F(thread, U) F(overhead_kind, U))
/* at the time of this event the clock of the device's records read *device_ns*, within *error_ns*;
 * *drift_ppb*: how much faster it ran since the previous reading, in parts per billion */
VS_EVENT(41, clock_reading, P(NONE), F(device_ns, U) F(error_ns, U) F(drift_ppb, S))
/* kernels, copies and calls are recorded from here on (*on* 1), or no longer (0). *by*: enum vs_switch */
VS_EVENT(43, activity_switched, P(KEPT_IF_ROOM), F(on, U) F(by, U) F(step, U) F(range, STR))
/* on a simulated GPU, a read of values that no kernel computed; what: enum vs_uncomputed (event.h) */
VS_EVENT(38, uncomputed_read, P(KEPT_IF_ROOM),
         F(device, U) F(what, U) F(bytes, U) F(text, STR) F(stack, STK))
/* the program waits for the device, on this thread, until now: enum vs_wait (event.h) */
VS_EVENT(35, sync, P(ACTIVITY),
         F(start_ns, T) F(end_ns, T) F(device, U) F(context, U) F(stream, U) F(sync_kind, U)
         F(api, STR) F(stack, STK))

/* --- annotations by the program; colour: ARGB, 0: none; payload_kind: enum vs_payload; of a double the
 * payload is its bits --- */
VS_EVENT(48, range_push, P(RANGE) P(SUMS_FIRST) P(STATE),
         F(name, STR) F(domain, STR) F(colour, U) F(payload_kind, U) F(payload, U))
VS_EVENT(49, range_pop, P(RANGE) P(SUMS_FIRST) P(STATE), F(domain, STR))
VS_EVENT(50, range_start, P(RANGE) P(SUMS_FIRST) P(STATE) P(NUMBERED),
         F(range, U) F(name, STR) F(domain, STR) F(colour, U) F(payload_kind, U) F(payload, U))
VS_EVENT(51, range_end, P(RANGE) P(SUMS_FIRST) P(STATE), F(range, U))
VS_EVENT(52, mark, P(SUMS_FIRST),
         F(name, STR) F(domain, STR) F(colour, U) F(payload_kind, U) F(payload, U))

/* --- modules of PyTorch (nn.Module), told by vramscope's Python part --- */
/* from here on this thread runs code of the module *path* ("MODEL:layers.0.attn", 0: of none); pass: enum
 * vs_torch_pass (event.h) */
VS_EVENT(53, torch_module, P(NONE), F(path, STR) F(pass, U))
/* the framework's block that begins at *addr* has a tensor of this name ("MODEL:layers.0.attn.weight"): what: enum
 * vs_torch_tensor (event.h) */
VS_EVENT(54, torch_tensor, P(NONE), F(addr, A) F(device, U) F(name, STR) F(what, U))

/* --- about the recording --- */
VS_EVENT(60, note, P(STATE) P(KEPT_IF_ROOM), F(severity, U) F(text, STR))
VS_EVENT(61, dropped, P(STATE) P(KEPT), F(what, STR) F(count, U))
/* reason: see enum vs_end_reason; status: exit status or signal */
VS_EVENT(62, end, P(SUMS_FIRST) P(KEPT), F(reason, U) F(status, U))
