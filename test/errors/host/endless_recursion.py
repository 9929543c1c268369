# SPDX-License-Identifier: Apache-2.0
# error: 5:12: calls are nested too deeply (more than 200); write the recursion as a loop
# command: export {file}:f --input x=f32[4]
def f(x):
    return f(x)
