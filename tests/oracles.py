"""Slow and obvious versions of what the engine computes, in plain NumPy. Nothing here imports semigp.

Kernels are functions k(x, z) of two points. Rows are N(mean, variance) with independent entries.
"""

import jax
import jax.numpy as jnp
import numpy as np

from semigp.core.exact.evidence import NOISE_FLOOR


def rbf(variance, lengthscale, dims=None):
    dims = slice(None) if dims is None else list(dims)
    return lambda x, z: variance * np.exp(-0.5 * np.sum(((x - z)[..., dims] / lengthscale) ** 2, axis=-1))


def linear(variances, dims=None):
    dims = slice(None) if dims is None else list(dims)
    return lambda x, z: np.sum(variances * x[..., dims] * z[..., dims], axis=-1)


def bias(variance):
    return lambda x, z: variance * np.ones(np.broadcast_shapes(x.shape, z.shape)[:-1])


def matern32(variance, lengthscale, dims=None):
    dims = slice(None) if dims is None else list(dims)

    def kernel(x, z):
        a = np.sqrt(3) * np.abs((x - z)[..., dims]) / lengthscale
        return variance * np.prod((1 + a) * np.exp(-a), axis=-1)

    return kernel


def matern52(variance, lengthscale, dims=None):
    dims = slice(None) if dims is None else list(dims)

    def kernel(x, z):
        a = np.sqrt(5) * np.abs((x - z)[..., dims]) / lengthscale
        return variance * np.prod((1 + a + a**2 / 3) * np.exp(-a), axis=-1)

    return kernel


def add(*kernels):
    return lambda x, z: sum(kernel(x, z) for kernel in kernels)


def multiply(*kernels):
    return lambda x, z: np.prod([kernel(x, z) for kernel in kernels], axis=0)


def gram(kernel, a, b):
    return kernel(a[:, None], b[None])


def grid(mean, variance, kinks, nodes=20):
    """Points and weights for expectations over one row, exact for functions that are smooth between `kinks` (m, q).

    Composite Gauss-Legendre in every dimension, split at and around the kinks, over ± 10 standard deviations.
    """
    x, w = np.polynomial.legendre.leggauss(nodes)
    axes = []
    for d in range(len(mean)):
        if variance[d] == 0:
            axes.append((np.array([mean[d]]), np.array([1.0])))
            continue
        std = np.sqrt(variance[d])
        near = (kinks[:, d, None] + np.array([-1, -0.1, 0, 0.1, 1])).ravel()  # for short lengthscales
        inside = near[np.abs(near - mean[d]) < 10 * std]
        breaks = np.unique(np.concatenate([mean[d] + std * np.array([-10, -3, 0, 3, 10]), inside]))
        low, high = breaks[:-1, None], breaks[1:, None]
        points = (0.5 * (low + high) + 0.5 * (high - low) * x).ravel()
        density = np.exp(-0.5 * ((points - mean[d]) / std) ** 2) / (std * np.sqrt(2 * np.pi))
        axes.append((points, (0.5 * (high - low) * w).ravel() * density))
    return _product([points for points, _ in axes], [weights for _, weights in axes])


def _product(points, weights):
    """Points and weights of a product rule."""
    mesh = np.stack(np.meshgrid(*points, indexing="ij"), axis=-1)
    return mesh.reshape(-1, len(points)), np.prod(np.stack(np.meshgrid(*weights, indexing="ij")), axis=0).ravel()


def hermite_grid(mean, covariance, nodes=60):
    """Points and weights for expectations of smooth functions over one row with a full covariance."""
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    factor = np.linalg.cholesky(covariance)
    points, weights = _product([x] * len(mean), [w / np.sqrt(2 * np.pi)] * len(mean))
    return points @ factor.T + mean, weights


