// SPDX-License-Identifier: Apache-2.0
#include "graph/CheckProgram.h"

#include "graph/ControlFlow.h"
#include "graph/HostSteps.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

namespace pellucid::graph {

namespace {

/// Bodies that call bodies multiply; more nodes than this is no program but an attack on memory.
constexpr uint64_t maximumNodes = 1'000'000;
constexpr uint32_t maximumDepth = 256;

std::string text(const ResultType &type) {
  if (const TensorType *tensor = std::get_if<TensorType>(&type))
    return toString(*tensor);
  return "int `" + std::get<Expr>(type).text() + "`";
}
ResultType typeOf(const Value &value) {
  return value.isTensor() ? ResultType(value.type()) : ResultType(value.expr());
}

/// A user's operator: what its calls must look like.
struct UserOperator {
  const OperatorDefinition *definition;
  Schema schema;
};

class ProgramChecker {
public:
  ProgramChecker(const Program &p, const OperatorRegistry &r,
                 const std::function<SourceLocation(const Node &)> &w)
      : program(p), registry(r), placeOf(w) {}

  void run() {
    readDefinitions();
    checkRecursion();
    checkGraph(program.main, "the program");
    for (const Body &body : program.bodies)
      checkGraph(body.graph, "the body of " + body.operatorName);
    checkInputs();
    checkOutputs();
  }

private:
  [[noreturn]] void fail(const Node &node, const std::string &message) const {
    throw DiagnosticError(placeOf(node), message);
  }
  [[noreturn]] static void failWhole(const std::string &message) {
    throw DiagnosticError(SourceLocation("program"), message);
  }

  static Schema schemaOf(const OperatorDefinition &definition) {
    try {
      return parseSchema(definition.name + definition.schema);
    } catch (const DiagnosticError &error) {
      failWhole("operator '" + definition.name + "': " + error.diagnostic.message);
    }
  }
  void readDefinitions() {
    for (const OperatorDefinition &definition : program.operators) {
      Schema schema = schemaOf(definition);
      std::string target = schema.target();
      if (!operators.try_emplace(target, UserOperator{&definition, std::move(schema)}).second)
        failWhole("operator '" + target + "' is defined twice");
    }
  }

  //===-- Bodies ------------------------------------------------------------------------------===//

  /// Nodes of a body with everything that it calls opened.
  uint64_t sizeOf(uint32_t body, uint32_t depth) {
    constexpr uint64_t open = UINT64_MAX;
    if (sizes[body] == open)
      failWhole("operator '" + program.bodies[body].operatorName + "' calls itself");
    if (sizes[body])
      return sizes[body];
    if (depth > maximumDepth)
      failWhole("operators call each other more than " + std::to_string(maximumDepth) +
                " levels deep");
    sizes[body] = open;
    uint64_t total = sizeOf(program.bodies[body].graph, depth + 1);
    return sizes[body] = total;
  }
  uint64_t sizeOf(const Graph &graph, uint32_t depth) {
    uint64_t total = 1;
    for (const Node &node : graph) {
      total += node.body ? sizeOf(*node.body, depth) : 1;
      for (uint32_t region : node.regions)
        total += sizeOf(region, depth);
      if (total > maximumNodes)
        failWhole("operators that call each other come to more than " +
                  std::to_string(maximumNodes) + " nodes");
    }
    return total;
  }
  void checkRecursion() {
    sizes.resize(program.bodies.size());
    sizeOf(program.main, 0);
    for (uint32_t body = 0; body < program.bodies.size(); ++body)
      sizeOf(body, 0);
  }

  //===-- Types -------------------------------------------------------------------------------===//

