// SPDX-License-Identifier: Apache-2.0
// dot, and operations with a region or foreign code.
#include "tt/TtOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace pellucid::tt {

//===--- dot ----------------------------------------------------------------------------------===//

LogicalResult DotOp::verify() {
  RankedTensorType a = tileTypeOf(getA()), b = tileTypeOf(getB()), c = tileTypeOf(getC());
  int64_t rank = a.getRank();
  // dot_c1
  if ((rank != 2 && rank != 3) || b.getRank() != rank || c.getRank() != rank)
    return emitOpError() << "expects tiles of equal rank 2 or 3, got " << rank << ", "
                         << b.getRank() << " and " << c.getRank();
  int64_t rows = rank - 2, columns = rank - 1;
  // dot_c2
  if (a.getDimSize(columns) != b.getDimSize(rows))
    return emitOpError() << "expects inner dimensions to match, got " << a.getDimSize(columns)
                         << " and " << b.getDimSize(rows);
  // dot_c3
  if (c.getDimSize(rows) != a.getDimSize(rows) || c.getDimSize(columns) != b.getDimSize(columns))
    return emitOpError() << "expects an accumulator of " << a.getDimSize(rows) << "x"
                         << b.getDimSize(columns) << ", got " << c.getDimSize(rows) << "x"
                         << c.getDimSize(columns);
  // dot_c4
  if (rank == 3 && (a.getDimSize(0) != b.getDimSize(0) || a.getDimSize(0) != c.getDimSize(0)))
    return emitOpError() << "expects equal batch dimensions, got " << a.getDimSize(0) << ", "
                         << b.getDimSize(0) << " and " << c.getDimSize(0);
  // dot_c5
  if (a.getElementType().getIntOrFloatBitWidth() != b.getElementType().getIntOrFloatBitWidth())
    return emitOpError() << "expects operands of equal width, got " << a.getElementType() << " and "
                         << b.getElementType();
  return success();
}

/// How many elements of the matrix one element of the tile holds along K: fp4 comes in pairs.
static int64_t packing(ScaleDotElemType type, bool packedAlongK) {
  return type == ScaleDotElemType::E2M1 && packedAlongK ? 2 : 1;
}

LogicalResult DotScaledOp::verify() {
  RankedTensorType a = tileTypeOf(getA()), b = tileTypeOf(getB()), c = tileTypeOf(getC());
  int64_t rank = a.getRank();
  // dot_scaled_c1
  if ((rank != 2 && rank != 3) || b.getRank() != rank || c.getRank() != rank)
    return emitOpError() << "expects tiles of equal rank 2 or 3, got " << rank << ", "
                         << b.getRank() << " and " << c.getRank();
  int64_t innerOfA = a.getDimSize(rank - 1) * packing(getAElemType(), getLhsKPack());
  int64_t innerOfB = b.getDimSize(rank - 2) * packing(getBElemType(), getRhsKPack());
  // dot_scaled_c2
  if (innerOfA != innerOfB)
    return emitOpError() << "expects inner dimensions to match, got " << innerOfA << " and "
                         << innerOfB;
  return success();
}

//===--- reduce and scan ----------------------------------------------------------------------===//

/// The type of one result of a reduction of `tile` along `axis`: a scalar when no dimension is
/// left.
static Type reducedType(RankedTensorType tile, int axis) {
  SmallVector<int64_t> shape(tile.getShape());
  shape.erase(shape.begin() + axis);
  if (shape.empty())
    return tile.getElementType();
  return RankedTensorType::get(shape, tile.getElementType());
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, int axis) {
  SmallVector<Type> results;
  for (Value src : srcs)
    results.push_back(reducedType(tileTypeOf(src), axis));
  build(builder, state, results, srcs, axis);
}

void ScanOp::build(OpBuilder &builder, OperationState &state, ValueRange srcs, int axis,
                   bool reverse) {
  SmallVector<Type> results(srcs.getTypes());
  build(builder, state, results, srcs, axis, reverse);
}

/// reduce_c1..c3 and scan_c1..c3: operands, their shapes, the axis.
template <typename FoldOp> static LogicalResult verifyFoldOperands(FoldOp op) {
  // reduce_c1, scan_c1
  if (op.getSrcs().empty())
    return op.emitOpError() << "expects at least one tile";
  RankedTensorType first = tileTypeOf(op.getSrcs()[0]);
  for (Value src : op.getSrcs()) {
    // reduce_c2, scan_c2
    if (tileTypeOf(src).getShape() != first.getShape())
      return op.emitOpError() << "expects tiles of equal shapes, got " << first << " and "
                              << src.getType();
  }
  int64_t axis = op.getAxisAttr().getInt();
  // reduce_c3, scan_c3
  if (axis < 0 || axis >= first.getRank())
    return op.emitOpError() << "expects an axis from 0 to " << first.getRank() - 1 << ", got "
                            << axis;
  // reduce_c4, scan_c4
  if (op->getNumResults() != op.getSrcs().size())
    return op.emitOpError() << "expects one result per tile, got " << op->getNumResults() << " for "
                            << op.getSrcs().size();
  return success();
}

