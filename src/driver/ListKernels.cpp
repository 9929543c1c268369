// SPDX-License-Identifier: Apache-2.0
#include "driver/ListKernels.h"

#include "frontend/EmitKernel.h"
#include "host/Interpreter.h"
#include "tt/AccessAnalysis.h"
#include "tt/Tt.h"

#include "mlir/IR/MLIRContext.h"

#include <map>
#include <set>

namespace pellucid::driver {

namespace h = host;
namespace s = syntax;
using frontend::ParameterSpec;

namespace {

/// Finds the parameters that addresses are made of, from the kernel's text alone.
class PointerGuess {
public:
  explicit PointerGuess(const h::JitFunction &k) : kernel(k) {
    visitAll(k.def().body);
    for (const s::Expr *address : addresses)
      follow(*address, 0);
  }
  std::set<std::string> pointers;

private:
  void visitAll(const s::List<s::Stmt> &list) {
    for (const auto &statement : list)
      visit(*statement);
  }
  void visit(const s::Stmt &statement) {
    if (auto *assign = s::as<s::Assign>(&statement)) {
      scan(*assign->value);
      for (const auto &target : assign->targets)
        if (auto *name = s::as<s::Name>(target.get()))
          assigned[name->id].push_back(assign->value.get());
    } else if (auto *augmented = s::as<s::AugAssign>(&statement)) {
      scan(*augmented->value);
    } else if (auto *annotated = s::as<s::AnnAssign>(&statement)) {
      if (annotated->value)
        scan(*annotated->value);
    } else if (auto *expr = s::as<s::ExprStmt>(&statement)) {
      scan(*expr->value);
    } else if (auto *branch = s::as<s::If>(&statement)) {
      scan(*branch->test);
      visitAll(branch->body);
      visitAll(branch->orelse);
    } else if (auto *loop = s::as<s::For>(&statement)) {
      visitAll(loop->body);
    } else if (auto *whileLoop = s::as<s::While>(&statement)) {
      visitAll(whileLoop->body);
    } else if (auto *ret = s::as<s::Return>(&statement)) {
      if (ret->value)
        scan(*ret->value);
    }
  }
  void scan(const s::Expr &expr) {
    if (auto *call = s::as<s::Call>(&expr)) {
      std::string name;
      if (auto *attr = s::as<s::Attribute>(call->func.get())) {
        name = attr->attr;
        scan(*attr->value);
      } else if (auto *plain = s::as<s::Name>(call->func.get())) {
        name = plain->id;
      }
      bool access = name == "load" || name == "store" || name.starts_with("atomic_") || name == "make_block_ptr" || name == "make_tensor_descriptor";
      if (access && !call->args.empty())
        addresses.push_back(call->args[0].get());
      for (const auto &keyword : call->keywords)
        if (access && (keyword->arg == "pointer" || keyword->arg == "base"))
          addresses.push_back(keyword->value.get());
      for (const auto &argument : call->args)
        scan(*argument);
      for (const auto &keyword : call->keywords)
        scan(*keyword->value);
    } else if (auto *op = s::as<s::BinOp>(&expr)) {
      scan(*op->left);
      scan(*op->right);
    } else if (auto *compare = s::as<s::Compare>(&expr)) {
      scan(*compare->left);
      for (const auto &other : compare->comparators)
        scan(*other);
    } else if (auto *unary = s::as<s::UnaryOp>(&expr)) {
      scan(*unary->operand);
    } else if (auto *attribute = s::as<s::Attribute>(&expr)) {
      scan(*attribute->value);
    } else if (auto *ternary = s::as<s::IfExp>(&expr)) {
      scan(*ternary->body);
      scan(*ternary->orelse);
    }
  }
  /// The base of an address stands leftmost in its sum. True when a parameter was found.
  bool follow(const s::Expr &expr, int depth) {
    if (depth > 16)
      return false;
    if (auto *op = s::as<s::BinOp>(&expr)) {
      if (op->op != s::Operator::Add && op->op != s::Operator::Sub)
        return false;
      return follow(*op->left, depth + 1) || follow(*op->right, depth + 1);
    }
    if (auto *call = s::as<s::Call>(&expr)) {
      if (auto *attr = s::as<s::Attribute>(call->func.get()); attr && (attr->attr == "to" || attr->attr == "cast"))
        return follow(*attr->value, depth + 1);
      return false;
    }
    auto *name = s::as<s::Name>(&expr);
    if (!name)
      return false;
    if (kernel.parameter(name->id) && !kernel.parameter(name->id)->isConstexpr) {
      pointers.insert(name->id);
      return true;
    }
    bool found = false;
    for (const s::Expr *value : assigned[name->id])
      found |= follow(*value, depth + 1);
    return found;
  }

