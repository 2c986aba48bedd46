# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices: cuSPARSE and cuSPARSELt."""
import torch

from feature_case import alike, check, feature, features, same


def matrix(rows=12, columns=16):
    m = torch.randn(rows, columns)
    return torch.where(torch.rand(rows, columns) < 0.3, m, torch.zeros(()))


features({
    "sparse CSR: triangular solve": lambda: alike(
        lambda a, b: torch.triangular_solve(b, a.to_sparse_csr(), upper=False)[0],
        torch.randn(6, 6).tril() + 6 * torch.eye(6), torch.randn(6, 2)),
    "sparse BSR: product": lambda: same(
        lambda m, d: m.to_sparse_bsr((4, 4)) @ d, torch.kron(matrix(4, 4), torch.ones(4, 4)),
        torch.randn(16, 8)),
    "sparse COO: product, coalesce, transpose": lambda: (
        same(lambda m, d: torch.sparse.mm(m.to_sparse(), d), matrix(), torch.randn(16, 5)),
        same(lambda m: m.to_sparse().t().coalesce().to_dense(), matrix()),
        same(lambda m: (m.to_sparse() + m.to_sparse()).to_dense(), matrix())),
    "sparse CSR: product": lambda: (
        same(lambda m, d: m.to_sparse_csr() @ d, matrix(), torch.randn(16, 5)),
        same(lambda m, v: m.to_sparse_csr() @ v, matrix(), torch.randn(16))),
    "sparse CSR times sparse CSR": lambda: (
        same(lambda a, b: (a.to_sparse_csr() @ b.to_sparse_csr()).to_dense(), matrix(),
             matrix(16, 12))),
    "sparse CSR: addmm, sampled_addmm": lambda: (
        same(lambda s, a, b: torch.sparse.sampled_addmm(s.to_sparse_csr(), a, b).to_dense(),
             matrix(), torch.randn(12, 4), torch.randn(4, 16)),
        same(lambda o, m, d: torch.addmm(o, m.to_sparse_csr(), d), torch.randn(12, 5), matrix(),
             torch.randn(16, 5))),
    "sparse CSC and conversions": lambda: (
        same(lambda m: (m.to_sparse_csc().to_dense(), m.to_sparse_csr().to_sparse().to_dense()),
             matrix())),
    "sparse softmax and sum": lambda: (
        same(lambda m: torch.sparse.softmax(m.to_sparse(), 1).to_dense(), matrix()),
        same(lambda m: torch.sparse.sum(m.to_sparse(), 0).to_dense(), matrix())),
})


@feature("sparse COO: gradients")
def coo_gradient():
    m = matrix().cuda().to_sparse().requires_grad_()
    torch.sparse.mm(m, torch.randn(16, 5, device="cuda")).sum().backward()
    check(m.grad.shape == m.shape, "shape of the gradient")


@feature("sparse 2:4, cuSPARSELt")
def semi_structured():
    mask = torch.tensor([0, 0, 1, 1], dtype=torch.bool).tile(128, 32).cuda()
    dense = torch.randn(128, 128, device="cuda", dtype=torch.float16) * mask
    compressed = torch.sparse.to_sparse_semi_structured(dense)
    out = torch.mm(compressed, torch.randn(128, 128, device="cuda", dtype=torch.float16))
    check(out.shape == (128, 128), "shape")


@feature("sparse 2:4, CUTLASS", device="a100-80g")
def semi_structured_cutlass():
    torch.sparse.SparseSemiStructuredTensor._FORCE_CUTLASS = True
    semi_structured()


@feature("sparse gradient of an embedding")
def sparse_embedding():
    layer = torch.nn.Embedding(20, 8, sparse=True).cuda()
    layer(torch.tensor([1, 3, 3, 7], device="cuda")).sum().backward()
    check(layer.weight.grad.coalesce().indices().tolist() == [[1, 3, 7]], "indices of the gradient")
    torch.optim.SparseAdam(layer.parameters()).step()


@feature("sparse tensors: equal indices, types, in place, to the CPU")
def sparse_conversions():
    indices = torch.randint(0, 9, (1, 40))
    same(lambda i: torch.sparse_coo_tensor(i, torch.ones(40, device=i.device), (9,)).coalesce()
         .values(), indices)
    same(lambda m: m.to_sparse().double().to_dense(), matrix())
    same(lambda m: torch.ones_like(m).add_(m.to_sparse()), matrix())
    m = matrix()
    check(torch.equal(m.cuda().to_sparse().cpu().to_dense(), m), "copied to the CPU")
