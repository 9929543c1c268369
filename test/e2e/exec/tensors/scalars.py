# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of tensors without dims, of every type that a script's counters and indices have."""
import torch


def attempt(call):
    try:
        result = call()
    except (RuntimeError, TypeError, ZeroDivisionError) as error:
        return type(error).__name__
    return result.tolist(), result.dtype, result.shape


whole = [torch.tensor([-7, 3, 2, -1, 2147483647, -2147483648], dtype=dtype) for dtype in (torch.int64, torch.int32)]
whole += [torch.tensor([9223372036854775807, -9223372036854775808, 2]), torch.tensor([7, 3], dtype=torch.uint8)]
real = [torch.tensor([0.1, -3.5, 0.0, float("inf"), float("nan"), 16777217.0], dtype=dtype) for dtype in (torch.float32, torch.float64)]
real += [torch.tensor([0.1, 2.5], dtype=torch.bfloat16)]
operators = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floor": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
for rows in whole + real:
    isReal = rows.dtype.is_floating_point
    isNarrow = rows.dtype in (torch.uint8, torch.bfloat16)
    for name, call in operators.items():
        divides = name in ("floor", "mod")
        if (divides and (isReal or rows.min() < -(2**40))) or (isNarrow and name not in ("add", "lt")):
            continue
        others = [2, -3, 0.25] if isReal else [2, -3, 2147483648] if rows.dtype == torch.int64 else [2]
        results = []
        for i in range(len(rows)):
            a, b = rows[i], rows[(i + 1) % len(rows)]
            if not divides or b.item() not in (0, -1):
                results.append(attempt(lambda: call(a, b)))
            results += [attempt(lambda: call(a, other)) for other in others]
        if name in ("add", "mul", "lt", "eq"):
            results.append(attempt(lambda: call(5, a)))
        print(rows.dtype, name, results[0], [result[0] for result in results])

steps = torch.tensor([3, 4])
data = torch.arange(20)
count = steps[0]
for i in steps:
    print(data[i : i + 3], data[i + 1], (i * 2 - 1).item(), bool(i > 3), range(i)[-1])
    count += 1
print(count, steps, steps[1] + 0.5, steps[0] + True, steps[0] + steps[1].to(torch.int32), steps[0] * data[:2])
rate = torch.tensor([0.5, 2.0], requires_grad=True)
total = rate[0] * 3 + rate[1] * rate[0]
total.backward()
print(rate.grad, (rate.detach()[0] * 3).requires_grad)