  void checkSymbols(const Node &node, const Expr &e) {
    if (!known.insert(e).second)
      return;
    for (const std::string &name : e.symbols())
      if (!program.symbols.find(name))
        fail(node, "symbol '" + name + "' is not declared");
  }
  void checkSymbols(const Node &node, const Argument &argument) {
    if (auto e = argument.as<Expr>())
      checkSymbols(node, *e);
    else if (const Argument::List *list = argument.list())
      for (const Argument &element : *list)
        checkSymbols(node, element);
  }
  void checkSymbols(const Node &node, const ResultType &type) {
    const TensorType *tensor = std::get_if<TensorType>(&type);
    if (!tensor)
      return checkSymbols(node, std::get<Expr>(type));
    for (const std::vector<Expr> *list : {&tensor->shape, &tensor->strides})
      for (const Expr &e : *list)
        checkSymbols(node, e);
    checkSymbols(node, tensor->offset);
  }

  bool isNegative(const Expr &e) const {
    return program.symbols.prove(symbolic::less(e, 0)) == true;
  }

  bool sameTensor(const TensorType &a, const TensorType &b) const {
    const SymbolTable &symbols = program.symbols;
    if (a.dtype != b.dtype || a.rank() != b.rank() || !(a.device == b.device) ||
        a.layout != b.layout || !symbols.proveEqual(a.offset, b.offset))
      return false;
    bool empty = false;
    for (const Expr &dim : a.shape)
      empty |= symbols.proveEqual(dim, 0);
    for (size_t d = 0; d < a.rank(); ++d)
      if (!symbols.proveEqual(a.shape[d], b.shape[d]) ||
          (!empty && !symbols.proveEqual(a.shape[d], 1) &&
           !symbols.proveEqual(a.strides[d], b.strides[d])))
        return false;
    return true;
  }
  bool same(const ResultType &a, const ResultType &b) const {
    const TensorType *left = std::get_if<TensorType>(&a), *right = std::get_if<TensorType>(&b);
    if (left && right)
      return sameTensor(*left, *right);
    return !left && !right && program.symbols.proveEqual(std::get<Expr>(a), std::get<Expr>(b));
  }

  void checkResults(const Node &node, const std::vector<ResultType> &results) const {
    if (results.size() != node.resultCount())
      fail(node, "'" + node.target() + "' gives " + std::to_string(results.size()) +
                     " results, the program says " + std::to_string(node.resultCount()));
    for (size_t r = 0; r < results.size(); ++r)
      if (ResultType said = typeOf(*node.result(r)); !same(said, results[r]))
        fail(node, "'" + node.target() + "' gives " + text(results[r]) + ", the program says " +
                       text(said));
  }

  //===-- Nodes -------------------------------------------------------------------------------===//

  void checkGraph(const Graph &graph, const std::string &what) {
    if (!graph.outputNode())
      failWhole(what + " has no output");
    for (const Node &node : graph) {
      try {
        checkNode(node);
      } catch (const std::overflow_error &) {
        fail(node, "node '" + node.name() + "' asks for more elements than 64 bits can count");
      }
    }
  }

  void checkNode(const Node &node) {
    for (size_t r = 0; r < node.resultCount(); ++r)
      checkSymbols(node, typeOf(*node.result(r)));
    for (const Argument &argument : node.args())
      checkSymbols(node, argument);
    for (const auto &[name, argument] : node.kwargs())
      checkSymbols(node, argument);
    if (node.isPlaceholder())
      return checkPlaceholder(node);
    if (node.isOutput())
      return checkResults(node, {});
    if (node.isLaunch())
      return checkLaunch(node);
    if (isControlFlow(node))
      return checkControl(node);
    if (isHostStep(node))
      return checkHostStep(node);
    if (const Operator *op = registry.find(node.target()))
      return checkCall(node, *op);
    auto user = operators.find(node.target());
    if (user == operators.end())
      fail(node, "operator '" + node.target() + "' is not registered");
    checkUserCall(node, user->second);
  }

