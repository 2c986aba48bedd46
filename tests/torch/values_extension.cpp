/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of an extension with kernels on CUDA alone, for check_values_extension.py: one returns
 * its result, one says that it writes its argument, one writes it and does not say so. A fourth has a
 * kernel for all devices too, which allocates twice as much. */
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

static at::Tensor returned(const at::Tensor &x) { return at::zeros_like(x); }
static void declared(at::Tensor &) {}
static void hidden(at::Tensor) {}
static at::Tensor both_anywhere(const at::Tensor &x) { return at::zeros_like(at::zeros_like(x)); }

TORCH_LIBRARY(values_extension, m)
{
    m.def("returned(Tensor x) -> Tensor");
    m.def("declared(Tensor(a!) x) -> ()");
    m.def("hidden(Tensor x) -> ()");
    m.def("both(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(values_extension, CUDA, m)
{
    m.impl("returned", returned);
    m.impl("declared", declared);
    m.impl("hidden", hidden);
    m.impl("both", returned);
}

TORCH_LIBRARY_IMPL(values_extension, CompositeExplicitAutograd, m)
{
    m.impl("both", both_anywhere);
}
