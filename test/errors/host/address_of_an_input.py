# SPDX-License-Identifier: Apache-2.0
# error: 7:12: an address (.data_ptr()) is only known when the program runs: it can be compared with 0 and with that of another tensor made here, and its alignment asked of tensors made here; pass the tensor itself to kernels
# command: export {file}:f --input x=f32[8] --strict


def f(x):
    assert x.data_ptr() % 16 == 0
    return x + 1