  void checkCall(const Node &node, const Operator &op) const {
    std::string error;
    auto bound = bindArguments(op.schema, node.args(), node.kwargs(), op.numbersAreTensors, error);
    if (!bound)
      fail(node, error);
    if (node.body || !node.regions.empty() || !node.mutatedArgs.empty())
      fail(node, "'" + node.target() + "' has no body and writes no argument");
    checkResults(node, resultsOf({op, program.symbols, std::move(*bound), placeOf(node)}));
  }

  void checkControl(const Node &node) {
    if (node.body || !node.mutatedArgs.empty())
      fail(node, "'" + node.target() + "' has regions, no body, and writes no argument");
    std::string problem = whyNotControlFlow(node, program);
    if (!problem.empty())
      fail(node, "'" + node.target() + "' " + problem);
  }

  void checkHostStep(const Node &node) const {
    if (std::string problem = whyNotHostStep(node); !problem.empty())
      fail(node, "'" + node.target() + "' " + problem);
  }

  void checkPlaceholder(const Node &node) const {
    if (node.resultCount() > 1)
      fail(node, "placeholder '" + node.name() + "' has " + std::to_string(node.resultCount()) +
                     " values");
    if (!node.resultCount() || !node.result()->isTensor())
      return;
    const TensorType &type = node.result()->type();
    for (const std::vector<Expr> &list : {type.shape, type.strides, {type.offset}})
      for (const Expr &e : list)
        if (isNegative(e))
          fail(node, "placeholder '" + node.name() + "' is " + toString(type) + ", in which " +
                         e.text() + " is negative");
    type.storageElements(program.symbols) * int64_t(64);
    type.numel() * int64_t(64);
  }

  /// The values and symbolic integers of an argument, in order.
  static void flatten(const Argument &argument, std::vector<ResultType> &out) {
    if (const Value *value = argument.value())
      out.push_back(typeOf(*value));
    else if (auto e = argument.as<Expr>())
      out.emplace_back(*e);
    else if (const Argument::List *list = argument.list())
      for (const Argument &element : *list)
        flatten(element, out);
  }

  void checkUserCall(const Node &node, const UserOperator &user) {
    std::string error;
    auto bound = bindArguments(user.schema, node.args(), node.kwargs(), false, error);
    if (!bound)
      fail(node, error);
    std::vector<uint32_t> mutated;
    for (uint32_t i = 0; i < user.schema.arguments.size(); ++i)
      if (user.schema.arguments[i].type.mutated && !(*bound)[i].isNone())
        mutated.push_back(i);
    std::vector<uint32_t> said = node.mutatedArgs;
    std::sort(said.begin(), said.end());
    if (said != mutated)
      fail(node, "'" + node.target() + "' writes " + std::to_string(mutated.size()) +
                     " of its arguments, the program names " + std::to_string(said.size()) +
                     " or others");
    if (!node.regions.empty())
      fail(node, "'" + node.target() + "' has regions and is not control flow");
    if (node.body)
      checkBody(node, user);
  }

  void checkBody(const Node &node, const UserOperator &user) {
    const Body &body = program.bodies[*node.body];
    if (body.operatorName != user.definition->name)
      fail(node, "'" + node.target() + "' has the body of '" + body.operatorName + "'");
    std::vector<ResultType> actual;
    for (const Argument &argument : node.args())
      flatten(argument, actual);
    for (const auto &[name, argument] : node.kwargs())
      flatten(argument, actual);
    std::vector<Node *> formal = body.graph.placeholders();
    if (formal.size() != actual.size())
      fail(node, "'" + node.target() + "' is called with " + std::to_string(actual.size()) +
                     " tensors and sizes, its body takes " + std::to_string(formal.size()));
    for (size_t i = 0; i < formal.size(); ++i)
      if (!formal[i]->resultCount() || !same(typeOf(*formal[i]->result()), actual[i]))
        fail(node, "'" + node.target() + "' is called with " + text(actual[i]) +
                       ", where its body " +
                       (formal[i]->resultCount() ? "takes " + text(typeOf(*formal[i]->result()))
                                                 : std::string("takes nothing")));
    std::vector<ResultType> results;
    if (const Node *output = body.graph.outputNode())
      for (const Argument &argument : output->args()) {
        if (!argument.value())
          fail(node, "the body of '" + node.target() + "' gives " + toString(argument) +
                         ", which is not a tensor");
        results.push_back(typeOf(*argument.value()));
      }
    checkResults(node, results);
  }

