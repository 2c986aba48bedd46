/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of PyTorch by the names that a user calls. */
#include "unit/base/cm.h"

#include "analysis/naming/torch_operation.h"

static void operations_have_their_public_names(void **state)
{
    (void)state;
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

static void other_functions_are_not_operations(void **state)
{
    (void)state;
    char name[16] = "unchanged";
    assert_false(vs_torch_operation("at::native::empty_cuda(long)", name, sizeof name));
    assert_false(vs_torch_operation("at::_ops::", name, sizeof name));
    assert_string_equal(name, "unchanged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_have_their_public_names),
        cmocka_unit_test(other_functions_are_not_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
