// SPDX-License-Identifier: Apache-2.0
// erf and tanh of f32 with AVX-512: a polynomial for each of 32 parts of the numbers up to where
// the function rounds to 1, whose coefficients a permutation of two registers picks. Half the
// instructions of what VectorMath.cpp takes, and no division.
#include "codegen/common/VectorMathDouble.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <bit>

namespace pellucid::codegen {

using llvm::Value;
namespace I = llvm::Intrinsic;

// clang-format off
/// Of 8a - i around every integer i, by a Remez exchange: below 8 of erf(a) / a - 1, so that small
/// numbers keep their precision, from 8 on of erf(a).
static constexpr float erfTable[5][32] = {
    {0x1.06eba8p-3f, 0x1.f5e1a4p-4f, 0x1.af54e2p-4f, 0x1.3e08c8p-4f, 0x1.4fdeb8p-5f, -0x1.70e9ecp-9f, -0x1.a848b8p-5f, -0x1.a9a1f4p-4f,
     0x1.af767ap-1f, 0x1.c6dad2p-1f, 0x1.d8865ep-1f, 0x1.e5768cp-1f, 0x1.eea556p-1f, 0x1.f4f694p-1f, 0x1.f92d08p-1f, 0x1.fbe61ep-1f,
     0x1.fd9ae2p-1f, 0x1.fea422p-1f, 0x1.ff4048p-1f, 0x1.ff996p-1f, 0x1.ffcaa8p-1f, 0x1.ffe514p-1f, 0x1.fff2dp-1f, 0x1.fff9bap-1f,
     0x1.fffd1ap-1f, 0x1.fffeb4p-1f, 0x1.ffff7p-1f, 0x1.ffffc4p-1f, 0x1.ffffe8p-1f, 0x1.fffff6p-1f, 0x1.fffffcp-1f, 0x1p+0f},
    {0x0p+0f, -0x1.7d8ff2p-7f, -0x1.7306eep-6f, -0x1.09ac2ep-5f, -0x1.4c3874p-5f, -0x1.7edee6p-5f, -0x1.a0cdcep-5f, -0x1.b2931cp-5f,
     0x1.a91206p-5f, 0x1.45e9bp-5f, 0x1.e4654ep-6f, 0x1.5ce5aap-6f, 0x1.e72386p-7f, 0x1.499d4ap-7f, 0x1.b0552p-8f, 0x1.12ce96p-8f,
     0x1.529b5cp-9f, 0x1.9461cep-10f, 0x1.d4136p-11f, 0x1.0690ep-11f, 0x1.1d821cp-12f, 0x1.2ce73ep-13f, 0x1.335f08p-14f, 0x1.30515ep-15f,
     0x1.24064ep-16f, 0x1.0f9b26p-17f, 0x1.e9af78p-19f, 0x1.abd9e4p-20f, 0x1.6a52b2p-21f, 0x1.2963eep-22f, 0x1.d92b06p-24f, 0x0p+0f},
    {-0x1.81273p-8f, -0x1.766bbcp-8f, -0x1.57663ep-8f, -0x1.276b98p-8f, -0x1.d6dd06p-9f, -0x1.5275c2p-9f, -0x1.9a7d9ep-10f, -0x1.45751cp-11f,
     -0x1.a91206p-8f, -0x1.6ea6e8p-8f, -0x1.2ebf56p-8f, -0x1.dfbbd8p-9f, -0x1.6d5ab8p-9f, -0x1.0bcfe2p-9f, -0x1.7a4aa8p-10f, -0x1.01a1d6p-10f,
     -0x1.529bap-11f, -0x1.ada85ap-12f, -0x1.074b3ap-12f, -0x1.37cc82p-13f, -0x1.64e348p-14f, -0x1.8af058p-15f, -0x1.a6a3b8p-16f, -0x1.b57638p-17f,
     -0x1.b60ae8p-18f, -0x1.a86406p-19f, -0x1.8de048p-20f, -0x1.69019cp-21f, -0x1.3d0a1ap-22f, -0x1.0d843cp-23f, -0x1.bb9b6cp-25f, 0x0p+0f},
    {0x0p+0f, 0x1.c4e098p-14f, 0x1.ac38f2p-13f, 0x1.245fbep-12f, 0x1.554fb4p-12f, 0x1.66a4d2p-12f, 0x1.5a6efap-12f, 0x1.3639dp-12f,
     0x1.1ab052p-12f, 0x1.4c16eap-12f, 0x1.56a442p-12f, 0x1.43267cp-12f, 0x1.1c03eap-12f, 0x1.d65824p-13f, 0x1.716a8ap-13f, 0x1.1477b2p-13f,
     0x1.8b90c6p-14f, 0x1.0f2456p-14f, 0x1.64c998p-15f, 0x1.c34268p-16f, 0x1.129848p-16f, 0x1.41d97ep-17f, 0x1.6b9336p-18f, 0x1.8c1394p-19f,
     0x1.a05286p-20f, 0x1.a6692p-21f, 0x1.9ddcecp-22f, 0x1.87aefcp-23f, 0x1.662c6ap-24f, 0x1.3c8c18p-25f, 0x1.0e6fc6p-26f, 0x0p+0f},
    {0x1.cd6ebep-16f, 0x1.b40dep-16f, 0x1.6c2178p-16f, 0x1.015eep-16f, 0x1.08d668p-17f, 0x1.d92bb6p-22f, -0x1.9666c4p-18f, -0x1.6e46a6p-17f,
     0x1.1bc83ap-16f, 0x1.ccc22ep-18f, -0x1.889192p-20f, -0x1.f11016p-18f, -0x1.6c3e6ap-17f, -0x1.967daap-17f, -0x1.898eaap-17f, -0x1.59f7f8p-17f,
     -0x1.1a26c4p-17f, -0x1.b01ab2p-18f, -0x1.38fd62p-18f, -0x1.af0c8cp-19f, -0x1.1b2a7cp-19f, -0x1.63d6c6p-20f, -0x1.ac88ccp-21f, -0x1.ef5696p-22f,
     -0x1.131b8cp-22f, -0x1.25f432p-23f, -0x1.2e6224p-24f, -0x1.2baa62p-25f, -0x1.1e43d4p-26f, -0x1.07bc2ep-27f, -0x1.d4ded8p-29f, 0x0p+0f},
};

/// Of 3.4a - i, in the same way: below 3 of tanh(a) / a - 1, from 3 on of tanh(a).
static constexpr float tanhTable[6][32] = {
    {0x0p+0f, -0x1.c8a3bap-6f, -0x1.9f13a8p-4f, 0x1.6a4a0ap-1f, 0x1.a7157p-1f, 0x1.cca41ep-1f, 0x1.e2d458p-1f, 0x1.ef97f4p-1f,
     0x1.f6d2f4p-1f, 0x1.fae256p-1f, 0x1.fd271ep-1f, 0x1.fe6abep-1f, 0x1.ff1ecep-1f, 0x1.ff82e6p-1f, 0x1.ffba84p-1f, 0x1.ffd96ap-1f,
     0x1.ffea92p-1f, 0x1.fff41ap-1f, 0x1.fff964p-1f, 0x1.fffc54p-1f, 0x1.fffdf6p-1f, 0x1.fffedep-1f, 0x1.ffff6p-1f, 0x1.ffffa6p-1f,
     0x1.ffffcep-1f, 0x1.ffffe4p-1f, 0x1.fffffp-1f, 0x1.fffff8p-1f, 0x1.fffffcp-1f, 0x1.fffffep-1f, 0x1.fffffep-1f, 0x1p+0f},
    {-0x1.b4df76p-26f, -0x1.b96124p-5f, -0x1.6cc3a2p-4f, 0x1.2cc26ep-3f, 0x1.7e18a2p-4f, 0x1.cb2258p-5f, 0x1.0ab9b2p-5f, 0x1.2fe0fcp-6f,
     0x1.565a5p-7f, 0x1.7f4512p-8f, 0x1.ab8fe2p-9f, 0x1.dc0844p-10f, 0x1.08b526p-10f, 0x1.26365ep-11f, 0x1.46e50ep-12f, 0x1.6b239ap-13f,
     0x1.935c14p-14f, 0x1.c0024ep-15f, 0x1.f195a6p-16f, 0x1.14516ep-16f, 0x1.32e2dep-17f, 0x1.54d586p-18f, 0x1.7a894p-19f, 0x1.a4687p-20f,
     0x1.d2e936p-21f, 0x1.03476p-21f, 0x1.1ff55ep-22f, 0x1.3fcf78p-23f, 0x1.632f8p-24f, 0x1.8a794p-25f, 0x1.b61b8p-26f, 0x0p+0f},
    {-0x1.d86bfcp-6f, -0x1.7e6656p-6f, -0x1.7879b8p-7f, -0x1.f4bfbcp-6f, -0x1.7374a2p-6f, -0x1.e5fcdep-7f, -0x1.27f2d8p-7f, -0x1.5a0554p-8f,
     -0x1.8b98b4p-9f, -0x1.be29cep-10f, -0x1.f41ee6p-11f, -0x1.16a93cp-11f, -0x1.36c7f6p-12f, -0x1.58fc92p-13f, -0x1.7f89fcp-14f, -0x1.b1b6f6p-15f,
     -0x1.dcad8p-16f, -0x1.10fe62p-16f, -0x1.1f4e22p-17f, -0x1.2513bep-18f, -0x1.44651ap-19f, -0x1.4799d6p-20f, -0x1.bd0aaap-20f, 0x1.6235e6p-23f,
     0x1.e4201ap-24f, 0x1.30e42ap-22f, 0x1.394214p-21f, -0x1.122bf2p-21f, -0x1.784fe8p-21f, -0x1.40fffcp-21f, 0x1.1024cp-21f, 0x0p+0f},
    {-0x1.c21258p-18f, 0x1.b7d582p-9f, 0x1.0a62e8p-8f, 0x1.16a7e2p-9f, 0x1.71adf8p-9f, 0x1.2e8f54p-9f, 0x1.9a7c88p-10f, 0x1.fbc0eap-11f,
     0x1.2b0f54p-11f, 0x1.571b8ap-12f, 0x1.83f48ap-13f, 0x1.b32ed2p-14f, 0x1.e5fb0cp-15f, 0x1.0eb332p-15f, 0x1.2d271p-16f, 0x1.4ec6ccp-17f,
     0x1.74017p-18f, 0x1.9d446p-19f, 0x1.cb106cp-20f, 0x1.fde2e4p-21f, 0x1.1b287ap-21f, 0x1.3a7d24p-22f, 0x1.5d4644p-23f, 0x1.83ea9ep-24f,
     0x1.aed3eap-25f, 0x1.de7c7ap-26f, 0x1.09b498p-26f, 0x1.2716ccp-27f, 0x1.47bbf8p-28f, 0x1.6bfbeap-29f, 0x1.9441e4p-30f, 0x0p+0f},
    {0x1.0cad52p-10f, 0x1.1f4c0cp-11f, -0x1.380db6p-13f, 0x1.cf8aap-12f, -0x1.f034f8p-16f, -0x1.7a0584p-13f, -0x1.63ed06p-13f, -0x1.06982cp-13f,
     -0x1.409f72p-14f, -0x1.a2701cp-15f, -0x1.cb9bcep-16f, -0x1.3c5728p-16f, -0x1.2a0bbcp-17f, -0x1.a64442p-18f, -0x1.cdbaeap-19f, 0x1.c2b1d2p-20f,
     -0x1.379a82p-22f, 0x1.e3b22ap-20f, -0x1.debb7ep-21f, -0x1.122dbap-19f, -0x1.395cd2p-20f, -0x1.3072dcp-20f, 0x1.b889d4p-19f, -0x1.50e3ecp-19f,
     -0x1.8cc9dap-20f, -0x1.c97ddap-20f, -0x1.631e68p-19f, 0x1.f3dafep-20f, 0x1.6a59ap-19f, 0x1.38ff44p-19f, -0x1.139586p-19f, 0x0p+0f},
    {-0x1.a52544p-15f, -0x1.367dc4p-13f, -0x1.b9bf38p-14f, -0x1.0b1b5ap-13f, -0x1.ec7e8ap-15f, -0x1.2f1fa6p-17f, 0x1.1cf18ep-17f, 0x1.572a02p-17f,
     0x1.04d7c2p-17f, 0x1.4d9218p-18f, 0x1.91e32p-19f, 0x1.cf6706p-20f, 0x1.08a0c4p-20f, 0x1.28b56ap-21f, 0x1.4c29e2p-22f, 0x1.7353dcp-23f,
     0x1.9c472ep-24f, 0x1.cbed8ep-25f, 0x1.fce128p-26f, 0x1.1abb08p-26f, 0x1.39ff8ap-27f, 0x1.5c93e8p-28f, 0x1.84c9ecp-29f, 0x1.ae33f8p-30f,
     0x1.ddd53ap-31f, 0x1.0924b2p-31f, 0x1.269e48p-32f, 0x1.48e82ap-33f, 0x1.6ca322p-34f, 0x1.95394ap-35f, 0x1.bf58fp-36f, 0x0p+0f},
};
// clang-format on

static Value *pick(CodeBuilder &b, const float (&row)[32], Value *index) {
  auto half = [&](int first) {
    return llvm::ConstantDataVector::get(b.getContext(), llvm::ArrayRef(row + first, 16));
  };
  return b.CreateIntrinsic(I::x86_avx512_vpermi2var_ps_512, {}, {half(0), index, half(16)});
}

/// `scale` times |x| is an integer, which chooses the column, and a rest. Columns below
/// `firstWhole` hold the function over x, less 1; from `end` on it is 1.
template <size_t Degrees>
static Value *byTable(CodeBuilder &b, Value *x, const float (&table)[Degrees][32], double scale,
                      double firstWhole, double end) {
  auto number = [&](double value) { return floatLike(x, value); };
  Value *a = b.CreateUnaryIntrinsic(I::fabs, x);
  // The comparison keeps NaN.
  a = b.CreateSelect(b.CreateFCmpOGT(a, number(end)), number(end), a);
  // The sum's last bits are the nearest integer; a permutation looks at five of them.
  Value *magic = number(0x1.8p23), *shifted = emitFma(b, a, number(scale), magic);
  Value *whole = b.CreateFSub(shifted, magic);
  Value *rest = emitFma(b, a, number(scale), b.CreateFNeg(whole));
  Value *index = b.CreateBitCast(shifted, typeLike(x, b.i32()));
  Value *sum = pick(b, table[Degrees - 1], index);
  for (size_t degree = Degrees - 1; degree-- > 0;)
    sum = emitFma(b, sum, rest, pick(b, table[degree], index));
  Value *isSmall = b.CreateFCmpOLT(whole, number(firstWhole - 0.5));
  Value *result = b.CreateSelect(isSmall, emitFma(b, a, sum, a), sum);
  return b.CreateBinaryIntrinsic(I::copysign, result, x);
}

Value *erfOfSixteen(CodeBuilder &b, Value *x) { return byTable(b, x, erfTable, 8, 8, 3.925); }
Value *tanhOfSixteen(CodeBuilder &b, Value *x) { return byTable(b, x, tanhTable, 3.4, 3, 9.1); }

} // namespace pellucid::codegen
