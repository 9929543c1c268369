// SPDX-License-Identifier: Apache-2.0
#include "codegen/gpu/TtGpu.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "codegen/gpu/TtGpuDialect.cpp.inc"

#include "codegen/gpu/TtGpuEnums.cpp.inc"

// [64, argument 3]
static mlir::ParseResult parseNumbers(mlir::AsmParser &parser,
                                      llvm::SmallVector<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, [&] {
    bool isArgument = mlir::succeeded(parser.parseOptionalKeyword("argument"));
    int64_t &number = numbers.emplace_back();
    if (parser.parseInteger(number))
      return mlir::failure();
    number = isArgument ? -1 - number : number;
    return mlir::success();
  });
}
static void printNumbers(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> numbers) {
  printer << "[";
  llvm::interleaveComma(numbers, printer.getStream(), [&](int64_t number) {
    if (number < 0)
      printer << "argument " << -1 - number;
    else
      printer << number;
  });
  printer << "]";
}

#define GET_ATTRDEF_CLASSES
#include "codegen/gpu/TtGpuAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "codegen/gpu/TtGpuTypes.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/gpu/TtGpuOps.cpp.inc"

using namespace mlir;

namespace pellucid::ttgpu {

namespace {

/// `#layout` stands for what would fill lines.
struct AliasLayouts : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const final {
    if (!isa<LayoutAttr>(attribute))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};

} // namespace

void TtGpuDialect::initialize() {
  registerTypes();
  registerAttributes();
  addInterfaces<AliasLayouts>();
  addOperations<
#define GET_OP_LIST
#include "codegen/gpu/TtGpuOps.cpp.inc"
      >();
}

void TtGpuDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "codegen/gpu/TtGpuTypes.cpp.inc"
      >();
}

void TtGpuDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/gpu/TtGpuAttributes.cpp.inc"
      >();
}

TargetAttr targetOf(Operation *op) {
  auto function = isa<tt::FuncOp>(op) ? cast<tt::FuncOp>(op) : op->getParentOfType<tt::FuncOp>();
  return function ? function->getAttrOfType<TargetAttr>(targetName) : TargetAttr();
}

MatrixUnit unitOf(tt::DotOp dot) {
  auto unit = dot->getAttrOfType<MatrixUnitAttr>(unitName);
  return unit ? unit.getValue() : MatrixUnit::None;
}

//===--- layouts ------------------------------------------------------------------------------===//

using codegen::Layout;

static SmallVector<int32_t> flattened(const Layout::Bits &bits) {
  SmallVector<int32_t> points;
  for (const Layout::Point &point : bits)
    llvm::append_range(points, point);
  return points;
}

static Layout::Bits pointsFrom(ArrayRef<int32_t> flat, size_t count, unsigned rank) {
  Layout::Bits bits;
  for (size_t i = 0; i < count; ++i) {
    ArrayRef<int32_t> point = flat.slice(i * rank, rank);
    bits.emplace_back(point.begin(), point.end());
  }
  return bits;
}

LayoutAttr encodingOf(MLIRContext *context, const Layout &layout) {
  return LayoutAttr::get(context, layout.rank(), flattened(layout.registers),
                         flattened(layout.lanes), flattened(layout.warps));
}

Layout layoutOf(LayoutAttr encoding, ArrayRef<int64_t> shape) {
  Layout layout;
  layout.shape.assign(shape.begin(), shape.end());
  unsigned rank = encoding.getRank();
  if (rank == 0)
    return layout;
  auto read = [&](ArrayRef<int32_t> flat) { return pointsFrom(flat, flat.size() / rank, rank); };
  layout.registers = read(encoding.getRegisters());
  layout.lanes = read(encoding.getLanes());
  layout.warps = read(encoding.getWarps());
  return layout;
}

std::optional<Layout> layoutOf(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  auto encoding = type ? dyn_cast_if_present<LayoutAttr>(type.getEncoding()) : LayoutAttr();
  return encoding ? std::optional(layoutOf(encoding, type.getShape())) : std::nullopt;
}

static void printPoints(AsmPrinter &printer, StringRef name, ArrayRef<int32_t> flat,
                        unsigned rank) {
  printer << name << " = [";
  for (size_t i = 0; i < flat.size(); i += rank)
    printer << (i ? ", [" : "[") << flat.slice(i, rank) << "]";
  printer << "]";
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printPoints(printer, "registers", getRegisters(), getRank());
  printPoints(printer, ", lanes", getLanes(), getRank());
  printPoints(printer, ", warps", getWarps(), getRank());
  printer << ">";
}

/// `name = [[0, 1], [8, 0]]`; all points of a layout have the same length.
static ParseResult parsePoints(AsmParser &parser, StringRef name, SmallVector<int32_t> &flat,
                               unsigned &rank) {
  auto parsePoint = [&]() -> ParseResult {
    size_t before = flat.size();
    SMLoc where = parser.getCurrentLocation();
    auto parseNumber = [&] { return parser.parseInteger(flat.emplace_back()); };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseNumber))
      return failure();
    unsigned length = flat.size() - before;
    if (rank == 0)
      rank = length;
    if (length == 0 || length != rank)
      return parser.emitError(where) << "expects points of " << rank << " numbers, got " << length;
    return success();
  };
  return failure(parser.parseKeyword(name) || parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePoint));
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int32_t> registers, lanes, warps;
  unsigned rank = 0;
  if (parser.parseLess() || parsePoints(parser, "registers", registers, rank) ||
      parser.parseComma() || parsePoints(parser, "lanes", lanes, rank) || parser.parseComma() ||
      parsePoints(parser, "warps", warps, rank) || parser.parseGreater())
    return {};
  if (rank == 0) {
    parser.emitError(parser.getNameLoc()) << "expects a layout of at least one dim";
    return {};
  }
  return LayoutAttr::get(parser.getContext(), rank, registers, lanes, warps);
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         llvm::function_ref<InFlightDiagnostic()> emitError) const {
  // layout_c1
  if (getRank() != shape.size())
    return emitError() << "expects a layout of " << shape.size() << " dims, got one of "
                       << getRank();
  // layout_c2
  Layout layout = layoutOf(*this, shape);
  if (layout.lanes.size() != Layout::laneBits)
    return emitError() << "expects a layout with " << Layout::laneBits << " bits of lanes, got "
                       << layout.lanes.size();
  // layout_c3: every element is held, so the bits span all coordinates.
  for (auto [d, extent] : llvm::enumerate(shape)) {
    int32_t all = 0;
    for (const Layout::Bits *bits : {&layout.registers, &layout.lanes, &layout.warps})
      for (const Layout::Point &point : *bits)
        all |= point[d];
    if (all != extent - 1)
      return emitError() << "expects a layout that holds " << extent << " elements along dim " << d
                         << ", got the bits " << all;
  }
  return success();
}

