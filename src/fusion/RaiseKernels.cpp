// SPDX-License-Identifier: Apache-2.0
#include "fusion/RaiseKernels.h"

#include "fusion/AccessExtent.h"
#include "fusion/KernelAccesses.h"
#include "fusion/LaunchKernels.h"
#include "fusion/Neighbours.h"
#include "passes/graph/KernelText.h"
#include "support/Diagnostics.h"
#include "tt/OffsetAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

namespace pellucid::fusion {

using namespace graph;

namespace {

using Text = std::optional<std::string>;

/// An expression that is used twice stands twice.
constexpr size_t longestExpression = 4000;

/// What the element that a kernel stores is of the elements that it loads at the same place.
class ElementText {
public:
  ElementText(const OpenKernel &k, const Node &l) : kernel(k), launch(l) {}

  /// `a0`, `a1`, … are the operands `inputs()`.
  Text of(tt::StoreOp stored) {
    store = stored;
    auto place = tt::pointerForm(store.getPtr());
    if (!place)
      return std::nullopt;
    offset = place->offset;
    return text(store.getValue());
  }
  const std::vector<std::string> &inputs() const { return names; }

private:
  Text text(mlir::Value value) {
    if (auto entry = known.find(value); entry != known.end())
      return entry->second;
    Text made = textOf(value);
    if (made && made->size() > longestExpression)
      made = std::nullopt;
    return known[value] = made;
  }

  Text textOf(mlir::Value value) {
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value))
      return scalar(argument);
    mlir::Operation *op = value.getDefiningOp();
    if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
      return loaded(load);
    if (auto constant = mlir::dyn_cast<mlir::arith::ConstantOp>(op))
      return number(constant);
    if (auto splat = mlir::dyn_cast<tt::SplatOp>(op))
      return text(splat.getSrc());
    // Of floating-point numbers alone; a comparison of them only decides.
    mlir::Type type = mlir::getElementTypeOrSelf(value.getType());
    bool isNumber = type.isF32() || type.isF16() || type.isBF16();
    if (op->getNumResults() != 1 || (!isNumber && !mlir::isa<mlir::arith::CmpFOp>(op)))
      return std::nullopt;
    std::vector<std::string> operands;
    for (mlir::Value operand : op->getOperands()) {
      Text one = text(operand);
      if (!one)
        return std::nullopt;
      operands.push_back(std::move(*one));
    }
    return applied(op, type, operands);
  }

  Text applied(mlir::Operation *op, mlir::Type type, const std::vector<std::string> &x) {
    std::string name = op->getName().getStringRef().str();
    if (name == "arith.extf" || (name == "arith.truncf" && !op->hasAttr("roundingmode")))
      return "tl.cast(" + x[0] + ", " +
             (type.isF32()   ? "tl.float32"
              : type.isF16() ? "tl.float16"
                             : "tl.bfloat16") +
             ")";
    const char *sign = llvm::StringSwitch<const char *>(name)
                           .Case("arith.addf", " + ")
                           .Case("arith.subf", " - ")
                           .Case("arith.mulf", " * ")
                           .Case("arith.divf", " / ")
                           .Default(nullptr);
    // Quotients of narrower numbers are computed in float32 by the language.
    if (sign && (type.isF32() || name != "arith.divf"))
      return "(" + x[0] + sign + x[1] + ")";
    if (name == "arith.negf")
      return "(-" + x[0] + ")";
    if (auto compare = mlir::dyn_cast<mlir::arith::CmpFOp>(op))
      return compared(compare.getPredicate(), x);
    if (name == "arith.select")
      return "tl.where(" + x[0] + ", " + x[1] + ", " + x[2] + ")";
    if (!type.isF32())
      return std::nullopt;
    const char *function = llvm::StringSwitch<const char *>(name)
                               .Case("math.exp", "exp")
                               .Case("math.exp2", "exp2")
                               .Case("math.log", "log")
                               .Case("math.log2", "log2")
                               .Case("math.sqrt", "sqrt")
                               .Case("math.rsqrt", "rsqrt")
                               .Case("math.sin", "sin")
                               .Case("math.cos", "cos")
                               .Case("math.erf", "erf")
                               .Case("math.absf", "abs")
                               .Case("math.floor", "floor")
                               .Case("math.ceil", "ceil")
                               .Case("math.fma", "fma")
                               .Case("arith.maxnumf", "maximum")
                               .Case("arith.minnumf", "minimum")
                               .Default(nullptr);
    if (!function)
      return std::nullopt;
    std::string made = std::string("tl.") + function + "(";
    for (size_t i = 0; i < x.size(); ++i)
      made += (i ? ", " : "") + x[i];
    return made + ")";
  }