def expectations(kernel, points, weights, inducing):
    """ψ0, ψ1 [m], cov(x, k) [m, q] and Ψ2 [m, m] of one row."""
    values = gram(kernel, points, inducing)  # [points, m]
    mean = weights @ points
    psi1 = weights @ values
    centred = np.einsum("s,sm,sq->mq", weights, values, points - mean)
    return weights @ kernel(points, points), psi1, centred, np.einsum("s,sm,sk->mk", weights, values, values)


def exact_gp(k_train, k_cross, k_test, y, noise_variance):
    """Predictive mean and variance of f, and log p(y)."""
    covariance = k_train + noise_variance * np.eye(len(y))
    mean = k_cross @ np.linalg.solve(covariance, y)
    variance = k_test - np.einsum("nm,mn->n", k_cross, np.linalg.solve(covariance, k_cross.T))
    log_det = np.linalg.slogdet(2 * np.pi * covariance)[1]
    return mean, variance, -0.5 * (log_det + y @ np.linalg.solve(covariance, y))


def dense_bound(psi0, psi1, psi2, k_uu, y, noise_variance):
    """The collapsed bound of one output by the matrix inversion in Titsias & Lawrence (2010), no factors shared."""
    n, beta = len(y), 1 / noise_variance
    inner = k_uu + beta * psi2
    fit = beta * y @ y - beta**2 * y @ psi1 @ np.linalg.solve(inner, psi1.T @ y)
    log_det = np.linalg.slogdet(inner)[1] - np.linalg.slogdet(k_uu)[1]
    trace = psi0 - np.trace(np.linalg.solve(k_uu, psi2))
    return -0.5 * (n * np.log(2 * np.pi / beta) + log_det + fit + beta * trace)


def exact_log_evidence(kernel, noise_variance, inputs, targets):
    """Log p(y) of an exact GP in JAX, for automatic derivatives."""
    covariance = kernel.gram(inputs) + (noise_variance + NOISE_FLOOR) * jnp.eye(len(inputs))
    factor = jnp.linalg.cholesky(covariance)
    white = jax.scipy.linalg.solve_triangular(factor, targets, lower=True)
    return -0.5 * white @ white - jnp.sum(jnp.log(jnp.diagonal(factor))) - 0.5 * len(inputs) * jnp.log(2.0 * jnp.pi)


def linear_states(transition, drive, slopes, process, noise_variance, values, inputs):
    """The states of x_t = A x_{t-1} + B u_t + N(0, Q), y_t = C x_t + N(0, diag R), x_1 ~ N(0, I), given one series.

    Returns the posterior mean (T, q) and covariance (T, q, T, q) of all states, and log p(y). All states together are
    one dense Gaussian. Values may hold NaN.
    """
    steps, q = len(values), len(transition)
    mean, root = np.zeros((steps, q)), np.zeros((steps, q, steps, q))  # x = mean + root e, e ~ N(0, I)
    root[0, :, 0] = np.eye(q)
    for t in range(1, steps):
        mean[t] = transition @ mean[t - 1] + drive @ inputs[t]
        root[t] = np.einsum("ij,jsk->isk", transition, root[t - 1])
        root[t, :, t] += np.linalg.cholesky(process)
    flat = root.reshape(steps * q, steps * q)
    prior = flat @ flat.T
    seen = ~np.isnan(values)
    read = np.zeros((*values.shape, steps, q))
    for t in range(steps):
        read[t, :, t] = slopes
    read = read[seen].reshape(-1, steps * q)
    spread = read @ prior @ read.T + np.diag(np.broadcast_to(noise_variance, values.shape)[seen])
    left = values[seen] - read @ mean.ravel()
    gain = prior @ read.T @ np.linalg.inv(spread)
    evidence = -0.5 * (left @ np.linalg.solve(spread, left) + np.linalg.slogdet(2 * np.pi * spread)[1])
    posterior = mean + (gain @ left).reshape(steps, q)
    return posterior, (prior - gain @ read @ prior).reshape(steps, q, steps, q), evidence
