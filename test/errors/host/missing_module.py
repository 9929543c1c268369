# SPDX-License-Identifier: Apache-2.0
# error: 4:15: ImportError: cannot import name 'nothing_here' from ''
# command: export {file}:f --input x=f32[4]
from . import nothing_here


def f(x):
    return x
