/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of PyTorch by the names that a user calls. */
#include <stdio.h>

#include "support/cmocka_test.h"

#include "analysis/naming/naming.h"

TEST(operations_have_their_public_names)
{
    static const char *const cases[][2] = {
        {"at::_ops::empty_memory_format::call(c10::ArrayRef<c10::SymInt>)", "torch.empty"},
        {"at::_ops::randn::redispatch(c10::DispatchKeySet)", "torch.randn"},
        {"at::_ops::zeros::call", "torch.zeros"},
        {"at::_ops::empty_strided::call", "torch.empty_strided"},
        {"at::_ops::mul_Tensor::call(at::Tensor const&)", "torch.mul"},
        {"at::_ops::sum_dim_IntList::call", "torch.sum"},
        {"at::_ops::mean_dim::call", "torch.mean"},
        {"at::_ops::cat_out::call", "torch.cat"},
        {"at::_ops::arange_start_step::call", "torch.arange"},
        {"at::_ops::_to_copy::redispatch(c10::DispatchKeySet)", "Tensor.to"},
        {"at::_ops::to_dtype_layout::call", "Tensor.to"},
        {"at::_ops::add__Tensor::call", "Tensor.add_"},
        {"at::_ops::new_zeros::call", "Tensor.new_zeros"},
        {"at::_ops::linear::call", "nn.functional.linear"},
        {"at::_ops::_scaled_dot_product_efficient_attention::call",
         "nn.functional.scaled_dot_product_attention"},
        {"at::_ops::nll_loss_nd::call", "nn.functional.nll_loss"},
    };
    char name[128];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(vs_torch_operation(cases[i][0], name, sizeof name));
        assert_string_equal(name, cases[i][1]);
    }
}

TEST(other_functions_are_not_operations)
{
    char name[16] = "unchanged";
    assert_false(vs_torch_operation("at::native::empty_cuda(long)", name, sizeof name));
    assert_false(vs_torch_operation("at::_ops::", name, sizeof name));
    assert_string_equal(name, "unchanged");
}

TEST(a_frame_is_named_as_the_profiler_names_its_record)
{
    static const struct {
        const char *function, *python, *name;
    } cases[] = {
        {"at::_ops::empty_memory_format::redispatch(c10::DispatchKeySet)", "", "aten::empty"},
        {"at::_ops::add__Tensor::call(at::Tensor&)", "Net.forward", "aten::add_"},
        {"at::_ops::nll_loss_nd::call", "", "aten::nll_loss_nd"},
        {"at::_ops::flatten_using_ints::call", "", "aten::flatten"},
        {"torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)", "", "AddmmBackward0"},
        {"torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)", "", "torch::autograd::AccumulateGrad"},
        {"torch::autograd::PyNode::apply(std::vector<at::Tensor>&&)", "make.<locals>.Scale.backward", "ScaleBackward"},
        {"torch::autograd::PyNode::apply(std::vector<at::Tensor>&&)", "", "torch::autograd::PyNode"},
        {"THPFunction_apply(_object*, _object*)", "Scale.forward", "Scale"},
        {"(anonymous namespace)::THPFunction_apply(_object*, _object*)", "Scale.forward", "Scale"},
    };
    char name[128] = "unchanged";
    assert_false(vs_torch_record("THPFunction_apply(_object*, _object*)", "", name, sizeof name));
    assert_false(vs_torch_record("at::native::apply(int)", "", name, sizeof name));
    assert_false(vs_torch_record("void torch::autograd::run<X::apply(int)>()", "", name, sizeof name));
    assert_string_equal(name, "unchanged");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(vs_torch_record(cases[i].function, cases[i].python, name, sizeof name));
        assert_string_equal(name, cases[i].name);
    }
}

/* Frames of *functions*, the innermost first, all of *library*. */
static const char *named(const char *const *functions, const char *library, char *out)
{
    struct vs_chain_frame frames[8];
    size_t count = 0;
    for (; functions[count]; count++) {
        frames[count] = (struct vs_chain_frame){.function = functions[count], .module = ""};
        snprintf(frames[count].library, sizeof frames[count].library, "%s", library);
    }
    return vs_naming_torch(frames, count, out);
}
#define NAMED(library, ...) named((const char *const[]){__VA_ARGS__, NULL}, library, out)

TEST(a_stack_of_the_backward_pass_is_named_by_its_function)
{
    char out[VS_THROUGH_MAX];
    const char *engine = "torch::autograd::Engine::thread_init(int, bool)";
    assert_string_equal(NAMED("PyTorch", "c10::malloc(unsigned long)",
                              "at::_ops::mm::call(at::Tensor const&)",
                              "torch::autograd::generated::AddmmBackward0::apply("
                              "std::vector<at::Tensor, std::allocator<at::Tensor> >&&)", engine),
                        "PyTorch's backward pass: AddmmBackward0");
    assert_string_equal(NAMED("PyTorch", "torch::autograd::AccumulateGrad::apply(x&&)", engine),
                        "PyTorch's backward pass: AccumulateGrad");
    assert_string_equal(NAMED("PyTorch", "at::_ops::sum_dim_IntList::call(at::Tensor const&)", engine),
                        "PyTorch's backward pass: torch.sum");
    assert_string_equal(NAMED("PyTorch", "c10::malloc(unsigned long)", engine),
                        "PyTorch's backward pass");
    assert_string_equal(NAMED("PyTorch", "at::_ops::mm::call(at::Tensor const&)", "worker"),
                        "PyTorch: torch.mm");
    assert_string_equal(NAMED("PyTorch", "c10::malloc(unsigned long)"), "");
    assert_string_equal(NAMED("NCCL", "torch::autograd::Engine::fake(int)"), "");
    assert_string_equal(NAMED("PyTorch", "torch::autograd::apply(int)"), "");
}
