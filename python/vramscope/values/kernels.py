# SPDX-License-Identifier: Apache-2.0
"""Memory written by kernels that are launched past PyTorch's dispatcher.

Triton's kernels, those that torch.compile generates among them, and replays of CUDA graphs. The
simulated GPU computes none of them: tensors that they write keep their old content and count as not
computed. Which tensors a kernel writes follows from its IR or from Inductor's names of its
arguments; in doubt, all of them.
"""
from . import hide, imports, notes, ttir

_MOST_KERNELS = 4096

_written = {}  # by id: (kernel, what ttir.written says)


def start(torch, shadow):
    imports.after("triton.runtime.jit", lambda module: _follow_triton(module, shadow))
    imports.after("torch._inductor.runtime.triton_heuristics",
                  lambda module: _follow_inductor(module, shadow))
    _follow_new_storages(torch, shadow)
    _follow_graphs(torch, shadow)


def _tensors(shadow, values):
    """The tensors among the arguments of a kernel, those behind Triton's descriptors included."""
    found = []
    for value in values:
        if not isinstance(value, shadow.torch.Tensor):
            value = getattr(value, "base", None)  # a descriptor, or a tensor seen as another type
        if isinstance(value, shadow.torch.Tensor):
            found.append(value)
    return found


def _doubt(shadow, tensors, places):
    for i, tensor in enumerate(tensors):
        if (places is None or i in places) and tensor.is_cuda:
            shadow.table.doubt(tensor)


def _by_ir(kernel):
    known = _written.get(id(kernel))
    if known is None:
        try:
            answer = ttir.written(kernel.asm["ttir"])
        except Exception as error:
            notes.failure("the IR of a Triton kernel", error)
            answer = None
        if len(_written) >= _MOST_KERNELS:
            _written.clear()
        known = _written[id(kernel)] = kernel, answer
    return known[1]


def _follow_triton(module, shadow):
    @hide.after(module.JITFunction, "run", "a Triton kernel")
    def run(kernel, self, *args, grid, warmup, **kwargs):
        if not warmup:
            named = dict(zip(self.arg_names, args))
            named.update((k, v) for k, v in kwargs.items() if k in self.arg_names)
            tensors = _tensors(shadow, [named[n] for n in self.arg_names if n in named])
            answer = _by_ir(kernel) if kernel is not None else None
            _doubt(shadow, tensors, answer[0] if answer and answer[1] == len(tensors) else None)


def _by_names(tuner):
    """The written ones among the pointers of a kernel of Inductor's, and how many there are."""
    changed = set(tuner.inductor_meta.get("mutated_arg_names") or ())
    names = [n for n, kind in tuner.triton_meta["signature"].items()
             if isinstance(kind, str) and kind.startswith("*")]
    only_read = [n not in changed and n.startswith(("in_ptr", "arg_")) for n in names]
    return {i for i, reads in enumerate(only_read) if not reads}, len(names)


def _follow_inductor(module, shadow):
    @hide.after(module.CachingAutotuner, "run", "a kernel of torch.compile")
    def run(_result, self, *args, **_kwargs):
        places, count = _by_names(self)
        tensors = _tensors(shadow, args)
        _doubt(shadow, tensors, places if count == len(tensors) else None)


def _follow_new_storages(torch, shadow):
    """Storages that are made past the dispatcher: torch.compile's buffers, outputs of its graphs."""
    C = torch._C
    places = [(getattr(getattr(C, "_dynamo", None), "guards", None), "_empty_strided_cuda", C._storage_id),
              (C, "_construct_CUDA_Tensor_From_Storage_And_Metadata", C._storage_id),
              (C, "_construct_storage_from_data_pointer", lambda storage: storage._cdata)]
    for module, name, number in places:
        if hasattr(module, name):
            @hide.after(module, name, "a new storage")
            def made(result, *_, number=number, **__):
                shadow.table.entries.pop(number(result), None)


def _follow_graphs(torch, shadow):
    """A replay writes what the captured operations wrote."""
    table, graph = shadow.table, torch.cuda.CUDAGraph

    @hide.after(graph, "capture_begin", "the capture of a CUDA graph")
    def begun(*_, **__):
        table.begin_capture()

    @hide.replace(graph, "capture_end")
    def ends(end, self, *args, **kwargs):
        self._vramscope_written = table.end_capture()
        return end(self, *args, **kwargs)

    @hide.after(graph, "replay", "the replay of a CUDA graph")
    def replayed(_result, self, *_, **__):
        table.replayed(getattr(self, "_vramscope_written", ()))
