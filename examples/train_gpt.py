# SPDX-License-Identifier: Apache-2.0
"""Trains a small character-level GPT whose norm, loss and optimizer are Triton kernels.

    python train_gpt.py --data input.txt --steps 200
    pellucid exec --device cuda=cpu train_gpt.py --data input.txt --device cuda --steps 200
"""
import argparse
import math
import os
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def rms_norm_forward_kernel(x_ptr, weight_ptr, out_ptr, scale_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(x * x, axis=0) / columns + eps)
    tl.store(scale_ptr + row, scale)
    weight = tl.load(weight_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + row * columns + offsets, x * scale * weight, mask=mask)


@triton.jit
def rms_norm_backward_kernel(grad_ptr, x_ptr, weight_ptr, scale_ptr, dx_ptr, partial_ptr, rows, columns,
                             ROWS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    weight = tl.load(weight_ptr + offsets, mask=mask, other=0.0)
    of_weight = tl.zeros([BLOCK], dtype=tl.float32)
    for i in range(ROWS):
        row = pid * ROWS + i
        if row < rows:
            x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0)
            grad = tl.load(grad_ptr + row * columns + offsets, mask=mask, other=0.0)
            scale = tl.load(scale_ptr + row)
            normal = x * scale
            weighted = grad * weight
            mean = tl.sum(weighted * normal, axis=0) / columns
            tl.store(dx_ptr + row * columns + offsets, scale * (weighted - normal * mean), mask=mask)
            of_weight += grad * normal
    tl.store(partial_ptr + pid * columns + offsets, of_weight, mask=mask)


class RMSNormFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        shape = x.shape
        x = x.reshape(-1, shape[-1]).contiguous()
        rows, columns = x.shape
        out = torch.empty_like(x)
        scale = torch.empty(rows, dtype=torch.float32, device=x.device)
        block = triton.next_power_of_2(columns)
        rms_norm_forward_kernel[(rows,)](x, weight, out, scale, columns, eps, BLOCK=block)
        ctx.save_for_backward(x, weight, scale)
        ctx.block = block
        return out.view(shape)

    @staticmethod
    def backward(ctx, grad):
        x, weight, scale = ctx.saved_tensors
        rows, columns = x.shape
        shape = grad.shape
        grad = grad.reshape(-1, columns).contiguous()
        dx = torch.empty_like(x)
        per_program = 32
        programs = triton.cdiv(rows, per_program)
        partial = torch.empty(programs, columns, dtype=torch.float32, device=x.device)
        rms_norm_backward_kernel[(programs,)](grad, x, weight, scale, dx, partial, rows, columns, ROWS=per_program, BLOCK=ctx.block)
        return dx.view(shape), partial.sum(0).to(weight.dtype), None


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return RMSNormFunction.apply(x, self.weight, self.eps)


