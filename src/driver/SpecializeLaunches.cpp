// SPDX-License-Identifier: Apache-2.0
#include "driver/SpecializeLaunches.h"

#include "passes/tt/Pipeline.h"
#include "tt/AxisInfo.h"
#include "tt/Tt.h"

#include "mlir/IR/Builders.h"

#include <algorithm>
#include <map>
#include <set>

namespace pellucid::driver {

using namespace graph;
using passes::Storage;
using symbolic::Expr;

namespace {

/// Of addresses in bytes and of integers: what vectors of 16 bytes need. As in Triton.
constexpr int64_t wantedDivisor = 16;
/// Of weights and of the slots of buffers.
constexpr int64_t ownAlignment = 64;

/// What a kernel may assume of one of its arguments.
struct ArgumentFacts {
  std::optional<int64_t> constant;
  int64_t divisor = 1;
  bool nonNegative = false;
  auto operator<=>(const ArgumentFacts &) const = default;
};
/// One per parameter of the tt.func.
using Facts = std::vector<ArgumentFacts>;

/// What is proved, and what would be if the call is as most are.
struct ArgumentKnowledge {
  ArgumentFacts proved, hoped;
  bool isPointer = false;
};

/// The parameters that are arguments of the tt.func.
std::vector<const KernelParameter *> runTimeParameters(const KernelDef &kernel) {
  std::vector<const KernelParameter *> parameters;
  for (const KernelParameter &parameter : kernel.parameters)
    if (parameter.kind != KernelParameter::Kind::Constant)
      parameters.push_back(&parameter);
  return parameters;
}

const LaunchOperand *operandNamed(const Launch &launch, const std::string &name) {
  for (const LaunchOperand &operand : launch.operands)
    if (operand.name == name)
      return &operand;
  return nullptr;
}

/// The value of an integer or boolean argument.
std::optional<Expr> integerOf(const LaunchOperand *operand) {
  if (!operand)
    return std::nullopt;
  if (Value *value = operand->value.value())
    return value->isSymInt() ? std::optional(value->expr()) : std::nullopt;
  return operand->value.integer();
}

bool fits(int64_t value, DataType type) {
  unsigned bits = 8 * byteSize(type);
  return bits >= 64 || (value >= -(int64_t(1) << (bits - 1)) && value < int64_t(1) << (bits - 1));
}

/// A kernel as it came, and the forms of it that launches use.
class KernelForms {
public:
  KernelForms(Program &p, uint32_t i, bool renames, mlir::MLIRContext &c)
      : program(p), index(i), renames(renames), context(c), original(p.kernels[i]) {
    Diagnostics ignored;
    module = tt::parseTtir(original.ttir, &context, ignored, original.symbol);
    function = module ? module->lookupSymbol<tt::FuncOp>(original.symbol) : tt::FuncOp();
    if (function && function.getNumArguments() != runTimeParameters(original).size())
      function = {};
  }

  bool canSpecialise() const { return static_cast<bool>(function); }
  bool hasAttribute(unsigned argument, llvm::StringRef name) {
    return function.getArgAttr(argument, name) != nullptr;
  }

  /// The index in the program's kernels of the form that assumes `facts`. The first one takes the
  /// place of the kernel as it came.
  uint32_t formOf(const Facts &facts) {
    auto [known, isNew] = forms.try_emplace(facts, index);
    if (!isNew)
      return known->second;
    KernelDef def = original;
    bool isFirst = forms.size() == 1;
    if (!isFirst)
      known->second = static_cast<uint32_t>(program.kernels.size());
    if (!isFirst || renames) {
      bool isGeneric = std::all_of(facts.begin(), facts.end(),
                                   [](const ArgumentFacts &one) { return one.divisor == 1; });
      def.symbol = program.uniqueSymbol(original.symbol + (renames ? "_cuda" : "") +
                                        (isGeneric && !isFirst ? "_unaligned" : ""));
    }
    describe(def, facts);
    mlir::OwningOpRef<mlir::ModuleOp> form = withFacts(facts);
    form->lookupSymbol<tt::FuncOp>(original.symbol).setName(def.symbol);
    def.ttir = tt::printTtir(*form, tt::TtirVersion::V3_6, true);
    if (known->second == index)
      program.kernels[index] = std::move(def);
    else
      program.kernels.push_back(std::move(def));
    return known->second;
  }

