// SPDX-License-Identifier: Apache-2.0
#include "driver/GuessPointers.h"

#include "host/Interpreter.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace pellucid::driver {

namespace h = host;
namespace s = syntax;

namespace {

/// Finds the parameters that addresses are made of, from the kernel's text alone.
class PointerFinder {
public:
  PointerFinder(h::Interpreter &i, const h::JitFunction &k, int d)
      : interpreter(i), kernel(k), depth(d) {
    visitAll(k.def().body);
    for (const s::Expr *address : addresses)
      follow(*address, 0);
    for (size_t next = 0; next < offsets.size(); ++next)
      readAsInteger(*offsets[next], 0);
  }
  PointerGuess result() { return {pointers, integers}; }

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
      if (auto *name = s::as<s::Name>(augmented->target.get()))
        increments[name->id].push_back(augmented->value.get());
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
      if (auto *range = s::as<s::Call>(loop->iter.get()))
        for (const auto &bound : range->args)
          offsets.push_back(bound.get());
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
      bool access = name == "load" || name == "store" || name.starts_with("atomic_") ||
                    name == "make_block_ptr" || name == "make_tensor_descriptor";
      if (access && !call->args.empty())
        addresses.push_back(call->args[0].get());
      for (const auto &keyword : call->keywords)
        if (access && (keyword->arg == "pointer" || keyword->arg == "base"))
          addresses.push_back(keyword->value.get());
      if (auto *plain = s::as<s::Name>(call->func.get()))
        addPointersOf(plain->id, *call);
      for (const auto &argument : call->args)
        scan(*argument);
      for (const auto &keyword : call->keywords)
        scan(*keyword->value);
    } else if (auto *op = s::as<s::BinOp>(&expr)) {
      if (isForIntegers(*op))
        offsets.insert(offsets.end(), {op->left.get(), op->right.get()});
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
  /// Masks are joined with & and | too, but not with a number.
  static bool isForIntegers(const s::BinOp &op) {
    using Op = s::Operator;
    bool withNumber = s::as<s::Constant>(op.left.get()) || s::as<s::Constant>(op.right.get());
    return op.op == Op::FloorDiv || op.op == Op::Mod || op.op == Op::LShift ||
           op.op == Op::RShift ||
           (withNumber && (op.op == Op::BitAnd || op.op == Op::BitOr || op.op == Op::BitXor));
  }
  /// What a helper makes addresses of.
  void addPointersOf(const std::string &name, const s::Call &call) {
    auto value = depth < 8 && !assigned.count(name) && !kernel.parameter(name)
                     ? kernel.lookup(interpreter, name)
                     : std::nullopt;
    auto helper = value ? h::innermostKernel(*value) : nullptr;
    if (!helper || helper.get() == &kernel)
      return;
    std::set<std::string> inside = guessPointers(interpreter, *helper, depth + 1).pointers;
    for (size_t i = 0; i < call.args.size() && i < helper->parameters.size(); ++i)
      if (inside.count(helper->parameters[i].name))
        addresses.push_back(call.args[i].get());
    for (const auto &keyword : call.keywords)
      if (keyword->arg && inside.count(*keyword->arg))
        addresses.push_back(keyword->value.get());
  }
  static bool anyNamedPointer(const std::set<std::string> &names,
                              const std::set<std::string> &except) {
    return std::any_of(names.begin(), names.end(), [&](const std::string &name) {
      return !except.count(name) &&
             (name.find("ptr") != std::string::npos || name.find("pointer") != std::string::npos);
    });
  }
  /// The base of an address stands leftmost in its sum. True when a parameter was found.
  bool follow(const s::Expr &expr, int depth) {
    if (depth > 16)
      return false;
    if (auto *op = s::as<s::BinOp>(&expr)) {
      if (op->op != s::Operator::Add && op->op != s::Operator::Sub)
        return false;
      std::set<std::string> before = pointers;
      bool left = follow(*op->left, depth + 1);
      std::set<std::string> withLeft = std::exchange(pointers, before);
      bool right = follow(*op->right, depth + 1);
      // Where both sides lead to parameters, names decide, else the left side.
      bool takesLeft = left && !(right && !anyNamedPointer(withLeft, before) &&
                                 anyNamedPointer(pointers, before));
      if (takesLeft)
        pointers = std::move(withLeft);
      if (left || right)
        offsets.push_back(takesLeft ? op->right.get() : op->left.get());
      return left || right;
    }
    if (auto *call = s::as<s::Call>(&expr))
      return followCall(*call, depth);
    if (auto *choice = s::as<s::IfExp>(&expr))
      return followEither(*choice->body, *choice->orelse, depth);
    auto *name = s::as<s::Name>(&expr);
    if (!name)
      return false;
    if (const auto *parameter = kernel.parameter(name->id); parameter && !parameter->isConstexpr) {
      if (annotatedScalar(*parameter))
        return false;
      pointers.insert(name->id);
      return true;
    }
    bool found = false;
    for (const s::Expr *value : assigned[name->id])
      found |= follow(*value, depth + 1);
    if (found)
      offsets.insert(offsets.end(), increments[name->id].begin(), increments[name->id].end());
    return found;
  }

  /// Functions whose result is the address they are given.
  bool followCall(const s::Call &call, int depth) {
    auto *attr = s::as<s::Attribute>(call.func.get());
    if (!attr)
      return false;
    if (attr->attr == "where" && call.args.size() == 3)
      return followEither(*call.args[1], *call.args[2], depth);
    bool ofArgument = attr->attr == "multiple_of" || attr->attr == "max_contiguous" ||
                      (attr->attr == "cast" && call.args.size() == 2);
    if (ofArgument && !call.args.empty())
      return follow(*call.args[0], depth + 1);
    return (attr->attr == "to" || attr->attr == "cast") && follow(*attr->value, depth + 1);
  }

  bool followEither(const s::Expr &a, const s::Expr &b, int depth) {
    bool first = follow(a, depth + 1), second = follow(b, depth + 1);
    return first || second;
  }

  /// Finds the loads whose elements such an expression is computed from.
  void readAsInteger(const s::Expr &expr, int depth) {
    if (depth > 16)
      return;
    if (auto *name = s::as<s::Name>(&expr)) {
      if (readAsIntegers.insert(name->id).second)
        for (const auto *values : {&assigned[name->id], &increments[name->id]})
          for (const s::Expr *value : *values)
            readAsInteger(*value, depth + 1);
    } else if (auto *op = s::as<s::BinOp>(&expr)) {
      if (op->op == s::Operator::Div)
        return;
      readAsInteger(*op->left, depth + 1);
      readAsInteger(*op->right, depth + 1);
    } else if (auto *subscript = s::as<s::Subscript>(&expr)) {
      readAsInteger(*subscript->value, depth + 1);
    } else if (auto *ternary = s::as<s::IfExp>(&expr)) {
      readAsInteger(*ternary->body, depth + 1);
      readAsInteger(*ternary->orelse, depth + 1);
    } else if (auto *call = s::as<s::Call>(&expr)) {
      readCallAsInteger(*call, depth);
    }
  }

  void readCallAsInteger(const s::Call &call, int depth) {
    auto *function = s::as<s::Attribute>(call.func.get());
    if (!function || call.args.empty())
      return;
    if (function->attr == "load") {
      std::set<std::string> others = std::exchange(pointers, {});
      follow(*call.args[0], depth + 1);
      integers.insert(pointers.begin(), pointers.end());
      pointers = std::move(others);
    } else if (function->attr == "where" || function->attr == "minimum" ||
               function->attr == "maximum" || function->attr == "sum" || function->attr == "cdiv") {
      for (const auto &argument : call.args)
        readAsInteger(*argument, depth + 1);
    }
  }

  h::Interpreter &interpreter;
  const h::JitFunction &kernel;
  int depth;
  std::set<std::string> pointers, integers, readAsIntegers;
  std::map<std::string, std::vector<const s::Expr *>> assigned, increments;
  std::vector<const s::Expr *> addresses;
  std::vector<const s::Expr *> offsets; ///< what is added to addresses, and bounds of loops
};

} // namespace

std::optional<DataType> annotatedScalar(const h::JitFunction::Parameter &parameter) {
  auto *attribute = s::as<s::Attribute>(parameter.annotation);
  return attribute ? dataTypeNamed(attribute->attr) : std::nullopt;
}

PointerGuess guessPointers(h::Interpreter &interpreter, const h::JitFunction &kernel, int depth) {
  return PointerFinder(interpreter, kernel, depth).result();
}

} // namespace pellucid::driver
