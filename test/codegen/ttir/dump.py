# SPDX-License-Identifier: Apache-2.0
# The kernels behind the .ttir files beside this one. `python dump.py DIR` writes them anew with Triton 3.6.
import triton, triton.language as tl, sys, os
from triton.compiler import ASTSource
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton._C.libtriton import ir
from triton.language.extra import libdevice

def dump(fn, sig, consts, name=None, **options):
    target = GPUTarget("cuda", 90, 32)
    src = ASTSource(fn=fn, signature=sig, constexprs=consts)
    be = make_backend(target)
    opts = be.parse_options(options)
    ctx = ir.context(); ir.load_dialects(ctx); be.load_dialects(ctx)
    mod = src.make_ir(target, opts, be.get_codegen_implementation(opts), be.get_module_map(), ctx)
    md = {}
    mod = be.make_ttir(mod, md, opts, 90)
    open(f"{sys.argv[1]}/{name or fn.__name__}.ttir","w").write(mod.str_nodebug())

@triton.jit
def softmax(o, x, xs, os_, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + row*xs + c, mask=m, other=-float('inf')).to(tl.float32)
    v = v - tl.max(v, 0)
    e = tl.exp(v)
    tl.store(o + row*os_ + c, (e / tl.sum(e, 0)).to(o.dtype.element_ty), mask=m)

@triton.jit
def silu(o, x, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m).to(tl.float32)
    tl.store(o + i, (v * tl.sigmoid(v)).to(o.dtype.element_ty), mask=m)

@triton.jit
def layernorm(x, y, w, b, mean, rstd, stride, N, eps, B: tl.constexpr):
    row = tl.program_id(0)
    y += row*stride; x += row*stride
    _m = tl.zeros([B], dtype=tl.float32)
    for off in range(0, N, B):
        c = off + tl.arange(0, B)
        a = tl.load(x + c, mask=c < N, other=0.).to(tl.float32)
        _m += a
    mu = tl.sum(_m, axis=0) / N
    _v = tl.zeros([B], dtype=tl.float32)
    for off in range(0, N, B):
        c = off + tl.arange(0, B)
        a = tl.load(x + c, mask=c < N, other=0.).to(tl.float32)
        a = tl.where(c < N, a - mu, 0.)
        _v += a*a
    var = tl.sum(_v, axis=0) / N
    r = 1 / tl.sqrt(var + eps)
    tl.store(mean + row, mu); tl.store(rstd + row, r)
    for off in range(0, N, B):
        c = off + tl.arange(0, B)
        m = c < N
        ww = tl.load(w + c, mask=m); bb = tl.load(b + c, mask=m)
        a = tl.load(x + c, mask=m, other=0.).to(tl.float32)
        tl.store(y + c, (a - mu)*r*ww + bb, mask=m)

