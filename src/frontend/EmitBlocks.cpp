// SPDX-License-Identifier: Apache-2.0
// Block pointers and tensor descriptors.
#include "frontend/MemoryOptions.h"

namespace pellucid::frontend {

using namespace mlir;

static SmallVector<mlir::Value> integersOf(Emitter &e, const Val &list, DataType type) {
  SmallVector<mlir::Value> out;
  std::vector<Val> elements = list.isTuple() ? list.elements : std::vector<Val>{list};
  for (const Val &element : elements) {
    TlType given = e.typeOf(element);
    if (!given.isInt() || given.isTile())
      e.fail("an integer is needed here, got " + toString(given));
    if (element.isTensor() && byteSize(given.element) == 8 && byteSize(type) == 4)
      e.fail("offsets are of 32 bits, got " + toString(given) + "; cast with .to(tl.int32)");
    out.push_back((element.isNumber() ? e.numberAs(element, type) : e.cast(element, type)).value);
  }
  return out;
}

/// Sizes or offsets; one number stands for a list of one.
static Val listed(const Val &value) { return value.isTuple() ? value : Val::tuple({value}); }

Val Emitter::emitMakeBlockPtr(Bound &args) {
  for (size_t i = 1; i < 4; ++i)
    args[i] = listed(args[i]);
  Val base = toTensor(args[0]);
  if (!base.type.pointer || base.type.isTile())
    fail("make_block_ptr needs a scalar pointer as its base, got " + toString(base.type));
  std::vector<int64_t> block = constantInts(args[4], "block_shape"),
                       order64 = constantInts(args[5], "order");
  size_t rank = block.size();
  for (const Val *list : {&args[1], &args[2], &args[3]})
    if (list->elements.size() != rank)
      fail("make_block_ptr's shape, strides, offsets and block_shape must have one length, got " +
           std::to_string(rank) + " for block_shape and " + std::to_string(list->elements.size()));
  base = bytePointer(*this, base);
  std::vector<int32_t> order(order64.begin(), order64.end()), tile(block.begin(), block.end());
  auto op = tt::MakeTensorPtrOp::create(builder, loc(), base.value,
                                        integersOf(*this, args[1], DataType::Int64),
                                        integersOf(*this, args[2], DataType::Int64),
                                        integersOf(*this, args[3], DataType::Int32), tile, order);
  Val out = Val::tensor(op.getResult(), {base.type.element, true, block});
  out.kind = Val::Kind::BlockPointer;
  return out;
}

Val Emitter::emitAdvance(Bound &args) {
  if (args[0].kind != Val::Kind::BlockPointer)
    fail("advance needs a block pointer");
  Val out = args[0], offsets = listed(args[1]);
  if (offsets.elements.size() != out.type.shape.size())
    fail("advance takes one offset per dim, got " + std::to_string(offsets.elements.size()) +
         " for a block pointer of " + std::to_string(out.type.shape.size()) + " dims");
  out.value = tt::AdvanceOp::create(builder, loc(), args[0].value.getType(), args[0].value,
                                    integersOf(*this, offsets, DataType::Int32));
  return out;
}

/// The number 1, or a parameter that is launched with it.
static bool isKnownOne(const Val &value) {
  auto argument = value.isTensor() ? dyn_cast<BlockArgument>(value.value) : BlockArgument();
  bool isParameter = argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp());
  return (value.isNumber() || isParameter) && value.constant.isInt() &&
         value.constant.integer() == 1;
}

Val Emitter::emitMakeTensorDescriptor(Bound &args) {
  Val base = toTensor(args[0]);
  if (!base.type.pointer || base.type.isTile())
    fail("make_tensor_descriptor needs a scalar pointer as its base, got " + toString(base.type));
  std::vector<int64_t> block = constantInts(args[3], "block_shape");
  for (const Val *list : {&args[1], &args[2]})
    if (!list->isTuple() || list->elements.size() != block.size())
      fail("make_tensor_descriptor's shape, strides and block_shape must have one length, got " +
           std::to_string(block.size()) + " for block_shape and " +
           std::to_string(list->isTuple() ? list->elements.size() : 1));
  int64_t bytes = block.back() * byteSize(base.type.element);
  if (bytes < 16)
    fail("the last dim of a descriptor's block must span 16 bytes or more, got " +
         std::to_string(bytes));
  const Val &last = args[2].elements.back();
  if (!isKnownOne(last))
    fail("the last stride of a descriptor must be 1 while compiling: the number, a constexpr, or a "
         "parameter that is launched with 1");
  auto padding = paddingOption(*this, args[4]).value_or(tt::PaddingOption::PAD_ZERO);
  Val out;
  out.kind = Val::Kind::Descriptor;
  out.type = {base.type.element, false, block};
  SmallVector<mlir::Value> shape, strides;
  auto scalars = [&](const Val &list, DataType type, SmallVector<mlir::Value> &values,
                     std::vector<Val> &kept) {
    for (const Val &element : list.elements) {
      kept.push_back(element.isNumber() ? numberAs(element, type) : cast(element, type));
      values.push_back(kept.back().value);
    }
  };
  scalars(args[1], DataType::Int32, shape, out.shape);
  scalars(args[2], DataType::Int64, strides, out.strides);
  out.value =
      tt::MakeTensorDescOp::create(builder, loc(), base.value, shape, strides, block, padding);
  return out;
}