  /// What code generation makes of the kernel differs between the two.
  bool differ(const Facts &a, const Facts &b) { return judgementOf(a) != judgementOf(b); }

private:
  mlir::OwningOpRef<mlir::ModuleOp> withFacts(const Facts &facts) {
    mlir::OwningOpRef<mlir::ModuleOp> form(module->clone());
    auto target = form->lookupSymbol<tt::FuncOp>(original.symbol);
    mlir::Builder builder(&context);
    for (auto [i, fact] : llvm::enumerate(facts)) {
      mlir::Type type = target.getArgumentTypes()[i];
      if (fact.constant)
        target.setArgAttr(i, "pellucid.constant", builder.getIntegerAttr(type, *fact.constant));
      if (fact.divisor > 1)
        target.setArgAttr(i, "tt.divisibility",
                          builder.getI32IntegerAttr(static_cast<int32_t>(fact.divisor)));
      if (fact.nonNegative && !fact.constant)
        target.setArgAttr(i, "pellucid.nonnegative", builder.getUnitAttr());
    }
    return form;
  }

  static void describe(KernelDef &def, const Facts &facts) {
    size_t next = 0;
    for (KernelParameter &parameter : def.parameters) {
      if (parameter.kind == KernelParameter::Kind::Constant)
        continue;
      const ArgumentFacts &fact = facts[next++];
      parameter.divisor = fact.constant ? 1 : fact.divisor;
      if (fact.constant)
        parameter.constant = Argument(*fact.constant);
    }
  }

  /// What is known of each access, as far as it matters, and how much there is to compute.
  const std::vector<int64_t> &judgementOf(const Facts &facts) {
    auto [known, isNew] = judgements.try_emplace(facts);
    if (!isNew)
      return known->second;
    std::vector<int64_t> &list = known->second;
    mlir::OwningOpRef<mlir::ModuleOp> form = withFacts(facts);
    Diagnostics ignored;
    if (!tt::runKernelPipeline(*form, ignored))
      return list;
    auto prepared = form->lookupSymbol<tt::FuncOp>(original.symbol);
    tt::AxisAnalysis axes(prepared);
    int64_t operations = 0;
    // Only along the dim that elements are neighbours along.
    auto note = [&](mlir::Value pointer, mlir::Value mask) {
      tt::AxisInfo info = axes.of(pointer);
      size_t d = std::max_element(info.contiguity.begin(), info.contiguity.end()) -
                 info.contiguity.begin();
      if (info.rank() == 0 || info.contiguity[d] == 1)
        return list.push_back(0);
      list.push_back(std::min(info.contiguity[d], wantedDivisor));
      list.push_back(std::min(info.divisibility[d], wantedDivisor));
      list.push_back(mask ? std::min(axes.of(mask).constancy[d], wantedDivisor) : 0);
    };
    prepared.walk([&](mlir::Operation *op) {
      ++operations;
      if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
        note(load.getPtr(), load.getMask());
      if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
        note(store.getPtr(), store.getMask());
    });
    list.push_back(operations);
    return list;
  }

  Program &program;
  uint32_t index;
  bool renames;
  mlir::MLIRContext &context;
  KernelDef original;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tt::FuncOp function;
  std::map<Facts, uint32_t> forms;
  std::map<Facts, std::vector<int64_t>> judgements;
};

class Specialiser {
public:
  Specialiser(LoweredProgram &l, const KnownAlignment &a, const SharesNumbers &s, bool besideCpu,
              mlir::MLIRContext &c)
      : lowered(l), program(l.program), inputAlignment(a.inputs), outputAlignment(a.outputs),
        besideCpu(besideCpu), context(c) {
    for (uint32_t kernel = 0; s && kernel < program.kernels.size(); ++kernel)
      if (s(program.kernels[kernel]))
        numbersShared.insert(kernel);
    uint32_t user = 0;
    uint32_t position = 0;
    for (Node *node : program.main.placeholders()) {
      const InputSpec &spec = program.inputs[position];
      if (lowered.state.count(spec.name))
        state.insert(position);
      else if (spec.kind == InputSpec::Kind::UserInput && node->resultCount() &&
               node->result()->isTensor())
        userInput[position] = user++;
      ++position;
    }
  }

