# Numbers that fill tensors of integers: what a type does not hold raises, negative integers wrap around where there is no sign, fractions are cut off.
import torch


def said(call):
    try:
        return call().tolist()
    except RuntimeError as error:
        return str(error).splitlines()[0]


NUMBERS = (1e30, -1e30, 2**63 - 1, -(2**63), 9.3e18, -(2.0**63), 2.0**63, -0.5, -1.0, -1, -255, -255.5, -256, 255.5, 255.99, 256, 127.9, 127, 128.0, -128.0, -128.5, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 65535, 65536,
           float("nan"), float("inf"), float("-inf"), -0.0, True, False)
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
    for number in NUMBERS:
        fresh = said(lambda: torch.zeros(2, dtype=dtype).fill_(number))
        used = said(lambda: torch.ones(2, dtype=dtype).add_(1).fill_(number))
        part = said(lambda: torch.ones(3, dtype=dtype)[1:].fill_(number))
        masked = said(lambda: torch.zeros(2, dtype=dtype).masked_fill(torch.tensor([True, False]), number))
        assert masked == said(lambda: torch.zeros(2, dtype=dtype).masked_fill_(torch.tensor([True, False]), value=number))
        assert fresh == used == part, (dtype, number, fresh, used, part)
        print(dtype, number, fresh, masked)
for dtype in (torch.float32, torch.float64, torch.bool):
    for number in (0.5, 2**31, -1, float("inf"), True):
        print(dtype, number, said(lambda: torch.zeros(2, dtype=dtype).fill_(number)))
