# SPDX-License-Identifier: Apache-2.0
# error: 6:9: the program took more than 20000000 steps; host code must be short: move the work into a kernel, precompute it, or allow more (--host-steps)
# command: export {file}:f --input x=f32[4]
def f(x):
    for i in range(10**18):
        pass
    return x
