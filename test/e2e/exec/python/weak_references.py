# SPDX-License-Identifier: Apache-2.0
import weakref, gc
class N: pass
n = N(); r = weakref.ref(n, lambda ref: print('dead', ref() is None)); print(r() is n); del n; print(r())
wd = weakref.WeakValueDictionary(); k = N(); wd['a'] = k; print(len(wd), wd['a'] is k); del k; gc.collect(); print(len(wd), 'a' in wd)
wk = weakref.WeakKeyDictionary(); k = N(); wk[k] = 5; print(wk[k], len(wk)); del k; gc.collect(); print(len(wk))
ws = weakref.WeakSet(); k = N(); ws.add(k); print(k in ws); del k; gc.collect(); print(len(ws))
p = N(); p.v = 3; px = weakref.proxy(p); print(px.v); del p
try: px.v
except ReferenceError as e: print(e)
a = N(); b = N(); a.b = b; b.a = a; ra = weakref.ref(a); del a, b; gc.collect(); print(ra())
f = N(); weakref.finalize(f, print, 'finalized', 1); del f; print('end')
class M:
    def go(self): return 'went'
m = M(); wm = weakref.WeakMethod(m.go); print(wm()()); del m; print(wm())
