// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/DotUnits.h"

#include "codegen/common/ControlFlow.h"
#include "codegen/cpu/CpuMemory.h"
#include "codegen/cpu/TransposeSquare.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

namespace pellucid::codegen {

using llvm::Value;

namespace {

/// Addresses and the register tile of one product.
class GroupDot {
public:
  GroupDot(CodeBuilder &b, const GroupedDot &dot) : b(b), dot(dot) {
    lanes = std::min<int64_t>(16, dot.n & -dot.n);
    vectors = std::min<int64_t>(4, dot.n / lanes);
    while (dot.n % (vectors * lanes))
      --vectors;
    rows = int64_t(llvm::bit_floor(uint64_t(std::min<int64_t>(24 / vectors, dot.m))));
    rows = std::min<int64_t>(rows, dot.m & -dot.m);
    sum = lanesOf(dot.integers ? b.i32() : b.getFloatTy(), lanes);
    groups = lanesOf(b.i32(), lanes);
    inside =
        dot.integers
            ? lanesOf(b.i8(), 4 * lanes)
            : static_cast<llvm::Type *>(llvm::FixedVectorType::get(b.getBFloatTy(), 2 * lanes));
  }

  void emit() {
    for (int64_t i = 0; i < rows * vectors; ++i)
      registers.push_back(emitVariable(b, sum));
    if (dot.integers)
      for (int64_t v = 0; v < vectors; ++v)
        excess.push_back(emitVariable(b, sum));
    emitLoop(b, b.getInt64(0), b.getInt64(dot.n), vectors * lanes, true, [&](Value *column) {
      if (dot.integers)
        emitExcess(column);
      emitLoop(b, b.getInt64(0), b.getInt64(dot.m), rows, true,
               [&](Value *row) { emitRegisters(row, column); });
    });
  }

private:
  static constexpr int32_t half = int32_t(0x80808080);

  /// The left factors are made unsigned by adding 128 to each, which adds 128 times the sum of the
  /// right ones: it is taken away again.
  void emitExcess(Value *column) {
    for (llvm::AllocaInst *held : excess)
      b.CreateStore(llvm::Constant::getNullValue(sum), held);
    emitLoop(b, b.getInt64(0), b.getInt64(dot.k / 4), 1, true, [&](Value *inner) {
      Value *most = b.CreateBitCast(splatTo(b, b.getInt32(half), lanes), inside);
      for (int64_t v = 0; v < vectors; ++v)
        update(excess[v], most, loadGroups(inner, column, v));
    });
  }

  void emitRegisters(Value *row, Value *column) {
    llvm::Align align(4);
    auto forRegisters = [&](auto body) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t v = 0; v < vectors; ++v)
          body(registers[r * vectors + v], v, sumAt(row, r, column, v));
    };
    forRegisters([&](llvm::AllocaInst *held, int64_t v, Value *address) {
      Value *value = llvm::Constant::getNullValue(sum);
      if (!dot.isFirst)
        value = b.CreateAlignedLoad(sum, address, align);
      if (dot.integers)
        value = b.CreateSub(value, b.CreateLoad(sum, excess[v]));
      b.CreateStore(value, held);
    });
    emitLoop(b, b.getInt64(0), b.getInt64(dot.k / dot.group()), 1, true, [&](Value *inner) {
      llvm::SmallVector<Value *> right;
      for (int64_t v = 0; v < vectors; ++v)
        right.push_back(loadGroups(inner, column, v));
      for (int64_t r = 0; r < rows; ++r) {
        Value *left = loadLeft(row, r, inner);
        for (int64_t v = 0; v < vectors; ++v)
          update(registers[r * vectors + v], left, right[v]);
      }
    });
    forRegisters([&](llvm::AllocaInst *held, int64_t, Value *address) {
      b.CreateAlignedStore(b.CreateLoad(sum, held), address, align);
    });
  }