/// Another layout of the same tile.
bool ConvertLayoutOp::areCastCompatible(TypeRange inputs, TypeRange outputs) {
  auto from = dyn_cast<RankedTensorType>(inputs[0]), to = dyn_cast<RankedTensorType>(outputs[0]);
  return from && to && from.getShape() == to.getShape() &&
         from.getElementType() == to.getElementType();
}

//===--- verifiers ----------------------------------------------------------------------------===//

LogicalResult BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                 unsigned copies, RankedTensorType tile, unsigned along) {
  // buffer_c1
  if (copies == 0)
    return emitError() << "expects at least one copy of the tile";
  // buffer_c2
  if (!tile.hasStaticShape() || tile.getRank() == 0 || tile.getRank() > 2)
    return emitError() << "expects a tile of one or two dims, got " << tile;
  // buffer_c3
  if (along >= tile.getRank())
    return emitError() << "expects 'along' to be a dim of " << tile << ", got " << along;
  return success();
}

/// The tile's shape and elements are those of the buffer.
static LogicalResult verifyFits(Operation *op, Type tile, BufferType buffer) {
  auto own = cast<RankedTensorType>(tile);
  RankedTensorType held = buffer.getTile();
  if (own.getShape() != held.getShape() || own.getElementType() != held.getElementType())
    return op->emitOpError() << "expects the buffer's tile " << held << ", got " << own;
  return success();
}

// share_c1
LogicalResult ShareOp::verify() {
  return verifyFits(*this, getTile().getType(), getBuffer().getType());
}

// read_shared_c1
LogicalResult ReadSharedOp::verify() {
  return verifyFits(*this, getTile().getType(), getBuffer().getType());
}

LogicalResult AsyncCopyOp::verify() {
  // async_copy_c1
  Type copied = tt::valueTypeBehind(getPtr().getType());
  if (!copied)
    return emitOpError() << "expects a tile of pointers, got " << getPtr().getType();
  // async_copy_c2
  if (failed(verifyFits(*this, copied, getBuffer().getType())))
    return failure();
  // async_copy_c3
  if (getMask() && getMask().getType() != tt::maskTypeFor(getPtr().getType()))
    return emitOpError() << "expects a mask of type " << tt::maskTypeFor(getPtr().getType())
                         << ", got " << getMask().getType();
  return success();
}

LogicalResult TensorMapAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, unsigned,
                                    unsigned elementBytes, unsigned swizzle,
                                    ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                                    ArrayRef<int64_t> box, bool rounds) {
  // tensor_map_c1
  constexpr size_t mostDims = 5;
  if (sizes.empty() || sizes.size() > mostDims || strides.size() != sizes.size() ||
      box.size() != sizes.size())
    return emitError() << "expects one to five dims, each with a size, a stride and a box";
  // tensor_map_c2
  if (!llvm::is_contained({1U, 2U, 4U, 8U}, elementBytes) ||
      !llvm::is_contained({16U, 32U, 64U, 128U}, swizzle) || box[0] * elementBytes != swizzle)
    return emitError() << "expects rows of a box of 16, 32, 64 or 128 bytes, got " << box[0]
                       << " elements of " << elementBytes << " bytes";
  // tensor_map_c4
  if (rounds && elementBytes != 4)
    return emitError() << "expects elements of 4 bytes to round to tf32, got " << elementBytes
                       << " bytes";
  // tensor_map_c3
  constexpr int64_t mostOfBox = 256;
  if (llvm::any_of(box, [](int64_t extent) { return extent < 1 || extent > mostOfBox; }))
    return emitError() << "expects a box of 1 to " << mostOfBox << " elements along each dim";
  return success();
}

LogicalResult TensorCopyOp::verify() {
  // tensor_copy_c1
  auto maps = (*this)->getParentOfType<tt::FuncOp>()->getAttrOfType<ArrayAttr>(tensorMapsName);
  auto map =
      maps && getMap() < maps.size() ? dyn_cast<TensorMapAttr>(maps[getMap()]) : TensorMapAttr();
  if (!map)
    return emitOpError() << "expects a tensor map of the function, got number " << getMap();
  // tensor_copy_c2
  if (getAt().size() != map.getSizes().size())
    return emitOpError() << "expects a place along each of " << map.getSizes().size()
                         << " dims, got " << getAt().size();
  // tensor_copy_c3
  if (!isa_and_present<ExpectCopiesOp, TensorCopyOp>((*this)->getPrevNode()))
    return emitOpError() << "expects to follow directly an expect_copies and its other copies";
  return success();
}

} // namespace pellucid::ttgpu
