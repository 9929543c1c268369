# SPDX-License-Identifier: Apache-2.0
# error: 8:12: 'async' functions are not supported in host code; write an ordinary function
# command: export {file}:f --input x=f32[4]
def f(x):
    async def g():
        return x

    return g()