  static Text compared(mlir::arith::CmpFPredicate predicate, const std::vector<std::string> &x) {
    using P = mlir::arith::CmpFPredicate;
    const char *sign = predicate == P::OGT   ? " > "
                       : predicate == P::OGE ? " >= "
                       : predicate == P::OLT ? " < "
                       : predicate == P::OLE ? " <= "
                       : predicate == P::OEQ ? " == "
                       : predicate == P::UNE ? " != "
                                             : nullptr;
    return sign ? Text("(" + x[0] + sign + x[1] + ")") : std::nullopt;
  }

  static Text typed(double value, mlir::Type type) {
    if (!type.isF32() && !type.isF16() && !type.isBF16())
      return std::nullopt;
    return "tl.full([], " + passes::tlNumber(value) + ", " +
           (type.isF32()   ? "tl.float32"
            : type.isF16() ? "tl.float16"
                           : "tl.bfloat16") +
           ")";
  }

  static Text number(mlir::arith::ConstantOp constant) {
    mlir::Attribute attribute = constant.getValue();
    if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(attribute))
      attribute = dense.isSplat() ? dense.getSplatValue<mlir::Attribute>() : mlir::Attribute();
    auto real = mlir::dyn_cast_or_null<mlir::FloatAttr>(attribute);
    return real ? typed(real.getValueAsDouble(), real.getType()) : std::nullopt;
  }

  /// A number that the launch gives.
  Text scalar(mlir::BlockArgument argument) {
    const LaunchOperand *operand = operandOf(argument);
    auto real = operand ? operand->value.as<double>() : std::nullopt;
    return real ? typed(*real, argument.getType()) : std::nullopt;
  }

  Text loaded(tt::LoadOp load) {
    auto place = tt::pointerForm(load.getPtr());
    auto base = place ? mlir::dyn_cast<mlir::BlockArgument>(place->base) : mlir::BlockArgument();
    if (!base || !(place->offset == offset) || load.getIsVolatile() ||
        (load.getMask() && load.getMask() != store.getMask()))
      return std::nullopt;
    const LaunchOperand *operand = operandOf(base);
    if (!operand || operand->access != Access::Read || operand->unknownAccess)
      return std::nullopt;
    size_t place_ =
        static_cast<size_t>(std::find(names.begin(), names.end(), operand->name) - names.begin());
    if (place_ == names.size())
      names.push_back(operand->name);
    return "a" + std::to_string(place_);
  }

  const LaunchOperand *operandOf(mlir::BlockArgument argument) const {
    for (const LaunchOperand &operand : launch.launch()->operands)
      if (kernel.argument(operand.name) == argument.getArgNumber())
        return &operand;
    return nullptr;
  }

  const OpenKernel &kernel;
  const Node &launch;
  tt::StoreOp store;
  tt::OffsetForm offset;
  std::vector<std::string> names;
  llvm::DenseMap<mlir::Value, Text> known;
};

/// The kernel's one store, where it does nothing else that is seen and does it once.
tt::StoreOp onlyStore(const OpenKernel &kernel) {
  tt::StoreOp found;
  tt::FuncOp function = kernel.function;
  if (!function.getBody().hasOneBlock())
    return {};
  for (mlir::Operation &op : function.getBody().front()) {
    if (op.getNumRegions() != 0)
      return {};
    if (auto store = mlir::dyn_cast<tt::StoreOp>(op)) {
      if (found)
        return {};
      found = store;
      continue;
    }
    if (!mlir::isa<tt::LoadOp>(op) && !op.hasTrait<mlir::OpTrait::IsTerminator>() &&
        !mlir::isMemoryEffectFree(&op))
      return {};
  }
  return found;
}

