// SPDX-License-Identifier: Apache-2.0
#include "trace/Tracer.h"

#include "graph/FakeRules.h"
#include "trace/EagerRecorder.h"

#include <atomic>

namespace pellucid::trace {

using namespace graph;

uint64_t Tracer::nextIdentity() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

TracedTensor Tracer::wrap(Value *value) {
  TracedTensor tensor;
  tensor.storage = std::make_shared<TracedStorage>();
  tensor.storage->base = value;
  tensor.storage->type = value->type();
  tensor.storage->constructed = constructing;
  tensor.type = value->type();
  setValue(tensor, value);
  if (recorder) {
    tensor.storage->device = recorder->device();
    recorder->track(tensor.storage);
  }
  return tensor;
}

void Tracer::setValue(TracedTensor &tensor, Value *value) const {
  tensor.value = value;
  tensor.version = tensor.storage->version;
  tensor.segment = segment;
}

TracedTensor Tracer::placeholder(const std::string &name, const TensorType &type) {
  TracedTensor tensor = wrap(current->placeholder(name, type));
  tensor.mayOverlap = !type.isContiguous(symbols());
  return tensor;
}

TracedTensor Tracer::unbound(const TensorType &type, Initializer initializer) {
  TracedTensor tensor;
  tensor.storage = std::make_shared<TracedStorage>();
  tensor.storage->type = type;
  tensor.storage->initializer = initializer;
  tensor.storage->outlivesCall = constructing;
  tensor.type = type;
  return tensor;
}

void Tracer::bind(TracedTensor &tensor, Value *value) {
  tensor.storage->base = value;
  tensor.storage->type = value->type();
  tensor.storage->constructed = false;
  tensor.type = value->type();
  setValue(tensor, value);
  if (recorder)
    recorder->track(tensor.storage);
}

void Tracer::beginConstruction() {
  constructing = true;
  current = &constructed;
}

void Tracer::endConstruction() {
  constructing = false;
  current = &program.main;
}

Tracer::Region::Region(Tracer &t, Graph &r, std::string what, RegionWrites &writes)
    : tracer(t), redirect(t, r), region(r) {
  // The redirection has begun: what it saved is the graph outside.
  tracer.regions.push_back({&region, redirect.outside(), std::move(what), &writes});
}

Tracer::Region::~Region() {
  for (const RegionWrites::Outer &written : tracer.regions.back().writes->outer) {
    written.storage->base = written.before;
    ++written.storage->version;
  }
  tracer.regions.pop_back();
  tracer.endedRegions.insert(&region);
}

void Tracer::Region::hold(const std::shared_ptr<TracedStorage> &storage, Value *value) {
  tracer.regions.back().writes->outer.push_back({storage, storage->base});
  storage->base = value;
  ++storage->version;
}

bool Tracer::beginWrite(const std::shared_ptr<TracedStorage> &storage,
                        const SourceLocation &where) {
  // An operator called in a region has a body, and rules of its own.
  if (regions.empty() || current != regions.back().inside)
    return true;
  RegionWrites &writes = *regions.back().writes;
  // Its own, or those of a region around it.
  for (OpenRegion &open : regions)
    if (open.writes->operands.count(storage.get())) {
      open.writes->writesOperand = true;
      return false;
    }
  auto isNoted = [&](const RegionWrites::Outer &written) { return written.storage == storage; };
  if (std::any_of(writes.outer.begin(), writes.outer.end(), isNoted))
    return true;
  const Node *maker = storage->base ? storage->base->producer() : nullptr;
  bool isInside = maker && maker->graph() == current;
  if (isInside && !maker->isPlaceholder())
    return true;
  // What is given to every turn anew is the turn's own.
  if (isInside || !maker || recorder)
    throw DiagnosticError(
        where, regions.back().what +
                   (isInside ? " might be modifying the input: it writes to one of its operands"
                             : " writes to a tensor made outside of it") +
                   ", and higher order operators do not support input mutation; "
                   "return the new contents as a result");
  writes.outer.push_back({storage, storage->base});
  return true;
}

void Tracer::overwrite(const std::shared_ptr<TracedStorage> &storage, Value *contents,
                       const SourceLocation &where) {
  ++storage->version;
  if (!beginWrite(storage, where))
    return;
  storage->base = contents;
  storage->written = where;
  storage->memory = nullptr;
  noteWrite(storage, where);
}

Value *Tracer::baseOf(const std::shared_ptr<TracedStorage> &storage, const SourceLocation &where) {
  checkKnown(*storage, where);
  if (storage->base && !endedRegions.empty() &&
      endedRegions.count(storage->base->producer()->graph()))
    throw DiagnosticError(where, madeInRegion);
  if (storage->base && storage->constructed == constructing)
    return storage->base;
  if (recorder)
    return recorder->baseFor(storage, where);
  if (!constructing && storage->initializer.kind == Initializer::Kind::Listed)
    return lift(storage, where);
  if (!constructing)
    throw DiagnosticError(where, "this tensor was made outside of forward and is neither a "
                                 "parameter nor a buffer of the module; register it with "
                                 "register_buffer");
  constructedLeaves.push_back(storage);
  storage->constructed = true;
  storage->base =
      constructed.placeholder("initial_" + std::to_string(constructedLeaves.size()), storage->type);
  return storage->base;
}

Value *Tracer::lift(const std::shared_ptr<TracedStorage> &storage, const SourceLocation &where) {
  Graph &outermost = regions.empty() ? *current : *regions.front().outside;
  if (&outermost != &program.main)
    throw DiagnosticError(where, "a tensor of listed values cannot be made inside of an operator; "
                                 "pass it as an argument");
  // An archive may have tensors of such names already.
  size_t number = lifted.size();
  std::string name = "lifted_tensor_" + std::to_string(number);
  while (outermost.find("c_" + name) || program.weights.count(name))
    name = "lifted_tensor_" + std::to_string(++number);
  storage->constructed = false;
  storage->base = outermost.placeholder("c_" + name, storage->type);
  program.inputs.push_back({graph::InputSpec::Kind::ConstantTensor, name, {}, true});
  lifted.emplace_back(std::move(name), storage);
  return storage->base;
}

bool Tracer::isCurrent(const TracedTensor &tensor) const {
  if (!tensor.value || tensor.segment != segment || tensor.version != tensor.storage->version)
    return false;
  // What a constructor computed is none of forward's values.
  if (tensor.storage->constructed != constructing)
    return false;
  // A view that a region looked at has its value there and none outside.
  return endedRegions.empty() || !endedRegions.count(tensor.value->producer()->graph());
}

Value *Tracer::valueOf(TracedTensor &tensor, const SourceLocation &where) {
  if (!tensor.storage->unreadable.empty())
    throw DiagnosticError(where, tensor.storage->unreadable);
  if (isCurrent(tensor)) {
    checkKnown(*tensor.storage, where);
    return tensor.value;
  }
  if (recorder && recorder->isRecording())
    if (Value *view = recorder->viewFor(tensor)) {
      setValue(tensor, view);
      return view;
    }
  return valueInMemory(tensor, where);
}

Value *Tracer::valueInMemory(TracedTensor &tensor, const SourceLocation &where) {
  TracedStorage &storage = *tensor.storage;
  Value *base = baseOf(tensor.storage, where);
  if (isCurrent(tensor) && !(recorder && recorder->isView(tensor.value)))
    return tensor.value;
  if (tensor.type != storage.type)
    current->setLocation(where);
  Value *value = bitsAs(base, tensor.type.dtype, where);
  if (TensorType whole = value->type(); tensor.type != whole) {
    Node *node = emitCall(*current, registry, symbols(), "aten.as_strided",
                          {Argument(value), Argument::list(tensor.type.shape),
                           Argument::list(tensor.type.strides), Argument(tensor.type.offset)},
                          {}, where);
    value = node->result();
  }
  setValue(tensor, value);
  return value;
}

Value *Tracer::bitsAs(Value *value, DataType dtype, const SourceLocation &where) {
  if (value->type().dtype == dtype)
    return value;
  return emitCall(*current, registry, symbols(), "aten.view.dtype", {Argument(value)},
                  {{"dtype", Argument(dtype)}}, where)
      ->result();
}

TracedTensor Tracer::viewAs(const TracedTensor &tensor, DataType dtype,
                            const SourceLocation &where) {
  const TensorType &type = tensor.type, &whole = tensor.storage->type;
  auto fail = [&](const std::string &what) {
    throw DiagnosticError(where, "view(torch." + std::string(info(dtype).torch) + ") of " +
                                     toString(type) + " " + what);
  };
  if (byteSize(dtype) != byteSize(type.dtype))
    fail("is not supported yet: its elements have " + std::to_string(byteSize(type.dtype)) +
         " bytes, and those asked for " + std::to_string(byteSize(dtype)));
  if (dtype == DataType::Bool || type.dtype == DataType::Bool)
    fail("is not supported: the bits of a bool are not those of another type; compare with 0");
  if (!whole.isContiguous(symbols()))
    fail("is not supported: the memory that it is a view of is not contiguous; clone() it first");
  TracedTensor view = tensor;
  view.type.dtype = dtype;
  view.value = nullptr;
  return view;
}

/// The operand that an operator may give back or look at in another way: its first argument.
static std::optional<size_t> aliasedOperand(const OperatorCall &call,
                                            const std::vector<TracedTensor *> &operands) {
  const Value *self = call.args.empty() ? nullptr : call.args[0].value();
  for (size_t i = 0; self && i < operands.size(); ++i)
    if (operands[i]->value == self)
      return i;
  return std::nullopt;
}

std::optional<size_t> Tracer::givenBack(const std::string &packet,
                                        const std::vector<Argument> &args,
                                        const KeywordArguments &kwargs,
                                        const std::vector<TracedTensor *> &operands,
                                        const SourceLocation &where) {
  return givenBack(registry.resolve(packet, args, kwargs, where), args, kwargs, operands, where);
}

std::optional<size_t> Tracer::givenBack(const Operator &op, const std::vector<Argument> &args,
                                        const KeywordArguments &kwargs,
                                        const std::vector<TracedTensor *> &operands,
                                        const SourceLocation &where) {
  if (!op.aliasing)
    return std::nullopt;
  OperatorCall call = bindCall(op, symbols(), args, kwargs, where);
  if (call.op.aliasing(call) != Aliasing::Same)
    return std::nullopt;
  std::optional<size_t> self = aliasedOperand(call, operands);
  // With other strides in PyTorch it may be a copy there.
  bool byStrides = call.op.kind == Operator::Kind::Composite;
  return self && byStrides && !operands[*self]->storage->stridesKnown ? std::nullopt : self;
}

/// Whether elements of the result may share places where those of `self` do not.
static bool makesOverlap(const Operator &op) {
  const std::string &name = op.schema.name;
  return name == "expand" || name == "expand_as" || name == "as_strided";
}

std::vector<TracedTensor> Tracer::call(const std::string &packet, std::vector<Argument> args,
                                       KeywordArguments kwargs,
                                       const std::vector<TracedTensor *> &operands,
                                       const SourceLocation &where) {
  const Operator &op = registry.resolve(packet, args, kwargs, where);
  return this->call(op, std::move(args), std::move(kwargs), operands, where);
}

std::vector<TracedTensor> Tracer::call(const Operator &op, std::vector<Argument> args,
                                       KeywordArguments kwargs,
                                       const std::vector<TracedTensor *> &operands,
                                       const SourceLocation &where) {
  current->setLocation(where);
  std::optional<OperatorCall> call;
  Node *node = emitCall(*current, symbols(), op, std::move(args), std::move(kwargs), where, &call);
  std::optional<size_t> self = aliasedOperand(*call, operands);
  Aliasing aliasing = self ? call->op.aliasingOf(*call) : Aliasing::Fresh;
  // Whether a reshape is a view hangs on strides; what is a view by its kind does not.
  bool byStrides = call->op.aliasing && call->op.kind == Operator::Kind::Composite;
  if (self && byStrides && !operands[*self]->storage->stridesKnown)
    aliasing = Aliasing::Unknown;
  bool stridesKnown = aliasing != Aliasing::Fresh || hasKnownStrides(*call);
  bool isView = aliasing == Aliasing::View || aliasing == Aliasing::Same;
  if (isView || !isAlwaysRowMajor(*call))
    for (const TracedTensor *operand : operands)
      stridesKnown = stridesKnown && operand->storage->stridesKnown;
  std::vector<TracedTensor> results;
  for (size_t i = 0; i < node->resultCount(); ++i) {
    if (!node->result(i)->isTensor())
      continue;
    Value *result = node->result(i);
    // What a script computes is kept from its first element on.
    if (recorder && aliasing == Aliasing::Unknown && result->type().offset.constant() != 0)
      result = emitCall(*current, registry, symbols(), "aten.clone", {Argument(result)},
                        {{"memory_format", Argument("contiguous_format")}}, where)
                   ->result();
    TracedTensor tensor = wrap(result);
    if (isView) {
      const TracedTensor &operand = *operands[*self];
      tensor.storage = operand.storage;
      tensor.type.offset = tensor.type.offset + operand.type.offset - operand.value->type().offset;
      setValue(tensor, tensor.value);
      tensor.mayOverlap = operand.mayOverlap || makesOverlap(call->op);
    } else {
      tensor.storage->stridesKnown = stridesKnown || tensor.type.rank() < 2;
    }
    if (aliasing == Aliasing::Unknown)
      linkPossibleAlias(*operands[*self], tensor, *call);
    results.push_back(std::move(tensor));
  }
  if (gradients.available)
    called.emplace(std::move(*call));
  if (recorder && recorder->isRecording())
    recorder->recorded(operands, results);
  return results;
}

/// One of the elements that lie in one place for all of them: dims without a stride are dropped.
Value *Tracer::withoutRepeats(TensorType &place, Value *contents, const SourceLocation &where) {
  for (size_t d = place.rank(); d-- > 0;) {
    if (!symbols().proveEqual(place.strides[d], 0) ||
        symbols().prove(less(0, place.shape[d])) != true)
      continue;
    contents =
        emitCall(*current, registry, symbols(), "aten.select.int",
                 {Argument(contents), Argument(static_cast<int64_t>(d)), Argument(int64_t(0))}, {},
                 where)
            ->result();
    place.shape.erase(place.shape.begin() + static_cast<std::ptrdiff_t>(d));
    place.strides.erase(place.strides.begin() + static_cast<std::ptrdiff_t>(d));
  }
  return contents;
}

void Tracer::write(TracedTensor &tensor, Value *contents, const SourceLocation &where,
                   bool uniform) {
  TracedStorage &storage = *tensor.storage;
  Value *base = baseOf(tensor.storage, where);
  if (!beginWrite(tensor.storage, where))
    return noteWritten(tensor, where);
  if (tensor.mayOverlap && !uniform && !isWithoutOverlap(tensor.type, symbols()))
    throw DiagnosticError(where, "several elements of " + toString(tensor.type) +
                                     " lie in one place, or may for some sizes, so that it cannot "
                                     "be written to; clone() it first");
  current->setLocation(where);
  TensorType place = tensor.type;
  if (tensor.mayOverlap)
    contents = withoutRepeats(place, contents, where);
  contents = bitsAs(contents, storage.type.dtype, where);
  place.dtype = storage.type.dtype;
  if (place == storage.type && contents->type() == storage.type) {
    storage.base = contents;
  } else {
    Node *node = emitCall(*current, registry, symbols(), "aten.as_strided_scatter",
                          {Argument(base), Argument(contents), Argument::list(place.shape),
                           Argument::list(place.strides), Argument(place.offset)},
                          {}, where);
    storage.base = node->result();
  }
  storage.written = where;
  noteWritten(tensor, where);
  setValue(tensor, tensor.type == storage.type ? storage.base : nullptr);
}

void Tracer::noteWritten(TracedTensor &tensor, const SourceLocation &where) {
  TracedStorage &storage = *tensor.storage;
  storage.memory = nullptr;
  if (storage.pinned)
    storage.pinned->isAhead = false;
  ++storage.version;
  noteWrite(tensor.storage, where);
}

void Tracer::launch(std::vector<LaunchVariant> variants, std::vector<LaunchArgument> arguments,
                    const std::string &name, const SourceLocation &where) {
  Launch launch;
  launch.variants = std::move(variants);
  std::set<const TracedStorage *> left;
  launch.operands.reserve(arguments.size());
  for (LaunchArgument &argument : arguments) {
    LaunchOperand operand;
    operand.name = argument.name;
    operand.value =
        argument.tensor ? Argument(valueInMemory(*argument.tensor, where)) : argument.value;
    operand.access = argument.access;
    if (argument.tensor && writes(argument.access) && !beginWrite(argument.tensor->storage, where))
      left.insert(argument.tensor->storage.get());
    operand.unknownAccess = argument.unknownAccess;
    launch.operands.push_back(std::move(operand));
  }
  current->setLocation(where);
  Node *node = current->launch(std::move(launch), name);
  const Launch &made = *node->launch();
  for (size_t r = 0; r < node->resultCount(); ++r) {
    TracedTensor &tensor = *arguments[made.resultOperands[r]].tensor;
    Value *result = node->result(r);
    TracedStorage &storage = *tensor.storage;
    if (left.count(&storage))
      continue;
    TensorType written = storage.type;
    written.dtype = tensor.type.dtype;
    Value *memory = result;
    // The kernel wrote through a view; seen as a whole again, the memory is a view of the result.
    if (tensor.type != written)
      memory = emitCall(*current, registry, symbols(), "aten.as_strided",
                        {Argument(memory), Argument::list(storage.type.shape),
                         Argument::list(storage.type.strides), Argument(storage.type.offset)},
                        {}, where)
                   ->result();
    storage.base = bitsAs(memory, storage.type.dtype, where);
    if (!arguments[made.resultOperands[r]].unknownAccess)
      storage.written = where;
    noteWritten(tensor, where);
    setValue(tensor, result);
  }
  // What the kernel read while it wrote counts too.
  for (const LaunchArgument &argument : arguments)
    if (argument.tensor)
      checkKnown(*argument.tensor->storage, where);
}

} // namespace pellucid::trace