  void run() {
    // A kernel is specialised once, for all graphs that launch it.
    collectValues(program.main);
    for (const auto &[region, regionPlan] : lowered.regions)
      collectValues(program.bodies[region].graph);
    specialise(program.main, lowered.plan);
    for (const auto &[region, regionPlan] : lowered.regions)
      specialise(program.bodies[region].graph, regionPlan);
  }

private:
  /// Which constants the launches of a kernel give each parameter; an empty optional is no
  /// constant.
  using Values = std::map<std::string, std::set<std::optional<int64_t>>>;

  void collectValues(const Graph &graph) {
    for (const Node &node : graph)
      if (const Launch *launch = node.launch())
        collectValues(*launch);
  }

  void specialise(Graph &graph, const passes::BufferPlan &ofGraph) {
    plan = &ofGraph;
    for (Node &node : graph)
      if (node.isLaunch())
        specialise(node);
  }

  void collectValues(const Launch &launch) {
    for (const LaunchVariant &variant : launch.variants)
      for (const KernelParameter *parameter : runTimeParameters(program.kernels[variant.kernel])) {
        auto value = integerOf(operandNamed(launch, parameter->name));
        valuesOf[variant.kernel][parameter->name].insert(value ? value->constant() : std::nullopt);
      }
  }

  void specialise(Node &node) {
    Launch launch = *node.launch();
    std::vector<LaunchVariant> variants;
    for (const LaunchVariant &variant : launch.variants) {
      KernelForms *forms = formsOf(variant.kernel);
      if (!forms) {
        variants.push_back(variant);
        continue;
      }
      for (const Facts &facts : choices(node, variant.kernel, *forms)) {
        LaunchVariant &made = variants.emplace_back(variant);
        made.kernel = forms->formOf(facts);
      }
    }
    launch.variants = std::move(variants);
    node.setLaunch(std::move(launch));
  }

  /// Null for a kernel of the back end's own.
  KernelForms *formsOf(uint32_t kernel) {
    auto [known, isNew] = allForms.try_emplace(kernel);
    if (isNew && !program.kernels[kernel].ttir.empty())
      known->second = std::make_unique<KernelForms>(program, kernel, besideCpu, context);
    return known->second && known->second->canSpecialise() ? known->second.get() : nullptr;
  }

  /// From what assumes most to what always holds; those that change nothing are left out.
  std::vector<Facts> choices(const Node &node, uint32_t kernel, KernelForms &forms) {
    std::vector<ArgumentKnowledge> known;
    unsigned argument = 0;
    for (const KernelParameter *parameter : runTimeParameters(program.kernels[kernel]))
      known.push_back(knowledgeOf(node, kernel, *parameter, argument++, forms));
    auto facts = [&](bool hopeIntegers, bool hopePointers) {
      Facts list;
      for (const ArgumentKnowledge &one : known)
        list.push_back((one.isPointer ? hopePointers : hopeIntegers) ? one.hoped : one.proved);
      return list;
    };
    std::vector<Facts> result{facts(false, false)};
    for (const Facts &better : {facts(false, true), facts(true, true)})
      if (better != result.front() && forms.differ(better, result.front()))
        result.insert(result.begin(), better);
    return result;
  }