class KernelRaiser {
public:
  KernelRaiser(Program &p, OperatorRegistry &r, mlir::MLIRContext &context,
               std::vector<FusionEdge> &e)
      : program(p), registry(r), edges(e), neighbours(p, r), kernels(p, context) {}

  bool run(Node &launch) {
    if (!isBehindProduct(launch) || launch.resultCount() != 1 || !isPlain(launch) ||
        !kernels.open(launch))
      return false;
    Found found;
    for (size_t i = 0; i < kernels.all().size(); ++i) {
      std::optional<Found> one = find(kernels.all()[i], launch);
      if (!one || (i != 0 && (one->expression != found.expression || one->inputs != found.inputs)))
        return false;
      found = std::move(*one);
    }
    return replace(launch, found);
  }

private:
  struct Found {
    std::string expression;
    std::vector<std::string> inputs;
  };

  static const LaunchOperand *operandNamed(const Node &launch, const std::string &name) {
    for (const LaunchOperand &operand : launch.launch()->operands)
      if (operand.name == name)
        return &operand;
    return nullptr;
  }

  /// What `value` is the same elements of, in the same order.
  const Value *behind(const Value *value) const {
    while (value->users().size() == 1 && neighbours.isReshape(value->producer()))
      value = value->producer()->arg(0).value();
    return value;
  }

  bool isBehindProduct(const Node &launch) const {
    return std::any_of(launch.launch()->operands.begin(), launch.launch()->operands.end(),
                       [&](const LaunchOperand &operand) {
                         const Value *value = operand.value.value();
                         return value && value->isTensor() && isProduct(behind(value));
                       });
  }
  bool isProduct(const Value *value) const {
    const Node *node = value->producer();
    const Operator *op =
        node->isCall() && !node->isLaunch() ? registry.find(node->target()) : nullptr;
    return op && op->kind == Operator::Kind::Gemm && value->users().size() == 1;
  }

  /// It writes one tensor, all of it, and nobody sees what that held before.
  bool isPlain(const Node &launch) const {
    const Launch &info = *launch.launch();
    for (const LaunchOperand &operand : info.operands)
      if (operand.unknownAccess)
        return false;
    const LaunchOperand &written = info.operands[info.resultOperands[0]];
    const Value *before = written.value.value();
    const TensorType &type = launch.result()->type();
    return written.access == Access::Write && neighbours.holdsNothing(before) &&
           before->users().size() == 1 && type.isContiguous(program.symbols) &&
           type.offset.constant() == 0;
  }

  std::optional<Found> find(const OpenKernel &kernel, const Node &launch) const {
    // Products of ours may contract what this kernel must not.
    if (!kernel.def.numerics.contractFma || kernel.def.prints || kernel.def.asserts ||
        kernel.def.usesAddresses)
      return std::nullopt;
    tt::StoreOp store = onlyStore(kernel);
    const Launch &info = *launch.launch();
    const std::string &name = info.operands[info.resultOperands[0]].name;
    auto place = store ? tt::pointerForm(store.getPtr()) : std::nullopt;
    auto base = place ? mlir::dyn_cast<mlir::BlockArgument>(place->base) : mlir::BlockArgument();
    const TensorType &type = launch.result()->type();
    if (!base || kernel.argument(name) != base.getArgNumber() || !isFloat(type.dtype) ||
        refusePartialStore(store, kernels.valuesOf(kernel, launch), type.numel()))
      return std::nullopt;
    ElementText element(kernel, launch);
    Text text = element.of(store);
    if (!text || element.inputs().empty())
      return std::nullopt;
    DataType common = operandNamed(launch, element.inputs()[0])->value.value()->type().dtype;
    for (const std::string &input : element.inputs()) {
      const TensorType &one = operandNamed(launch, input)->value.value()->type();
      if (one.dtype != common || !isFloat(common) || byteSize(common) > 4 || byteSize(common) < 2 ||
          one.device != type.device || !one.isContiguous(program.symbols) ||
          !program.symbols.proveEqual(one.numel(), type.numel()))
        return std::nullopt;
    }
    return Found{std::move(*text), element.inputs()};
  }