  Value *sumAt(Value *row, int64_t r, Value *column, int64_t v) {
    Value *start = b.CreateMul(b.CreateAdd(row, b.getInt64(r)), b.getInt64(dot.n));
    Value *index = b.CreateAdd(start, b.CreateAdd(column, b.getInt64(v * lanes)));
    return b.CreateGEP(b.i32(), dot.sums, index);
  }
  Value *loadGroups(Value *inner, Value *column, int64_t v) {
    Value *index = b.CreateAdd(b.CreateMul(inner, b.getInt64(dot.n)),
                               b.CreateAdd(column, b.getInt64(v * lanes)));
    Value *address = b.CreateGEP(b.i32(), dot.grouped, index);
    return b.CreateBitCast(b.CreateAlignedLoad(groups, address, llvm::Align(4)), inside);
  }
  Value *loadLeft(Value *row, int64_t r, Value *inner) {
    Value *start = b.CreateMul(b.CreateAdd(row, b.getInt64(r)), dot.lhsRowBytes);
    Value *address = b.CreateGEP(b.i32(), b.CreateGEP(b.i8(), dot.lhs, start), inner);
    Value *loaded = b.CreateAlignedLoad(b.i32(), address, llvm::Align(4 / dot.group()));
    if (dot.integers)
      loaded = b.CreateXor(loaded, b.getInt32(half));
    return b.CreateBitCast(splatTo(b, loaded, lanes), inside);
  }
  void update(llvm::AllocaInst *held, Value *left, Value *right) {
    b.CreateStore(b.CreateIntrinsic(instruction(), {}, {b.CreateLoad(sum, held), left, right}),
                  held);
  }
  llvm::Intrinsic::ID instruction() const {
    if (lanes == 16)
      return dot.integers ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                          : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512;
    if (lanes == 8)
      return dot.integers ? llvm::Intrinsic::x86_avx512_vpdpbusd_256
                          : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256;
    return dot.integers ? llvm::Intrinsic::x86_avx512_vpdpbusd_128
                        : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128;
  }

  CodeBuilder &b;
  const GroupedDot &dot;
  int64_t lanes, vectors, rows;
  llvm::Type *sum, *groups, *inside;
  llvm::SmallVector<llvm::AllocaInst *> registers, excess;
};

} // namespace

DotForm dotFormOf(tt::DotOp op, CpuLevel level) {
  mlir::Type left = tileType(op.getA()).getElementType();
  mlir::Type right = tileType(op.getB()).getElementType();
  mlir::Type result = tileType(op.getD()).getElementType();
  bool floats = left.isBF16() && right.isBF16() && !result.isF64();
  bool integers = left.isInteger(8) && right.isInteger(8) && result.isInteger(32);
  llvm::ArrayRef<int64_t> a = tileType(op.getA()).getShape(), d = tileType(op.getD()).getShape();
  int64_t m = d[d.size() - 2], n = d.back(), k = a.back(), group = integers ? 4 : 2;
  if (!hasPairProducts(level) || !(floats || integers) || n % 4 != 0 || k % group != 0)
    return DotForm::MultiplyAdd;
  bool fits = m % tileRows == 0 && n % tileRows == 0 && k % (tileRows * group) == 0;
  return hasTileProducts(level) && fits ? DotForm::Tiles : DotForm::Groups;
}

void emitGrouping(CodeBuilder &b, Value *rows, Value *rowBytes, const GroupedDot &dot) {
  int64_t lanes = std::min<int64_t>(16, dot.n & -dot.n), group = dot.group();
  llvm::Type *element = b.getIntNTy(32 / group), *groups = lanesOf(b.i32(), lanes);
  emitLoop(b, b.getInt64(0), b.getInt64(dot.k / group), 1, true, [&](Value *inner) {
    Value *first = b.CreateMul(inner, b.getInt64(dot.n));
    llvm::SmallVector<Value *> terms;
    for (int64_t term = 0; term < group; ++term) {
      Value *row = b.CreateAdd(b.CreateMul(inner, b.getInt64(group)), b.getInt64(term));
      terms.push_back(b.CreateGEP(b.i8(), rows, b.CreateMul(row, rowBytes)));
    }
    emitLoop(b, b.getInt64(0), b.getInt64(dot.n), lanes, true, [&](Value *column) {
      Value *joined = nullptr;
      for (int64_t term = 0; term < group; ++term) {
        Value *address = b.CreateGEP(element, terms[term], column);
        Value *loaded =
            b.CreateAlignedLoad(lanesOf(element, lanes), address, llvm::Align(4 / group));
        Value *placed = b.CreateZExt(loaded, groups);
        placed = b.CreateShl(placed, integerLike(placed, term * 32 / group));
        joined = joined ? b.CreateOr(joined, placed) : placed;
      }
      Value *target = b.CreateGEP(b.i32(), dot.grouped, b.CreateAdd(first, column));
      b.CreateAlignedStore(joined, target, llvm::Align(4));
    });
  });
}