/// reduce_c6..c7 and scan_c6..c7: two block arguments per tile, one returned scalar per tile.
template <typename FoldOp> static LogicalResult verifyCombiner(FoldOp op) {
  Block &body = op.getCombineOp().front();
  size_t count = op.getSrcs().size();
  // reduce_c6, scan_c6
  if (body.getNumArguments() != 2 * count)
    return op.emitOpError() << "expects " << 2 * count << " arguments of its region, got "
                            << body.getNumArguments();
  for (size_t i = 0; i < 2 * count; ++i) {
    Type element = tileTypeOf(op.getSrcs()[i % count]).getElementType();
    if (body.getArgument(i).getType() != element)
      return op.emitOpError() << "expects argument " << i << " of its region to be " << element
                              << ", got " << body.getArgument(i).getType();
  }
  Operation *last = body.getTerminator();
  // reduce_c7, scan_c7
  if (last->getNumOperands() != count)
    return op.emitOpError() << "expects its region to return " << count << " values, got "
                            << last->getNumOperands();
  for (size_t i = 0; i < count; ++i) {
    Type element = tileTypeOf(op.getSrcs()[i]).getElementType();
    if (last->getOperand(i).getType() != element)
      return op.emitOpError() << "expects its region to return " << element << ", got "
                              << last->getOperand(i).getType();
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyFoldOperands(*this)))
    return failure();
  for (auto [src, result] : llvm::zip_equal(getSrcs(), getResults())) {
    Type expected = reducedType(tileTypeOf(src), getAxis());
    // reduce_c5
    if (getElementTypeOrSelf(result.getType()) != getElementTypeOrSelf(expected) ||
        isa<RankedTensorType>(result.getType()) != isa<RankedTensorType>(expected) ||
        (isa<RankedTensorType>(expected) &&
         tileTypeOf(result).getShape() != cast<RankedTensorType>(expected).getShape()))
      return emitOpError() << "expects result type " << expected << ", got " << result.getType();
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() { return verifyCombiner(*this); }

LogicalResult ScanOp::verify() {
  if (failed(verifyFoldOperands(*this)))
    return failure();
  for (auto [src, result] : llvm::zip_equal(getSrcs(), getResults())) {
    // scan_c5
    if (src.getType() != result.getType())
      return emitOpError() << "expects result type " << src.getType() << ", got "
                           << result.getType();
  }
  return success();
}

LogicalResult ScanOp::verifyRegions() { return verifyCombiner(*this); }

//===--- map_elementwise ----------------------------------------------------------------------===//

LogicalResult MapElementwiseOp::verify() {
  // map_elementwise_c1
  if (getSrcs().empty())
    return emitOpError() << "expects at least one tile";
  auto shape = tileTypeOf(getSrcs()[0]).getShape();
  for (Type type : llvm::concat<const Type>(getOperandTypes(), getResultTypes())) {
    // map_elementwise_c2
    if (cast<RankedTensorType>(type).getShape() != shape)
      return emitOpError() << "expects tiles of equal shapes, got " << getSrcs()[0].getType()
                           << " and " << type;
  }
  int64_t pack = getPackAttr().getInt();
  // map_elementwise_c3
  if (pack <= 0 || tileTypeOf(getSrcs()[0]).getNumElements() % pack != 0)
    return emitOpError() << "expects a pack that divides "
                         << tileTypeOf(getSrcs()[0]).getNumElements() << ", got " << pack;
  return success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  Region &region = getScalarOp();
  size_t expected = getSrcs().size() * getPack();
  // map_elementwise_c4
  if (region.empty() || region.getNumArguments() != expected)
    return emitOpError() << "expects " << expected << " arguments of its region, got "
                         << (region.empty() ? 0 : region.getNumArguments());
  for (Block &block : region) {
    auto ret = dyn_cast<MapElementwiseReturnOp>(block.getTerminator());
    // map_elementwise_c5
    if (ret && ret.getNumOperands() != getNumResults() * getPack())
      return emitOpError() << "expects its region to return " << getNumResults() * getPack()
                           << " values, got " << ret.getNumOperands();
  }
  return success();
}

//===--- foreign code and printing ------------------------------------------------------------===//

LogicalResult ElementwiseInlineAsmOp::verify() {
  int64_t elements = 1;
  for (Type type : llvm::concat<const Type>(getOperandTypes(), getResultTypes()))
    if (auto tile = dyn_cast<RankedTensorType>(type))
      elements = tile.getNumElements();
  int64_t pack = getPackedElementAttr().getInt();
  // elementwise_inline_asm_c1
  if (pack <= 0 || (elements > 1 && elements % pack != 0))
    return emitOpError() << "expects a packed_element that divides " << elements << ", got "
                         << pack;
  return success();
}

LogicalResult PrintOp::verify() {
  // print_c1
  if (getIsSigned().size() != getArgs().size())
    return emitOpError() << "expects one isSigned per argument, got " << getIsSigned().size()
                         << " for " << getArgs().size();
  return success();
}

} // namespace pellucid::tt