  //===-- Launches ----------------------------------------------------------------------------===//

  void checkLaunch(const Node &node) {
    const Launch &launch = *node.launch();
    if (node.target() != launchTarget || !node.args().empty() || !node.kwargs().empty() ||
        node.body || !node.regions.empty() || !node.mutatedArgs.empty())
      fail(node, "a launch is a '" + std::string(launchTarget) + "' with operands only");
    std::unordered_map<std::string, const LaunchOperand *> operands;
    for (const LaunchOperand &operand : launch.operands) {
      checkSymbols(node, operand.value);
      if (!operands.emplace(operand.name, &operand).second)
        fail(node, "the launch has the operand '" + operand.name + "' twice");
      const Value *value = operand.value.value();
      if (operand.access != Access::None && !(value && value->isTensor()))
        fail(node, "operand '" + operand.name + "' is " + std::string(toString(operand.access)) +
                       ", and no tensor");
    }
    for (const LaunchVariant &variant : launch.variants)
      checkVariant(node, variant, operands);
    std::vector<ResultType> results;
    for (uint32_t operand : launch.resultOperands)
      results.emplace_back(launch.operands[operand].value.value()->type());
    checkResults(node, results);
  }

  void checkVariant(const Node &node, const LaunchVariant &variant,
                    const std::unordered_map<std::string, const LaunchOperand *> &operands) {
    checkSymbols(node, variant.guard);
    for (const Expr &dim : variant.grid) {
      checkSymbols(node, dim);
      if (isNegative(dim))
        fail(node, "the launch has a grid of " + dim.text() + " programs");
    }
    auto inRange = [&](const char *what, int32_t value, int32_t least, int32_t most) {
      if (value < least || value > most)
        fail(node, std::string("the launch has ") + what + " " + std::to_string(value) +
                       ", expected " + std::to_string(least) + " to " + std::to_string(most));
    };
    inRange("num_warps", variant.numWarps, 1, 1024);
    if (variant.numWarps & (variant.numWarps - 1))
      fail(node, "the launch has num_warps " + std::to_string(variant.numWarps) +
                     ", which is not a power of 2");
    inRange("num_stages", variant.numStages, 0, 1024);
    inRange("num_ctas", variant.numCtas, 1, 1024);
    const KernelDef &kernel = program.kernels[variant.kernel];
    size_t taken = 0;
    for (const KernelParameter &parameter : kernel.parameters) {
      auto operand = operands.find(parameter.name);
      taken += operand != operands.end();
      if (parameter.kind != KernelParameter::Kind::Constant)
        checkOperand(node, kernel, parameter,
                     operand == operands.end() ? nullptr : operand->second);
    }
    if (taken != operands.size())
      fail(node, "the launch has " + std::to_string(operands.size()) +
                     " operands, of which kernel '" + kernel.symbol + "' takes " +
                     std::to_string(taken));
  }