  ArgumentKnowledge knowledgeOf(const Node &node, uint32_t kernel, const KernelParameter &parameter,
                                unsigned argument, KernelForms &forms) {
    ArgumentKnowledge known;
    known.isPointer = parameter.kind == KernelParameter::Kind::Pointer;
    const LaunchOperand *operand = operandNamed(*node.launch(), parameter.name);
    bool isFree = forms.hasAttribute(argument, "pellucid.no_specialize");
    if (!operand || isFree)
      return known;
    bool alignmentCounts = !forms.hasAttribute(argument, "pellucid.no_specialize_on_alignment");
    if (known.isPointer) {
      if (alignmentCounts)
        addAlignment(node, *operand, known);
    } else if (!isFloat(parameter.dtype)) {
      addInteger(kernel, parameter, *operand, alignmentCounts, known);
    }
    return known;
  }

  void addInteger(uint32_t kernel, const KernelParameter &parameter, const LaunchOperand &operand,
                  bool alignmentCounts, ArgumentKnowledge &known) {
    std::optional<Expr> value = integerOf(&operand);
    if (!value)
      return;
    ArgumentFacts &proved = known.proved;
    std::optional<int64_t> number = value->constant();
    // A constant that not all launches share would give each a kernel of its own.
    bool isShared = numbersShared.count(kernel) || valuesOf[kernel][parameter.name].size() != 1;
    if (number && fits(*number, parameter.dtype) && (*number == 1 || !isShared))
      proved.constant = number;
    if (parameter.dtype != DataType::Bool && !proved.constant) {
      proved.nonNegative = program.symbols.range(*value).min >= 0;
      if (alignmentCounts && program.symbols.isMultipleOf(*value, wantedDivisor))
        proved.divisor = wantedDivisor;
    }
    known.hoped = proved;
    if (parameter.dtype != DataType::Bool && !number && alignmentCounts)
      known.hoped.divisor = wantedDivisor;
  }

  void addAlignment(const Node &node, const LaunchOperand &operand, ArgumentKnowledge &known) {
    Value *value = operand.value.value();
    if (!value || !value->isTensor())
      return;
    auto position = static_cast<uint32_t>(&operand - node.launch()->operands.data());
    const Storage &storage = plan->storages[plan->operand(node, position, value)];
    Expr offset = value->type().offset * static_cast<int64_t>(byteSize(value->type().dtype));
    int64_t divisor = 1;
    while (divisor < wantedDivisor && program.symbols.isMultipleOf(offset, 2 * divisor))
      divisor *= 2;
    known.hoped.divisor = divisor;
    known.proved.divisor = std::min(divisor, alignmentOf(storage));
  }

  /// Of the beginning of a piece of memory.
  int64_t alignmentOf(const Storage &storage) const {
    if (storage.kind == Storage::Kind::Weight || storage.kind == Storage::Kind::Buffer ||
        (storage.kind == Storage::Kind::Input && state.count(storage.index)))
      return ownAlignment;
    if (storage.kind == Storage::Kind::Output && plan == &lowered.plan)
      return outputAlignment;
    // What a region is given begins anywhere.
    if (storage.kind != Storage::Kind::Input || plan != &lowered.plan)
      return 1;
    auto input = userInput.find(storage.index);
    if (input == userInput.end() || input->second >= inputAlignment.size())
      return 1;
    int64_t known = inputAlignment[input->second];
    return std::max<int64_t>(1, known & -known);
  }

  LoweredProgram &lowered;
  Program &program;
  const passes::BufferPlan *plan = nullptr; ///< of the graph that is looked at
  const std::vector<uint32_t> &inputAlignment;
  uint32_t outputAlignment;
  bool besideCpu;
  mlir::MLIRContext &context;
  std::map<uint32_t, uint32_t> userInput; ///< by placeholder
  std::set<uint32_t> state;               ///< placeholders of what instances own
  std::set<uint32_t> numbersShared;       ///< kernels
  std::map<uint32_t, Values> valuesOf;    ///< by kernel
  std::map<uint32_t, std::unique_ptr<KernelForms>> allForms;
};

} // namespace

void specializeLaunches(LoweredProgram &lowered, const KnownAlignment &alignment,
                        const SharesNumbers &sharesNumbers, bool besideCpu,
                        mlir::MLIRContext &context) {
  Specialiser(lowered, alignment, sharesNumbers, besideCpu, context).run();
}

} // namespace pellucid::driver
