# SPDX-License-Identifier: Apache-2.0
# error: 5:20: unterminated string literal (detected at line 5)
# command: export {file}:f --input x=f32[4]
def f(x):
    return x + len("abc)