void emitTurnedGrouping(CodeBuilder &b, Value *columns, Value *columnBytes, const GroupedDot &dot) {
  int64_t groups = dot.k / dot.group();
  llvm::Type *type = lanesOf(b.i32(), turnedUnit);
  Value *width = b.getInt64(4 * dot.n);
  llvm::Align narrow(4 / dot.group());
  auto at = [&](Value *base, Value *row, int64_t more, Value *bytes, Value *column) {
    Value *start = b.CreateMul(b.CreateAdd(row, b.getInt64(more)), bytes);
    return b.CreateGEP(b.i32(), b.CreateGEP(b.i8(), base, start), column);
  };
  emitLoop(b, b.getInt64(0), b.getInt64(groups), turnedUnit, true, [&](Value *group) {
    emitLoop(b, b.getInt64(0), b.getInt64(dot.n), turnedUnit, true, [&](Value *column) {
      llvm::SmallVector<Value *> square;
      for (int64_t i = 0; i < turnedUnit; ++i)
        square.push_back(
            b.CreateAlignedLoad(type, at(columns, column, i, columnBytes, group), narrow));
      transposeSquare(b, square);
      for (int64_t i = 0; i < turnedUnit; ++i)
        b.CreateAlignedStore(square[i], at(dot.grouped, group, i, width, column), llvm::Align(4));
    });
  });
}

void emitGroupDot(CodeBuilder &b, const GroupedDot &dot) { GroupDot(b, dot).emit(); }

/// The configuration's fields (Intel's manual, LDTILECFG): palette 1, bytes of a row of each tile
/// from byte 16 on, rows of each from byte 48 on.
void emitTileStart(CodeBuilder &b, llvm::Module &module) {
  std::array<uint8_t, 64> bytes = {1};
  for (int tile = 0; tile < 8; ++tile) {
    bytes[16 + 2 * tile] = tileBytes;
    bytes[48 + tile] = tileRows;
  }
  llvm::Constant *text = llvm::ConstantDataArray::get(b.getContext(), llvm::ArrayRef(bytes));
  auto *table = new llvm::GlobalVariable(module, text->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, text, "tiles");
  table->setAlignment(llvm::Align(64));
  b.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, llvm::ArrayRef<Value *>(table));
}

void emitTileEnd(CodeBuilder &b) {
  b.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, llvm::ArrayRef<Value *>());
}

void emitTileDot(CodeBuilder &b, const GroupedDot &dot) {
  int64_t high = dot.m % (2 * tileRows) == 0 ? 2 : 1, wide = dot.n % (2 * tileRows) == 0 ? 2 : 1;
  Value *rowBytes = b.getInt64(4 * dot.n);
  auto move = [&](llvm::Intrinsic::ID what, unsigned tile, Value *at, Value *stride) {
    b.CreateIntrinsic(what, {}, {b.getInt8(tile), at, stride});
  };
  auto plus = [&](Value *index, int64_t tiles) {
    return b.CreateAdd(index, b.getInt64(tiles * tileRows));
  };
  // All three have elements or groups of four bytes.
  auto at = [&](Value *base, Value *row, int64_t width, Value *column) {
    return b.CreateGEP(b.i32(), base, b.CreateAdd(b.CreateMul(row, b.getInt64(width)), column));
  };
  auto product = dot.integers ? llvm::Intrinsic::x86_tdpbssd : llvm::Intrinsic::x86_tdpbf16ps;
  int64_t depth = dot.k / dot.group();
  emitLoop(b, b.getInt64(0), b.getInt64(dot.n), wide * tileRows, true, [&](Value *column) {
    emitLoop(b, b.getInt64(0), b.getInt64(dot.m), high * tileRows, true, [&](Value *row) {
      auto forSums = [&](llvm::Intrinsic::ID what) {
        for (int64_t i = 0; i < high; ++i)
          for (int64_t j = 0; j < wide; ++j)
            move(what, 2 * i + j, at(dot.sums, plus(row, i), dot.n, plus(column, j)), rowBytes);
      };
      if (dot.isFirst)
        for (int64_t i = 0; i < high; ++i)
          for (int64_t j = 0; j < wide; ++j)
            b.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {b.getInt8(2 * i + j)});
      else
        forSums(llvm::Intrinsic::x86_tileloadd64);
      emitLoop(b, b.getInt64(0), b.getInt64(depth), tileRows, true, [&](Value *inner) {
        for (int64_t j = 0; j < wide; ++j)
          move(llvm::Intrinsic::x86_tileloadd64, rightTile + j,
               at(dot.grouped, inner, dot.n, plus(column, j)), rowBytes);
        for (int64_t i = 0; i < high; ++i) {
          Value *left = b.CreateGEP(b.i8(), dot.lhs, b.CreateMul(plus(row, i), dot.lhsRowBytes));
          move(llvm::Intrinsic::x86_tileloadd64, leftTile + i, b.CreateGEP(b.i32(), left, inner),
               dot.lhsRowBytes);
          for (int64_t j = 0; j < wide; ++j)
            b.CreateIntrinsic(
                product, {},
                {b.getInt8(2 * i + j), b.getInt8(leftTile + i), b.getInt8(rightTile + j)});
        }
      });
      forSums(llvm::Intrinsic::x86_tilestored64);
    });
  });
}

} // namespace pellucid::codegen
