# SPDX-License-Identifier: Apache-2.0
"""What is done for each operation: a plan per overload, filled in at its first call.

Only operations with a CUDA kernel of their own are seen here: composite ones and views fall through
(switch.py), and the operations that they call are seen instead.
"""
from . import hide

COMPUTE = 1     # also run on the CPU if its tensors are small
DYNAMIC = 2     # the same, and its result's shape depends on data
READ = 3        # a device value becomes a Python number
COLLECTIVE = 4  # data moves between processes; the libraries really move it
COPY = 5        # dtype and device may differ
EMPTY = 7       # new memory without content
FRESH = 6       # torch.tensor has filled it from the host, unseen: it excludes the key
FOREIGN = 8     # of an extension, with a kernel on CUDA alone

BACKENDS = ("CUDA", "SparseCUDA", "SparseCsrCUDA")
COMPOSITE = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")
BELOW_INNER_KEY = ("CUDA", "CPU", "Meta", "QuantizedCUDA", "QuantizedCPU")  # that of switch.py
COLLECTIVE_NAMESPACES = ("c10d", "_c10d_functional", "_c10d_functional_autograd")

# PyTorch's own: the operations that those in them call are seen.
PYTORCH_NAMESPACES = {"aten", "c10d", "fsdp", "inductor", "prims", "quantization", "quantized", "symm_mem",
                      "_c10d_functional", "_c10d_functional_autograd", "_inductor_test"}

# Shapes that depend on data, where the tag of the operation does not say it.
_DYNAMIC = {"aten::repeat_interleave.Tensor", "aten::bincount", "aten::_unique2", "aten::_unique",
            "aten::unique_dim", "aten::unique_consecutive", "aten::unique_dim_consecutive",
            "aten::nonzero", "aten::masked_select", "aten::masked_select.out",
            "aten::nonzero.out", "aten::histc", "torchvision::nms"}

# Operations that are no computation, or that must not run twice.
PASSED = {"record_stream", "resize_", "set_", "_resize_output_", "is_pinned", "_pin_memory",
          "empty_like", "new_empty", "new_empty_strided", "_empty_affine_quantized",
          "is_same_size", "is_set_to", "_fused_sdp_choice", "_cudnn_init_dropout_state",
          "_nested_tensor_size", "_lazy_clone", "lift", "copy_sparse_to_sparse_",
          "_use_cudnn_ctc_loss", "_use_miopen_ctc_loss", "_cudnn_get_conv_benchmark_empty_cache",
          "_efficientzerotensor", "_assert_async", "_to_sparse", "_to_sparse_csr", "_to_sparse_csc",
          "_to_sparse_bsr", "_to_sparse_bsc", "_cslt_compress", "_nested_tensor_from_mask",
          "_nested_from_padded", "_nested_from_padded_and_nested_example",
          "_sparse_coo_tensor_with_dims", "_sparse_coo_tensor_with_dims_and_tensors",
          "_sparse_compressed_tensor_with_dims"}

# They write all of their first argument without reading it.
OVERWRITES = {"zero_", "fill_", "random_", "uniform_", "normal_", "bernoulli_", "exponential_",
              "geometric_", "cauchy_", "log_normal_", "_foreach_copy_", "_foreach_zero_"}

# What they write at these places stays as it is if it was not computed: GradScaler's flag of an infinity
# among the gradients, which normal steps leave at 0.
STAYS = {"_amp_foreach_non_finite_check_and_unscale_": 1}

# Composite operations that are seen all the same: they move data themselves, or their parts have no
# kernel on the CPU.
SEEN_WHOLE = {"copy_", "lift_fresh", "convolution", "convolution_backward", "_convolution_double_backward"}

# Their kernels read back an error code that other operations have set to 0 before.
SEEN_INSIDE = ("linalg_", "_linalg_", "cholesky", "lu_", "_lu_", "geqrf", "ormqr", "orgqr")


class Plan:
    __slots__ = ("handler", "place", "name", "kind", "redispatch", "operation", "random", "generator", "written",
                 "overwrites", "tensors", "indices", "parts", "failed", "foreign")

    def __init__(self, handler, namespace, base, overload, foreign=False):
        self.handler = handler
        self.place = (namespace, base, overload or "default")
        self.name = base
        self.redispatch = None
        self.foreign = foreign

    def targets(self, args, kwargs):
        """The arguments that it writes, apart from those of STAYS."""
        return [kwargs.get(place) if type(place) is str else args[place] for place in self.written
                if place != STAYS.get(self.name) and (type(place) is str or place < len(args))]

    def kernel(self, below):
        """What the dispatcher calls for a key. *below*: the keys below it."""
        def call(keys, *args, **kwargs):
            if self.redispatch is None:
                self._fill_in(self.handler.torch)
            try:
                return self.handler.run(self, keys & below, args, kwargs)
            except BaseException as error:
                hide.strip(error)
                raise
        return call

    def _fill_in(self, torch):
        namespace, base, overload = self.place
        op = getattr(getattr(getattr(torch.ops, namespace), base), overload)
        schema = op._schema
        tags = op.tags
        self.failed = 0
        self.random = torch.Tag.nondeterministic_seeded in tags
        self.generator = any(a.name == "generator" for a in schema.arguments)
        self.written = frozenset(
            a.name if a.kwarg_only else i for i, a in enumerate(schema.arguments)
            if a.alias_info is not None and a.alias_info.is_write)
        self.tensors = frozenset(  # places where a number may stand for a tensor
            i for i, a in enumerate(schema.arguments) if str(a.type) == "Tensor")
        self.indices = any("Optional[Tensor]" in str(a.type) and "List" in str(a.type)
                           for a in schema.arguments)
        self.overwrites = base in OVERWRITES
        self.parts = base.startswith(SEEN_INSIDE)
        full = f"{namespace}::{base}" + ("." + overload if schema.overload_name else "")
        if self.foreign:
            self.kind = FOREIGN
        elif namespace in COLLECTIVE_NAMESPACES:
            self.kind = COLLECTIVE
        elif base in ("_local_scalar_dense", "equal"):
            self.kind = READ
        elif torch.Tag.dynamic_output_shape in tags or full in _DYNAMIC or self.indices:
            self.kind = DYNAMIC
        elif base == "copy_":
            self.kind = COPY
        elif base in ("empty", "empty_strided"):
            self.kind = EMPTY
        elif base == "lift_fresh":
            self.kind = FRESH
        else:
            self.kind = COMPUTE
        self.operation = op
        self.redispatch = op._handle.redispatch_boxed