  void checkOperand(const Node &node, const KernelDef &kernel, const KernelParameter &parameter,
                    const LaunchOperand *operand) const {
    auto wrong = [&](const std::string &what) {
      fail(node, "kernel '" + kernel.symbol + "' " + what);
    };
    if (!operand)
      wrong("takes '" + parameter.name + "', which the launch does not give");
    const Value *value = operand->value.value();
    std::string given = value ? text(typeOf(*value)) : toString(operand->value);
    std::string type(info(parameter.dtype).cli);
    if (parameter.kind == KernelParameter::Kind::Scalar) {
      bool isNumber =
          operand->value.integer() || operand->value.number() || (value && value->isSymInt());
      if (!isNumber)
        wrong("takes '" + parameter.name + "' as a number of type " + type + ", got " + given);
      return;
    }
    // Kernels of the back end take a bias that is not there.
    if (operand->value.isNone() && kernel.library)
      return;
    if (!value || !value->isTensor() || value->type().dtype != parameter.dtype)
      wrong("takes '" + parameter.name + "' as a pointer to " + type + ", got " + given);
    uint8_t kernelDoes =
        static_cast<uint8_t>(parameter.unknownAccess ? Access::ReadWrite : parameter.access);
    if (kernelDoes & ~static_cast<uint8_t>(operand->access))
      wrong("has '" + parameter.name + "' as " +
            std::string(toString(static_cast<Access>(kernelDoes))) + ", the launch as " +
            std::string(toString(operand->access)));
  }

  //===-- Inputs and outputs ------------------------------------------------------------------===//

  void checkInputs() {
    std::vector<Node *> placeholders = program.main.placeholders();
    for (size_t i = 0; i < placeholders.size() && i < program.inputs.size(); ++i) {
      const InputSpec &spec = program.inputs[i];
      const Node &node = *placeholders[i];
      const Value *value = node.resultCount() ? node.result() : nullptr;
      if (spec.kind == InputSpec::Kind::UserInput) {
        if (!inputs.emplace(spec.name, value).second)
          fail(node, "two inputs are called '" + spec.name + "'");
        continue;
      }
      if (spec.kind == InputSpec::Kind::ConstantInput)
        continue;
      auto weight = program.weights.find(spec.name);
      if (weight == program.weights.end())
        fail(node, "there is no weight '" + spec.name + "'");
      TensorType stored(weight->second.dtype, std::vector<Expr>(weight->second.shape.begin(),
                                                                weight->second.shape.end()));
      if (!value || !value->isTensor())
        fail(node, "the weight '" + spec.name + "' has a placeholder that is not a tensor");
      stored.device = value->type().device;
      if (!sameTensor(stored, value->type()))
        fail(node, "the weight '" + spec.name + "' is " + toString(stored) +
                       ", its placeholder says " + toString(value->type()));
      inputs.emplace(spec.name, value);
    }
  }

  void checkOutputs() const {
    const Node &output = *program.main.outputNode();
    for (size_t i = 0; i < program.outputs.size() && i < output.args().size(); ++i) {
      const OutputSpec &spec = program.outputs[i];
      if (spec.kind == OutputSpec::Kind::UserOutput)
        continue;
      auto input = inputs.find(spec.name);
      const Value *value = output.arg(i).value();
      if (input == inputs.end() || !input->second || !input->second->isTensor())
        fail(output, "result " + std::to_string(i) + " are the new contents of '" + spec.name +
                         "', and there is no such tensor");
      const TensorType &old = input->second->type();
      bool fits = value && value->isTensor() && value->type().dtype == old.dtype &&
                  value->type().rank() == old.rank();
      for (size_t d = 0; fits && d < old.rank(); ++d)
        fits = program.symbols.proveEqual(value->type().shape[d], old.shape[d]);
      if (!fits)
        fail(output, "the new contents of '" + spec.name + "', " + toString(old) + ", are " +
                         (value ? text(typeOf(*value)) : toString(output.arg(i))));
    }
  }

  const Program &program;
  const OperatorRegistry &registry;
  const std::function<SourceLocation(const Node &)> &placeOf;
  std::unordered_map<std::string, UserOperator> operators;
  std::vector<uint64_t> sizes;    ///< of the bodies; 0: not looked at
  std::unordered_set<Expr> known; ///< whose symbols are declared
  std::unordered_map<std::string, const Value *> inputs;
};

} // namespace

void checkProgram(const Program &program, const OperatorRegistry &registry,
                  const std::function<SourceLocation(const Node &)> &placeOf) {
  ProgramChecker(program, registry, placeOf).run();
}

} // namespace pellucid::graph