  /// The operator of these numbers; kernels that say the same share one.
  const Operator &operatorOf(const Found &found, const Node &launch) {
    DataType result = launch.result()->type().dtype;
    std::string name = kernels.first().def.name;
    for (char &c : name)
      if (!isalnum(static_cast<unsigned char>(c)))
        c = '_';
    for (size_t i = 0;; ++i) {
      std::string target = "kernel." + name + (i ? "_" + std::to_string(i) : "") + ".default";
      const Operator *known = registry.find(target);
      auto entry = made.find(target);
      if (known && entry != made.end() && entry->second == result &&
          known->pointwise.cases[0].expression == found.expression)
        return *known;
      if (known)
        continue;
      Operator op;
      std::string arguments;
      for (size_t a = 0; a < found.inputs.size(); ++a)
        arguments += (a ? ", Tensor a" : "Tensor a") + std::to_string(a);
      op.schema = parseSchema("kernel::" + name + (i ? "_" + std::to_string(i) : "") + ".default(" +
                              arguments + ") -> Tensor");
      op.kind = Operator::Kind::Pointwise;
      op.pointwise = {Promotion::NoOpMath, {{found.expression}}, 1};
      op.fake = [result](const OperatorCall &call) -> std::vector<ResultType> {
        const TensorType &like = call.args[0].value()->type();
        return {TensorType(result, like.shape, like.device)};
      };
      made[target] = result;
      return registry.add(std::move(op));
    }
  }

  bool replace(Node &launch, const Found &found) {
    const TensorType &type = launch.result()->type();
    program.main.setInsertionPoint(&launch);
    program.main.setLocation(launch.location);
    std::vector<Argument> inputs;
    for (const std::string &name : found.inputs) {
      Value *value = operandNamed(launch, name)->value.value();
      if (value->type().shape != type.shape)
        value = emitCall(program.main, registry, program.symbols, "aten.view.default",
                         {value, Argument::list(type.shape)}, {}, launch.location)
                    ->result();
      inputs.emplace_back(value);
    }
    Node *node =
        emitCall(program.main, registry, program.symbols, operatorOf(found, launch).target(),
                 std::move(inputs), {}, launch.location);
    node->stackNote = launch.stackNote;
    program.main.setInsertionPoint(nullptr);
    note(launch, found);
    program.main.replaceAllUses(launch.result(), node->result());
    program.main.erase(&launch);
    return true;
  }

  void note(const Node &launch, const Found &found) {
    for (const std::string &name : found.inputs) {
      const Value *value = behind(operandNamed(launch, name)->value.value());
      for (FusionEdge &edge : edges)
        if (edge.to == launch.name() && edge.from == value->producer()->name() && !edge.fused)
          edge.reason = "the kernel works element by element: it is computed where the last "
                        "product before it stores";
    }
  }

  Program &program;
  OperatorRegistry &registry;
  std::vector<FusionEdge> &edges;
  Neighbours neighbours;
  LaunchKernels kernels;
  std::map<std::string, DataType> made;
};

} // namespace

size_t raiseElementwiseKernels(Program &program, OperatorRegistry &registry,
                               mlir::MLIRContext &context, std::vector<FusionEdge> &edges) {
  std::vector<Node *> launches;
  for (Node &node : program.main)
    if (node.isLaunch())
      launches.push_back(&node);
  KernelRaiser raiser(program, registry, context, edges);
  size_t count = 0;
  for (Node *launch : launches)
    count += raiser.run(*launch);
  return count;
}

} // namespace pellucid::fusion
