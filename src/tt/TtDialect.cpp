// SPDX-License-Identifier: Apache-2.0
#include "tt/TtOps.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include "tt/TtDialect.cpp.inc"
#include "tt/gpuDialect.cpp.inc"
#include "tt/llvmDialect.cpp.inc"
#include "tt/ttgDialect.cpp.inc"

#include "tt/TtEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tt/TtAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "tt/TtTypes.cpp.inc"

using namespace mlir;

namespace pellucid::tt {

namespace {

struct TtInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }

  void handleTerminator(Operation *op, Block *next) const final {
    auto ret = dyn_cast<ReturnOp>(op);
    if (!ret)
      return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), next, ret.getSrcs());
    op->erase();
  }

  void handleTerminator(Operation *op, ValueRange valuesToReplace) const final {
    for (auto [value, replacement] : llvm::zip_equal(valuesToReplace, cast<ReturnOp>(op).getSrcs()))
      value.replaceAllUsesWith(replacement);
  }
};

} // namespace

void TtDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerTtDialectOperations(this); // generated
  addInterfaces<TtInliner>();
}

void GpuDialect::initialize() { registerOperations(); }
void TtgDialect::initialize() { registerOperations(); }
void LlvmDialect::initialize() { registerOperations(); }

void TtDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tt/TtTypes.cpp.inc"
      >();
}

void TtDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tt/TtAttributes.cpp.inc"
      >();
}

Operation *TtDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                          Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

bool isBlockPointer(Type type) {
  auto pointer = dyn_cast<PointerType>(type);
  return pointer && isa<RankedTensorType>(pointer.getPointeeType());
}

bool isScalarPointer(Type type) { return isa<PointerType>(type) && !isBlockPointer(type); }

Type withElementType(Type type, Type element) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return tile.clone(element);
  return element;
}

Type maskTypeFor(Type type) {
  return withElementType(type, IntegerType::get(type.getContext(), 1));
}

Type valueTypeBehind(Type pointer) {
  auto scalar = dyn_cast<PointerType>(getElementTypeOrSelf(pointer));
  if (!scalar)
    return nullptr;
  return withElementType(pointer, scalar.getPointeeType());
}

Type basePointerOf(Type blockPointer) {
  auto pointer = cast<PointerType>(blockPointer);
  return PointerType::get(getElementTypeOrSelf(pointer.getPointeeType()),
                          pointer.getAddressSpace());
}

//===--- verifiers of types -------------------------------------------------------------------===//

LogicalResult PointerType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Type pointee,
                                  int) {
  // pointer_c1
  if (!isa<IntegerType, FloatType, PointerType, RankedTensorType>(pointee))
    return emitError() << "expects a pointer to numbers, pointers or a tile, got " << pointee;
  return success();
}

LogicalResult TensorDescType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                     RankedTensorType block) {
  // tensordesc_c1
  if (!isa<IntegerType, FloatType>(block.getElementType()) || !block.hasStaticShape())
    return emitError() << "expects a descriptor of blocks of numbers with a static shape, got "
                       << block;
  return success();
}

//===--- text of types and attributes ---------------------------------------------------------===//

// 3.6: <tensor<32x32xf32>>   3.9: <32x32xf32>
Type TensorDescType::parse(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  RankedTensorType block;
  SMLoc start = parser.getCurrentLocation();
  Type whole;
  OptionalParseResult spelledAsTensor = parser.parseOptionalType(whole);
  if (spelledAsTensor.has_value()) {
    if (failed(*spelledAsTensor) || !(block = dyn_cast<RankedTensorType>(whole))) {
      parser.emitError(start, "expects a ranked tensor or a shape inside 'tt.tensordesc'");
      return {};
    }
  } else {
    SmallVector<int64_t> shape;
    Type element;
    Attribute layout;
    if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
        (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout)))
      return {};
    block = RankedTensorType::get(shape, element, layout);
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TensorDescType>(start, block);
}

void TensorDescType::print(AsmPrinter &printer) const {
  RankedTensorType block = getBlockType();
  if (cast<TtDialect>(getDialect()).printVersion == TtirVersion::V3_6) {
    printer << "<" << block << ">";
    return;
  }
  printer << "<";
  printer.printDimensionList(block.getShape());
  printer << "x" << block.getElementType();
  if (Attribute layout = block.getEncoding())
    printer << ", " << layout;
  printer << ">";
}

template <typename Enum>
static ParseResult parseEnumField(AsmParser &parser, StringRef name,
                                  std::optional<Enum> (*symbolize)(StringRef), Enum &value) {
  StringRef word;
  SMLoc where;
  if (parser.parseKeyword(name) || parser.parseEqual() ||
      (where = parser.getCurrentLocation(), false) || parser.parseKeyword(&word))
    return failure();
  std::optional<Enum> known = symbolize(word);
  if (!known)
    return parser.emitError(where) << "'" << word << "' is no " << name;
  value = *known;
  return success();
}

Attribute CachePolicyAttr::parse(AsmParser &parser, Type) {
  CacheModifier cache = CacheModifier::NONE;
  EvictionPolicy eviction = EvictionPolicy::NORMAL;
  if (parser.parseLess() ||
      parseEnumField(parser, "cache_modifier", symbolizeCacheModifier, cache) ||
      parser.parseComma() ||
      parseEnumField(parser, "eviction_policy", symbolizeEvictionPolicy, eviction) ||
      parser.parseGreater())
    return {};
  return CachePolicyAttr::get(parser.getContext(), cache, eviction);
}

void CachePolicyAttr::print(AsmPrinter &printer) const {
  printer << "<cache_modifier = " << stringifyCacheModifier(getCacheModifier())
          << ", eviction_policy = " << stringifyEvictionPolicy(getEvictionPolicy()) << ">";
}

} // namespace pellucid::tt