@triton.jit
def matmul(A, B, C, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    npg = G*nn
    gid = pid // npg
    fm = gid*G
    gsm = min(nm - fm, G)
    pm = fm + ((pid % npg) % gsm)
    pn = (pid % npg) // gsm
    om = (pm*BM + tl.arange(0, BM)) % M
    on = (pn*BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    a = A + (om[:, None]*sam + ok[None, :]*sak)
    b = B + (ok[:, None]*sbk + on[None, :]*sbn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        av = tl.load(a, mask=ok[None, :] < K - k*BK, other=0.0)
        bv = tl.load(b, mask=ok[:, None] < K - k*BK, other=0.0)
        acc = tl.dot(av, bv, acc)
        a += BK*sak; b += BK*sbk
    c = acc.to(C.dtype.element_ty)
    cm = pm*BM + tl.arange(0, BM); cn = pn*BN + tl.arange(0, BN)
    tl.store(C + scm*cm[:, None] + scn*cn[None, :], c, mask=(cm[:, None] < M) & (cn[None, :] < N))

@triton.jit
def argmax_rows(x, o, ov, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row*n + c, mask=c < n, other=-float('inf'))
    tl.store(o + row, tl.argmax(v, 0))
    tl.store(ov + row, tl.max(v, 0))

@triton.jit
def cumsum_rows(x, o, r, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row*n + c, mask=c < n, other=0.)
    tl.store(o + row*n + c, tl.cumsum(v, 0), mask=c < n)
    tl.store(r + row*n + c, tl.cumsum(v, 0, reverse=True), mask=c < n)

@triton.jit
def tile2d(x, rs, cs, mx, t, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.arange(0, BM); j = tl.arange(0, BN)
    m = (i[:, None] < M) & (j[None, :] < N)
    v = tl.load(x + i[:, None]*N + j[None, :], mask=m, other=0.)
    tl.store(rs + i, tl.sum(v, 1), mask=i < M)
    tl.store(cs + j, tl.sum(v, 0), mask=j < N)
    tl.store(mx, tl.max(tl.max(v, 1), 0))
    tl.store(t + j[:, None]*M + i[None, :], tl.trans(v), mask=(j[:, None] < N) & (i[None, :] < M))

@triton.jit
def atomics(x, h, s, mxs, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m, other=0)
    tl.atomic_add(h + v, 1, mask=m)
    tl.atomic_add(s, tl.sum(v.to(tl.float32), 0))
    tl.atomic_max(mxs, tl.max(v, 0))

@triton.jit
def flash(Q, K, V, O, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    om = pm*BM + tl.arange(0, BM); od = tl.arange(0, D)
    q = tl.load(Q + om[:, None]*D + od[None, :], mask=om[:, None] < N, other=0.)
    mi = tl.full([BM], -float('inf'), tl.float32)
    li = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for s in range(0, (pm+1)*BM, BN):
        on = s + tl.arange(0, BN)
        k = tl.load(K + on[:, None]*D + od[None, :], mask=on[:, None] < N, other=0.)
        v = tl.load(V + on[:, None]*D + od[None, :], mask=on[:, None] < N, other=0.)
        qk = tl.dot(q, tl.trans(k))*scale
        qk = tl.where((om[:, None] >= on[None, :]) & (on[None, :] < N), qk, -float('inf'))
        mn = tl.maximum(mi, tl.max(qk, 1))
        p = tl.exp(qk - mn[:, None])
        al = tl.exp(mi - mn)
        li = li*al + tl.sum(p, 1)
        acc = acc*al[:, None] + tl.dot(p.to(v.dtype), v)
        mi = mn
    tl.store(O + om[:, None]*D + od[None, :], (acc/li[:, None]).to(O.dtype.element_ty), mask=om[:, None] < N)

@triton.jit
def control(x, o, n, thr, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.)
    if thr > 0:
        v = v*2
        k = 0
        while k < thr:
            v = v + 1
            k += 1
    else:
        v = -v
    tl.store(o + i, v, mask=i < n)

@triton.jit
def shapes(x, o, g, idx, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    a, b = tl.split(tl.reshape(v, (N//2, 2)))
    j = tl.interleave(b, a)
    tl.store(o + i, j)
    k = tl.load(idx + i)
    tl.store(g + i, tl.gather(v, k, 0))
    tl.store(o + N + i, tl.sort(v))
    h = tl.histogram(k, 16)
    tl.store(o + 2*N + tl.arange(0, 16), h.to(tl.float32))
    tl.store(o + 3*N + i, tl.flip(v, 0))

@triton.jit
def mathk(x, o, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, mask=m)
    r = tl.exp(v); r += tl.log(tl.abs(v)+1); r += tl.sin(v)*tl.cos(v); r += tl.sqrt(tl.abs(v)); r+= tl.erf(v); r += libdevice.tanh(v); r += tl.exp2(v); r+= tl.rsqrt(tl.abs(v)+1); r += tl.floor(v) + tl.ceil(v); r += tl.math.fma(v, v, v); r += libdevice.pow(tl.abs(v), v) + libdevice.atan2(v, r) + libdevice.fmod(r, v) + libdevice.log1p(tl.abs(v)) + libdevice.expm1(v)
    tl.store(o + i, r, mask=m)

@triton.jit
def debugk(x, n, B: tl.constexpr):
    i = tl.program_id(0)*B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=1)
    tl.device_assert(v > 0, "x must be positive")
    tl.device_print("x", v)

@triton.jit
def rope(x, co, si, o, n, D: tl.constexpr):
    r = tl.program_id(0)
    h: tl.constexpr = D // 2
    i = tl.arange(0, h)
    c = tl.load(co + r*h + i).to(tl.float32); s = tl.load(si + r*h + i).to(tl.float32)
    a = tl.load(x + r*D + i).to(tl.float32); b = tl.load(x + r*D + h + i).to(tl.float32)
    tl.store(x + r*D + i, (a*c - b*s).to(x.dtype.element_ty))
    tl.store(x + r*D + h + i, (b*c + a*s).to(x.dtype.element_ty))

if __name__ == "__main__":
    f='*fp32'; i='i32'
    dump(softmax, dict(o=f,x=f,xs=i,os_=i,n=i,B='constexpr'), dict(B=1024))
    dump(softmax, dict(o='*bf16',x='*bf16',xs=i,os_=i,n=i,B='constexpr'), dict(B=256),'softmax_bf16')
    dump(silu, dict(o='*bf16',x='*bf16',n=i,B='constexpr'), dict(B=1024), 'silu_bf16')
    dump(silu, dict(o='*fp16',x='*fp16',n=i,B='constexpr'), dict(B=1024), 'silu_fp16')
    dump(layernorm, dict(x=f,y=f,w=f,b=f,mean=f,rstd=f,stride=i,N=i,eps='fp32',B='constexpr'), dict(B=128))
    mm=dict(M=i,N=i,K=i,sam=i,sak='constexpr',sbk=i,sbn='constexpr',scm=i,scn='constexpr',BM='constexpr',BN='constexpr',BK='constexpr',G='constexpr')
    cc=dict(sak=1,sbn=1,scn=1,BM=32,BN=64,BK=32,G=4)
    dump(matmul, dict(A=f,B=f,C=f)|mm, cc, 'matmul_fp32')
    dump(matmul, dict(A='*bf16',B='*bf16',C='*bf16')|mm, cc, 'matmul_bf16')
    dump(argmax_rows, dict(x=f,o='*i32',ov=f,n=i,B='constexpr'), dict(B=256))
    dump(cumsum_rows, dict(x=f,o=f,r=f,n=i,B='constexpr'), dict(B=256))
    dump(tile2d, dict(x=f,rs=f,cs=f,mx=f,t=f,M=i,N=i,BM='constexpr',BN='constexpr'), dict(BM=32,BN=64))
    dump(atomics, dict(x='*i32',h='*i32',s=f,mxs='*i32',n=i,B='constexpr'), dict(B=128))
    dump(flash, dict(Q=f,K=f,V=f,O=f,scale='fp32',N=i,D='constexpr',BM='constexpr',BN='constexpr'), dict(D=32,BM=32,BN=32))
    dump(control, dict(x=f,o=f,n=i,thr=i,B='constexpr'), dict(B=128))
    dump(shapes, dict(x=f,o=f,g=f,idx='*i32',N='constexpr'), dict(N=64))
    dump(mathk, dict(x=f,o=f,n=i,B='constexpr'), dict(B=128))
    dump(mathk, dict(x='*fp64',o='*fp64',n=i,B='constexpr'), dict(B=128), 'mathk_fp64')
    dump(debugk, dict(x='*i32',n=i,B='constexpr'), dict(B=64), debug=True)
    dump(rope, dict(x='*bf16',co='*bf16',si='*bf16',o='*bf16',n=i,D='constexpr'), dict(D=64))