@triton.jit
def cross_entropy_kernel(logits_ptr, targets_ptr, loss_ptr, grad_ptr, classes, rows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < classes
    logits = tl.load(logits_ptr + row * classes + offsets, mask=mask, other=-float("inf"))
    target = tl.load(targets_ptr + row)
    logits -= tl.max(logits, axis=0)
    e = tl.exp(logits)
    total = tl.sum(e, axis=0)
    picked = tl.sum(tl.where(offsets == target, logits, 0.0), axis=0)
    tl.store(loss_ptr + row, tl.log(total) - picked)
    grad = (e / total - tl.where(offsets == target, 1.0, 0.0)) / rows
    tl.store(grad_ptr + row * classes + offsets, grad, mask=mask)


class CrossEntropyFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        rows, classes = logits.shape
        logits = logits.contiguous()
        losses = torch.empty(rows, dtype=torch.float32, device=logits.device)
        grad = torch.empty_like(logits)
        cross_entropy_kernel[(rows,)](logits, targets, losses, grad, classes, rows, BLOCK=triton.next_power_of_2(classes))
        ctx.save_for_backward(grad)
        return losses.mean()

    @staticmethod
    def backward(ctx, grad_output):
        (grad,) = ctx.saved_tensors
        return grad * grad_output, None


@triton.jit
def adamw_kernel(p_ptr, grad_ptr, m_ptr, v_ptr, lr, beta1, beta2, eps, decay, correction1, correction2, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    p = tl.load(p_ptr + offsets, mask=mask)
    grad = tl.load(grad_ptr + offsets, mask=mask)
    m = tl.load(m_ptr + offsets, mask=mask)
    v = tl.load(v_ptr + offsets, mask=mask)
    p = p * (1.0 - lr * decay)
    m = beta1 * m + (1.0 - beta1) * grad
    v = beta2 * v + (1.0 - beta2) * grad * grad
    p = p - lr * (m / correction1) / (tl.sqrt(v / correction2) + eps)
    tl.store(p_ptr + offsets, p, mask=mask)
    tl.store(m_ptr + offsets, m, mask=mask)
    tl.store(v_ptr + offsets, v, mask=mask)


class TritonAdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1):
        if lr <= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["m"] = torch.zeros_like(p)
                    state["v"] = torch.zeros_like(p)
                state["step"] += 1
                t = state["step"]
                n = p.numel()
                grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
                adamw_kernel[grid](p, p.grad.contiguous(), state["m"], state["v"], group["lr"], beta1, beta2, group["eps"], group["weight_decay"],
                                   1.0 - beta1**t, 1.0 - beta2**t, n, BLOCK=1024)
        return loss


@dataclass
class GPTConfig:
    block_size: int = 64
    vocab_size: int = 65
    n_layer: int = 4
    n_head: int = 4
    n_embd: int = 64
    dropout: float = 0.0


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=False)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.n_head = config.n_head

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd, bias=False)
        self.gelu = nn.GELU()
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd, bias=False)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = RMSNorm(config.n_embd)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = RMSNorm(config.n_embd)
        self.mlp = MLP(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.transformer = nn.ModuleDict(dict(
            wte=nn.Embedding(config.vocab_size, config.n_embd),
            wpe=nn.Embedding(config.block_size, config.n_embd),
            h=nn.ModuleList([Block(config) for _ in range(config.n_layer)]),
            ln_f=RMSNorm(config.n_embd),
        ))
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.apply(self._init_weights)
        for name, p in self.named_parameters():
            if name.endswith("c_proj.weight"):
                torch.nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * config.n_layer))

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
        elif isinstance(module, nn.Embedding):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, idx, targets=None):
        b, t = idx.size()
        assert t <= self.config.block_size, f"Cannot forward sequence of length {t}, block size is only {self.config.block_size}"
        pos = torch.arange(0, t, dtype=torch.long, device=idx.device)
        x = self.transformer.wte(idx) + self.transformer.wpe(pos)
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1], :]), None
        logits = self.lm_head(x)
        loss = CrossEntropyFunction.apply(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, max_new_tokens):
        for _ in range(max_new_tokens):
            idx_cond = idx if idx.size(1) <= self.config.block_size else idx[:, -self.config.block_size:]
            logits, _ = self(idx_cond)
            idx = torch.cat((idx, logits[:, -1, :].argmax(dim=-1, keepdim=True)), dim=1)
        return idx


def get_lr(step, args):
    if step < args.warmup:
        return args.lr * (step + 1) / args.warmup
    ratio = (step - args.warmup) / max(1, args.steps - args.warmup)
    return args.lr * (0.1 + 0.45 * (1.0 + math.cos(math.pi * ratio)))


def main():
    parser = argparse.ArgumentParser(description="Train a character-level GPT.")
    parser.add_argument("--data", default=__file__, help="a text file")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--log-every", type=int, default=20)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=64)
    args = parser.parse_args()

    torch.manual_seed(1337)
    with open(args.data, "r", encoding="utf-8") as f:
        text = f.read()
    chars = sorted(set(text))
    stoi = {ch: i for i, ch in enumerate(chars)}
    itos = {i: ch for i, ch in enumerate(chars)}
    data = torch.tensor([stoi[c] for c in text], dtype=torch.long)
    print(f"{os.path.basename(args.data)}: {len(text)} characters, vocabulary of {len(chars)}")

    config = GPTConfig(vocab_size=len(chars), n_layer=args.layers, n_embd=args.width)
    model = GPT(config).to(args.device)
    print(f"number of parameters: {sum(p.numel() for p in model.parameters()):,}")
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    optimizer = TritonAdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=args.lr)

    def get_batch():
        ix = torch.randint(len(data) - config.block_size, (args.batch_size,))
        x = torch.stack([data[i:i + config.block_size] for i in ix])
        y = torch.stack([data[i + 1:i + 1 + config.block_size] for i in ix])
        return x.to(args.device), y.to(args.device)

    model.train()
    losses = []
    start = time.time()
    for step in range(args.steps):
        for group in optimizer.param_groups:
            group["lr"] = get_lr(step, args)
        x, y = get_batch()
        logits, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % args.log_every == 0 or step == args.steps - 1:
            print(f"step {step:4d}: loss {losses[-1]:.6f}, norm {norm.item():.4f}")
    seconds = time.time() - start
    print(f"{args.steps / seconds:.2f} steps/s" if os.environ.get("SHOW_TIME") else "done")

    model.eval()
    context = torch.tensor([[stoi[text[0]]]], dtype=torch.long, device=args.device)
    print("".join(itos[i] for i in model.generate(context, 60)[0].tolist()))


if __name__ == "__main__":
    main()
