// SPDX-License-Identifier: Apache-2.0
// erf of f32 with AVX-512: a polynomial of degree 4 for each eighth of [0, 4), whose coefficients a
// permutation of two registers picks. Half the instructions of the two polynomials and exp that
// VectorMath.cpp takes.
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
// clang-format on

static Value *pick(CodeBuilder &b, const float (&row)[32], Value *index) {
  auto half = [&](int first) {
    return llvm::ConstantDataVector::get(b.getContext(), llvm::ArrayRef(row + first, 16));
  };
  return b.CreateIntrinsic(I::x86_avx512_vpermi2var_ps_512, {}, {half(0), index, half(16)});
}

Value *erfOfSixteen(CodeBuilder &b, Value *x) {
  auto number = [&](double value) { return floatLike(x, value); };
  Value *a = b.CreateUnaryIntrinsic(I::fabs, x);
  // From 3.9192 on it rounds to 1. The comparison keeps NaN.
  a = b.CreateSelect(b.CreateFCmpOGT(a, number(3.925)), number(3.925), a);
  // The sum's last bits are the nearest integer to 8a; a permutation looks at five of them.
  Value *magic = number(0x1.8p23), *shifted = emitFma(b, a, number(8), magic);
  Value *whole = b.CreateFSub(shifted, magic);
  Value *rest = emitFma(b, a, number(8), b.CreateFNeg(whole));
  Value *index = b.CreateBitCast(shifted, typeLike(x, b.i32()));
  Value *sum = pick(b, erfTable[4], index);
  for (int degree = 3; degree >= 0; --degree)
    sum = emitFma(b, sum, rest, pick(b, erfTable[degree], index));
  Value *isSmall = b.CreateFCmpOLT(a, number(0.9375));
  Value *result = b.CreateSelect(isSmall, emitFma(b, a, sum, a), sum);
  return b.CreateBinaryIntrinsic(I::copysign, result, x);
}

} // namespace pellucid::codegen
