# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils: gradients and parameters as a whole."""
import torch
import torch._pellucid_tape as tape


def _listed(parameters):
    return [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)


def _gradients(parameters):
    return [p.grad for p in _listed(parameters) if p.grad is not None]


def _norm_of_all(tensors, norm_type):
    return torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(one, norm_type) for one in tensors]), norm_type)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    tensors = _listed(tensors)
    norm_type = float(norm_type)
    if len(tensors) == 0:
        return torch.tensor(0.0)
    with torch.no_grad():
        total = tape.repeated(_norm_of_all, tensors, norm_type)
    if error_if_nonfinite and torch.logical_or(total.isnan(), total.isinf()):
        raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the "
                           "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`")
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    gradients = _gradients(parameters)
    if len(gradients) == 0:
        return
    with torch.no_grad():
        factor = torch.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        for gradient in gradients:
            gradient.mul_(factor.to(gradient.dtype))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = _listed(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_value_(parameters, clip_value, foreach=None):
    clip_value = float(clip_value)
    with torch.no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(min=-clip_value, max=clip_value)


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    if not isinstance(vec, torch.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec)}")
    at = 0
    with torch.no_grad():
        for p in parameters:
            p.copy_(vec[at:at + p.numel()].view_as(p))
            at += p.numel()
