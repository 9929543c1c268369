# SPDX-License-Identifier: Apache-2.0
"""What the steps of models.py are called with."""
import numpy as np

STEPS, OPTIMIZER_STEPS = 50, 20
ROWS = (6, 9, 4)


def gradient(step):
    return (((np.arange(15) * 53 + step * 29) % 97 - 48) / 64).astype(np.float32).reshape(5, 3)


def batch(step):
    rows = ROWS[step % len(ROWS)]
    x = (((np.arange(rows * 4) * 31 + step * 17) % 89 - 44) / 32).astype(np.float32).reshape(rows, 4)
    return x, ((np.arange(rows) * 7 + step) % 3).astype(np.int64)


def rate(step):
    return np.array(0.1 / (1 + step), np.float32)


# NAME: (the inputs as --input has them, the arrays of a step)
CASES = {
    "TrainSGD": (["x=f32[rows:1..16,4]", "y=i64[rows]"], batch),
    "TrainLion": (["x=f32[rows:1..16,4]", "y=i64[rows]"], batch),
    "Accumulating": (["x=f32[rows:1..16,4]", "y=i64[rows]"], batch),
    "Scheduled": (["x=f32[rows:1..16,4]", "y=i64[rows]", "lr=f32[]"], lambda step: (*batch(step), rate(step))),
    "train_step": (["x=f32[rows:1..16,4]", "y=i64[rows]"], batch),
}
