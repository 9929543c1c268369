# SPDX-License-Identifier: Apache-2.0
# error: 5:12: 'aten.floor_divide.default' divides integers by zero
# command: export {file}:f --input x=i64[4]
def f(x):
    return x // 0
