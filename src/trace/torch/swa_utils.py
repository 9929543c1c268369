# SPDX-License-Identifier: Apache-2.0
"""torch.optim.swa_utils: models whose weights are means of another one's."""
import copy
import itertools
import math

import torch
from torch.optim.lr_scheduler import LRScheduler


def get_swa_avg_fn():
    def average(averaged, current, count):
        return averaged + (current - averaged) / (count + 1)

    return average


def get_ema_avg_fn(decay=0.999):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    def average(averaged, current, count):
        return decay * averaged + (1 - decay) * current

    return average


def get_swa_multi_avg_fn():
    def average(averaged, current, count):
        with torch.no_grad():
            for kept, one in zip(averaged, current):
                kept.copy_(kept + (one - kept) / (count + 1))

    return average


def get_ema_multi_avg_fn(decay=0.999):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    def average(averaged, current, count):
        with torch.no_grad():
            for kept, one in zip(averaged, current):
                kept.copy_(torch.lerp(kept, one, 1 - decay) if kept.is_floating_point() else kept * decay + one * (1 - decay))

    return average


class AveragedModel(torch.nn.Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        own = itertools.chain(self.module.parameters(), self.module.buffers()) if self.use_buffers else self.parameters()
        other = itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()
        kept, current = [], []
        for one, new in zip(own, other):
            kept.append(one.detach())
            current.append(new.detach().to(one.device))
        with torch.no_grad():
            if int(self.n_averaged) == 0:
                for one, new in zip(kept, current):
                    one.copy_(new)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn(kept, current, self.n_averaged)
            else:
                average = self.avg_fn if self.avg_fn is not None else get_swa_avg_fn()
                for one, new in zip(kept, current):
                    one.copy_(average(one, new, self.n_averaged))
            if not self.use_buffers:
                for one, new in zip(self.module.buffers(), model.buffers()):
                    one.copy_(new)
            self.n_averaged += 1


def update_bn(loader, model, device=None):
    """The running statistics of one pass over the data, as means of all batches."""
    momenta = {}
    for module in model.modules():
        if isinstance(module, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d, torch.nn.SyncBatchNorm)):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    with torch.no_grad():
        for batch in loader:
            if isinstance(batch, (list, tuple)):
                batch = batch[0]
            model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(f"swa_lr must have the same length as optimizer.param_groups: swa_lr has {len(rates)}, optimizer.param_groups has {len(optimizer.param_groups)}")
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs, self._is_linear = anneal_epochs, anneal_strategy == "linear"
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._is_linear else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(max(0, step - 1)), self._share(step)
        first = [group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before) for group in self.optimizer.param_groups]
        return [group["swa_lr"] * now + lr * (1 - now) for group, lr in zip(self.optimizer.param_groups, first)]