  const h::JitFunction &kernel;
  std::map<std::string, std::vector<const s::Expr *>> assigned;
  std::vector<const s::Expr *> addresses;
};

/// What a constexpr without any hint may be, most likely first.
std::vector<h::Value> candidates() {
  return {h::Value(64), h::Value(16), h::Value(true), h::Value(std::make_shared<h::DType>(DataType::Float32, h::DType::Family::Triton)), h::Value(""), h::Value(), h::Value(1)};
}

class Lister {
public:
  explicit Lister(const std::vector<std::string> &roots) : interpreter(makeOptions(roots)) { tt::loadTtDialects(context); }

  std::vector<KernelReport> list(const std::string &path) {
    auto module = interpreter.importFile(path);
    std::vector<KernelReport> reports;
    for (const auto &[name, value] : module->globals->items()) {
      auto kernel = h::innermostKernel(value);
      if (!kernel || kernel->location().file != module->syntax->file)
        continue;
      reports.push_back(describe(name, value, *kernel));
    }
    return reports;
  }

private:
  static h::InterpreterOptions makeOptions(const std::vector<std::string> &roots) {
    h::InterpreterOptions options;
    options.searchRoots = roots;
    return options;
  }

  /// Defaults of constexprs: the first autotune config, else the signature's.
  std::map<std::string, h::Value> knownConstants(const h::Value &value, const h::JitFunction &kernel) {
    std::map<std::string, h::Value> known;
    for (const auto &parameter : kernel.parameters)
      if (parameter.isConstexpr && parameter.defaultValue)
        known[parameter.name] = *parameter.defaultValue;
    for (h::Value layer = value; auto *decorator = layer.as<h::KernelDecorator>(); layer = decorator->fn)
      if (auto *tuner = layer.as<h::Autotuner>(); tuner && !tuner->configs.empty())
        for (const auto &[key, v] : tuner->configs.front()->kwargs.dictionary().items())
          known[key.str()] = v;
    return known;
  }

  KernelReport describe(const std::string &name, const h::Value &value, const h::JitFunction &kernel) {
    KernelReport report;
    report.name = name;
    report.line = kernel.def().range.line;
    std::set<std::string> pointers = PointerGuess(kernel).pointers;
    std::map<std::string, h::Value> known = knownConstants(value, kernel);
    Diagnostics first;
    bool haveFirst = false;
    for (const h::Value &guess : candidates()) {
      std::vector<ParameterSpec> specs;
      bool guessed = false;
      for (const auto &parameter : kernel.parameters) {
        ParameterSpec spec;
        spec.kind = pointers.count(parameter.name) ? ParameterSpec::Kind::Pointer : ParameterSpec::Kind::Scalar;
        spec.dtype = spec.kind == ParameterSpec::Kind::Pointer ? DataType::Float32 : DataType::Int32;
        if (parameter.isConstexpr) {
          spec.kind = ParameterSpec::Kind::Constexpr;
          auto entry = known.find(parameter.name);
          guessed |= entry == known.end();
          spec.constant = h::unwrapConstexpr(entry == known.end() ? guess : entry->second);
        }
        specs.push_back(std::move(spec));
      }
      Diagnostics diagnostics;
      auto module = frontend::emitKernel(interpreter, kernel, specs, context, diagnostics, nullptr);
      if (module) {
        addParameters(report, kernel, specs, *module);
        return report;
      }
      if (!haveFirst)
        first = diagnostics;
      haveFirst = true;
      if (!guessed)
        break;
    }
    report.ok = false;
    for (const Diagnostic &d : first.all())
      if (d.severity == Severity::Error) {
        report.reason = d.message;
        report.detail = render(d);
        break;
      }
    return report;
  }

  void addParameters(KernelReport &report, const h::JitFunction &kernel, const std::vector<ParameterSpec> &specs, mlir::ModuleOp module) {
    Diagnostics warnings;
    tt::AccessAnalysis analysis(warnings);
    tt::FuncOp function = *module.getOps<tt::FuncOp>().begin();
    const tt::AccessSummary &summary = analysis.of(function);
    size_t next = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      KernelReport::Parameter parameter{kernel.parameters[i].name, "constexpr", ""};
      if (specs[i].kind != ParameterSpec::Kind::Constexpr) {
        const tt::ArgumentAccess &access = summary.arguments[next++];
        bool pointer = specs[i].kind == ParameterSpec::Kind::Pointer;
        parameter.kind = pointer ? "pointer" : "scalar";
        if (pointer)
          parameter.access = summary.defeated ? "unknown" : access.read && access.written ? "read and write" : access.written ? "write" : access.read ? "read" : "unused";
      }
      report.parameters.push_back(std::move(parameter));
    }
  }

  h::Interpreter interpreter;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

} // namespace

std::vector<KernelReport> listKernels(const std::string &path, const std::vector<std::string> &roots) { return Lister(roots).list(path); }

} // namespace pellucid::driver
