# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms and linear algebra: cuFFT, cuSOLVER, MAGMA-free paths."""
import torch

from feature_case import alike, alike_gradients, check, feature, features, gradients, leaf, same, \
    same_gradients


def positive(n, batch=()):
    m = torch.randn(*batch, n, n)
    return m @ m.mT + n * torch.eye(n)


features({
    "fft and ifft": lambda: (
        same_gradients(lambda x: torch.fft.ifft(torch.fft.fft(x)),
                       leaf(4, 33, dtype=torch.complex64))),
    "fft of half precision and float64": lambda: (
        same(torch.fft.fft, torch.randn(4, 32, dtype=torch.float64)),
        torch.fft.fft(torch.randn(4, 32, dtype=torch.float16, device="cuda"))),
    "Cholesky: factor, solve, inverse": lambda: (
        same_gradients(torch.linalg.cholesky, positive(6).requires_grad_()),
        same(lambda a, b: (torch.cholesky_solve(b, torch.linalg.cholesky(a)),
                           torch.cholesky_inverse(torch.linalg.cholesky(a))),
             positive(5, (3,)), torch.randn(3, 5, 2))),
    "QR": lambda: (
        alike_gradients(lambda a: torch.linalg.qr(a), leaf(8, 5)),
        alike(torch.linalg.qr, torch.randn(3, 8, 5))),
    "SVD": lambda: (
        same(torch.linalg.svdvals, torch.randn(7, 5)),
        alike_gradients(lambda a: torch.linalg.svd(a, full_matrices=False)[1], leaf(3, 7, 5)),
        alike(torch.linalg.svd, torch.randn(7, 5))),
    "eigh and eigvalsh": lambda: (
        same(torch.linalg.eigvalsh, positive(6)),
        alike_gradients(lambda a: torch.linalg.eigh(a)[0], positive(6, (2,)).requires_grad_()),
        alike(torch.linalg.eigh, positive(600))),
    "eig": lambda: alike(torch.linalg.eig, torch.randn(6, 6)),
    "LU: factor, solve": lambda: (
        same(lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b), positive(6),
             torch.randn(6, 2)),
        same(torch.linalg.lu, positive(4, (3,)))),
    "lstsq": lambda: (
        same(lambda a, b: torch.linalg.lstsq(a, b)[0], torch.randn(9, 4), torch.randn(9, 2)),
        alike(lambda a, b: torch.linalg.lstsq(a, b)[0], torch.randn(3, 9, 4),
              torch.randn(3, 9, 2))),
    "inv, det, slogdet": lambda: (
        same_gradients(torch.linalg.inv, positive(5).requires_grad_()),
        same(lambda a: (torch.linalg.det(a), *torch.linalg.slogdet(a)), positive(5, (2,)))),
    "solve and solve_triangular": lambda: (
        same_gradients(torch.linalg.solve, positive(5).requires_grad_(), leaf(5, 2)),
        same(torch.linalg.solve, positive(5, (4,)), torch.randn(4, 5, 1)),
        same(lambda a, b: torch.linalg.solve_triangular(a.tril(), b, upper=False), positive(5),
             torch.randn(5, 2))),
    "pinv, matrix_rank, cond, matrix_exp": lambda: (
        same(lambda a: (torch.linalg.pinv(a), torch.linalg.matrix_rank(a)), torch.randn(6, 4)),
        same(torch.linalg.matrix_exp, torch.randn(4, 4)),
        same(torch.linalg.cond, positive(4))),
    "norms and distances": lambda: (
        same(lambda a: (torch.linalg.norm(a), torch.linalg.vector_norm(a, 1),
                        torch.cdist(a, a[:3])),
             torch.randn(6, 4))),
    "lobpcg, ormqr, ldl": lambda: (
        alike(lambda a: torch.linalg.ldl_factor(a), positive(6)),
        alike(lambda a: torch.geqrf(a), torch.randn(6, 4)),
        alike(lambda a: torch.linalg.householder_product(*torch.geqrf(a)), torch.randn(6, 4))),
})


def gradient_of_identity(function, x):
    """The gradient of the sum of function(x), which is its argument again: ones. PyTorch 2.6 raises an
    error of MKL for this gradient on the CPU, so the device's is not compared with it."""
    found = gradients(function, x.detach().cuda().requires_grad_())[1].cpu()
    check(torch.allclose(found, torch.ones_like(x), atol=1e-2), f"gradient {found.flatten()[:4].tolist()}")


@feature("rfft2, irfft2, fftn")
def rfft():
    there_and_back, x = (lambda x: torch.fft.irfft2(torch.fft.rfft2(x), s=(16, 12))), leaf(3, 16, 12)
    same(there_and_back, x.detach())
    gradient_of_identity(there_and_back, x)
    same(torch.fft.fftn, torch.randn(2, 6, 5, 4))


@feature("stft and istft")
def stft():
    window = torch.hann_window(64)
    same(lambda x, w: torch.view_as_real(torch.stft(x, 64, window=w, return_complex=True)),
         torch.randn(2, 512), window)
    same(lambda x, w: torch.istft(torch.stft(x, 64, window=w, return_complex=True), 64, window=w),
         torch.randn(2, 512), window)


@feature("SVD, each driver of cuSOLVER")
def svd_drivers():
    for driver in ("gesvd", "gesvdj", "gesvda"):
        torch.linalg.svd(torch.randn(2, 8, 5, device="cuda"), full_matrices=False, driver=driver)

