// SPDX-License-Identifier: Apache-2.0
// The grid, ranges, hints, checks and output.
#include "frontend/Emitter.h"

namespace pellucid::frontend {

using namespace mlir;

Val Emitter::emitProgramId(Bound &args) {
  int64_t axis = constantInt(args[0], "the axis of program_id");
  if (axis < 0 || axis > 2)
    fail("program_id axis must be 0, 1 or 2, got " + std::to_string(axis));
  return Val::tensor(tt::GetProgramIdOp::create(builder, loc(), static_cast<int>(axis)),
                     {DataType::Int32, false, {}});
}

Val Emitter::emitNumPrograms(Bound &args) {
  int64_t axis = constantInt(args[0], "the axis of num_programs");
  if (axis < 0 || axis > 2)
    fail("num_programs axis must be 0, 1 or 2, got " + std::to_string(axis));
  return Val::tensor(tt::GetNumProgramsOp::create(builder, loc(), static_cast<int>(axis)),
                     {DataType::Int32, false, {}});
}

Val Emitter::emitArange(Bound &args) {
  int64_t start = constantInt(args[0], "arange's start"),
          end = constantInt(args[1], "arange's end");
  int64_t size = end - start;
  if (size <= 0)
    fail("arange's end must be greater than its start, got " + std::to_string(start) + " and " +
         std::to_string(end));
  if (size & (size - 1))
    fail("arange's range must be a power of 2, got " + std::to_string(size) +
         "; take the next one and mask the rest");
  if (start < INT32_MIN || end > INT32_MAX)
    fail("arange must fit in int32, got " + std::to_string(start) + " to " + std::to_string(end));
  if (size > mostTileElements)
    fail("a tile has at most " + std::to_string(mostTileElements) + " elements, got " +
         std::to_string(size));
  TlType type{DataType::Int32, false, {size}};
  return Val::tensor(tt::MakeRangeOp::create(builder, loc(), irType(type),
                                             static_cast<uint32_t>(start),
                                             static_cast<uint32_t>(end)),
                     type);
}

static Val hint(Emitter &e, Bound &args, const char *name, const char *attribute) {
  std::vector<int64_t> values = e.constantInts(args[1], name);
  if (!args[0].isTensor())
    return args[0];
  size_t rank = std::max<size_t>(1, args[0].type.shape.size());
  if (values.size() != rank)
    e.fail("'tl." + std::string(name) + "' takes one value per dim, got " +
           std::to_string(values.size()) + " for " + toString(args[0].type));
  SmallVector<int32_t> narrow(values.begin(), values.end());
  auto type = RankedTensorType::get({static_cast<int64_t>(narrow.size())}, e.builder.getI32Type());
  auto attr = DenseIntElementsAttr::get(type, ArrayRef<int32_t>(narrow));
  if (Operation *def = args[0].value.getDefiningOp())
    def->setDiscardableAttr(attribute, attr);
  else if (auto argument = cast<BlockArgument>(args[0].value);
           auto function = dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()))
    function.setArgAttr(argument.getArgNumber(), attribute, attr);
  return args[0];
}
Val Emitter::emitMultipleOf(Bound &args) {
  return hint(*this, args, "multiple_of", "tt.divisibility");
}
Val Emitter::emitMaxContiguous(Bound &args) {
  return hint(*this, args, "max_contiguous", "tt.contiguity");
}
Val Emitter::emitMaxConstancy(Bound &args) {
  return hint(*this, args, "max_constancy", "tt.constancy");
}

Val Emitter::emitAssume(Bound &args) {
  if (auto known = constantTruth(args[0])) {
    if (!*known)
      fail("what is assumed does not hold with these constexpr values");
    return Val();
  }
  Val condition = truthOf(args[0]);
  if (condition.type.isTile())
    fail("'tl.assume' takes a scalar condition, got " + toString(condition.type));
  tt::AssumeOp::create(builder, loc(), condition.value);
  return Val();
}

/// One IR serves every target, so a kernel asks in vain for what one of them has: it takes the way
/// that works everywhere.
Val Emitter::emitTargetQuery(Bound &) { return Val::of(host::Value(false)); }
Val Emitter::emitCurrentTarget(Bound &) { return Val(); }

Val Emitter::emitDebugBarrier(Bound &) {
  tt::BarrierOp::create(builder, loc());
  return Val();
}

Val Emitter::emitStaticAssert(Bound &args) {
  if (!constantBool(args[0], "the condition of static_assert")) {
    std::string message =
        args[1].isConstexpr() && args[1].constant.isStr() ? args[1].constant.str() : "";
    fail("static assertion does not hold" + (message.empty() ? "" : ": " + message));
  }
  return Val();
}

Val Emitter::emitStaticPrint(Bound &args) {
  if (rehearsals > 0)
    return Val();
  std::string text;
  for (const Val &value : args[0].elements) {
    bool known = value.isConstexpr() || value.isTuple();
    text += (text.empty() ? "" : constantString(args[1], "sep")) +
            (known ? interpreter.str(toHost(value, "a printed value")) : toString(value.type));
  }
  interpreter.hooks().output(text + constantString(args[2], "end"));
  return Val();
}

Val Emitter::emitDeviceAssert(Bound &args) {
  // What combines two elements asserts nothing, as with Triton's own debug=False: which of them
  // meet is nobody's to say.
  if (!options.assertions || combining)
    return Val();
  Val condition = truthOf(args[0]);
  if (!args[2].isNone())
    condition = binary(syntax::Operator::BitOr, condition,
                       unary(syntax::UnaryOperator::Not, truthOf(args[2])));
  std::string message =
      args[1].isConstexpr() && args[1].constant.isStr() ? args[1].constant.str() : "";
  tt::AssertOp::create(builder, loc(), condition.value, builder.getStringAttr(message));
  return Val();
}

/// Triton's punctuation: a space in front, and a colon where values follow.
static std::string printPrefix(std::string prefix, bool hasValues) {
  if (!prefix.ends_with(" ") && hasValues)
    prefix += " ";
  if (!prefix.ends_with(": ") && hasValues)
    prefix = prefix.substr(0, prefix.size() - 1) + ": ";
  if (prefix.size() > 2 && !prefix.starts_with(" "))
    prefix = " " + prefix;
  return prefix;
}

Val Emitter::emitDevicePrint(Bound &args) {
  std::string prefix = constantString(args[0], "the first argument of device_print");
  SmallVector<mlir::Value> values;
  SmallVector<int32_t> isSigned;
  for (const Val &value : args[1].elements) {
    Val tensor = toTensor(value);
    values.push_back(tensor.value);
    isSigned.push_back(!tensor.type.isFloating() && !tensor.type.pointer &&
                       info(tensor.type.element).isSigned);
  }
  tt::PrintOp::create(builder, loc(), builder.getStringAttr(printPrefix(prefix, !values.empty())),
                      builder.getBoolAttr(constantBool(args[2], "hex")), values,
                      builder.getDenseI32ArrayAttr(isSigned));
  return Val();
}

} // namespace pellucid::frontend