static const Val &descriptor(Emitter &e, const Val &value) {
  if (value.kind != Val::Kind::Descriptor)
    e.fail("a tensor descriptor is needed here");
  return value;
}

static SmallVector<mlir::Value> descriptorOffsets(Emitter &e, const Val &desc, const Val &offsets) {
  SmallVector<mlir::Value> out = integersOf(e, offsets, DataType::Int32);
  if (out.size() != desc.type.shape.size())
    e.fail("a descriptor of " + std::to_string(desc.type.shape.size()) +
           " dims takes as many offsets, got " + std::to_string(out.size()));
  return out;
}

/// A value that is stored through a descriptor has its block's shape.
static Val descriptorValue(Emitter &e, const Val &desc, const Val &given) {
  Val value = e.toTensor(given);
  if (value.type.shape != desc.type.shape)
    e.fail("a value of type " + toString(desc.type) + " is stored through this descriptor, got " +
           toString(value.type));
  return value;
}

Val Emitter::emitDescriptorLoad(Bound &args) {
  const Val &desc = descriptor(*this, args[0]);
  auto offsets = descriptorOffsets(*this, desc, args[1]);
  return Val::tensor(tt::DescriptorLoadOp::create(builder, loc(), irType(desc.type), desc.value,
                                                  offsets, cacheModifier(*this, args[2]),
                                                  evictionPolicy(*this, args[3])),
                     desc.type);
}

Val Emitter::emitDescriptorStore(Bound &args) {
  const Val &desc = descriptor(*this, args[0]);
  Val value = cast(descriptorValue(*this, desc, args[2]), desc.type.element);
  tt::DescriptorStoreOp::create(builder, loc(), desc.value, value.value,
                                descriptorOffsets(*this, desc, args[1]));
  return Val();
}

static Val descriptorReduce(Emitter &e, Bound &args, tt::DescriptorReduceKind kind) {
  const Val &desc = descriptor(e, args[0]);
  Val value = descriptorValue(e, desc, args[2]);
  if (value.type.element != desc.type.element)
    e.fail("a value of type " + toString(desc.type) + " is combined through this descriptor, got " +
           toString(value.type));
  tt::DescriptorReduceOp::create(e.builder, e.loc(), kind, desc.value, value.value,
                                 descriptorOffsets(e, desc, args[1]));
  return Val();
}
Val Emitter::emitDescriptorAdd(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::ADD);
}
Val Emitter::emitDescriptorMin(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::MIN);
}
Val Emitter::emitDescriptorMax(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::MAX);
}
Val Emitter::emitDescriptorAnd(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::AND);
}
Val Emitter::emitDescriptorOr(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::OR);
}
Val Emitter::emitDescriptorXor(Bound &args) {
  return descriptorReduce(*this, args, tt::DescriptorReduceKind::XOR);
}

/// One row of the result per x offset.
static TlType gatheredType(Emitter &e, const Val &desc, const Val &rows) {
  if (desc.type.shape.size() != 2 || desc.type.shape[0] != 1)
    e.fail("a gather or scatter needs a descriptor whose block is one row, got " +
           toString(desc.type));
  if (!rows.type.isInt() || rows.type.shape.size() != 1)
    e.fail("the x offsets of a gather or scatter are integers of one dim, got " +
           toString(rows.type));
  return {desc.type.element, false, {rows.type.shape[0], desc.type.shape[1]}};
}

Val Emitter::emitDescriptorGather(Bound &args) {
  const Val &desc = descriptor(*this, args[0]);
  Val rows = toTensor(args[1]);
  TlType type = gatheredType(*this, desc, rows);
  return Val::tensor(tt::DescriptorGatherOp::create(builder, loc(), irType(type), desc.value,
                                                    rows.value,
                                                    integersOf(*this, args[2], DataType::Int32)[0]),
                     type);
}

Val Emitter::emitDescriptorScatter(Bound &args) {
  const Val &desc = descriptor(*this, args[0]);
  Val value = toTensor(args[1]), rows = toTensor(args[2]);
  if (!(value.type == gatheredType(*this, desc, rows)))
    fail("a scatter of " + toString(gatheredType(*this, desc, rows)) + " got " +
         toString(value.type));
  tt::DescriptorScatterOp::create(builder, loc(), desc.value, rows.value,
                                  integersOf(*this, args[3], DataType::Int32)[0], value.value);
  return Val();
}

} // namespace pellucid::frontend
