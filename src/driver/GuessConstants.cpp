// SPDX-License-Identifier: Apache-2.0
#include "driver/GuessConstants.h"

#include "host/Interpreter.h"
#include "host/TreeWalk.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace pellucid::driver {

namespace h = host;
namespace s = syntax;

namespace {

using Uses = std::map<std::string, ConstantUse>;

h::Value typeValue(DataType type) {
  return h::Value(std::make_shared<h::DType>(type, h::DType::Family::Triton));
}

/// Texts that a keyword of a built-in takes; empty: it takes none.
std::vector<h::Value> textsOf(const std::string &keyword) {
  auto texts = [](std::initializer_list<const char *> list) {
    std::vector<h::Value> out;
    for (const char *text : list)
      out.emplace_back(text);
    return out;
  };
  if (keyword == "cache_modifier" || keyword == "eviction_policy")
    return texts({""});
  if (keyword == "input_precision")
    return texts({"ieee", "tf32"});
  if (keyword == "padding_option")
    return texts({"zero"});
  if (keyword == "sem")
    return texts({"relaxed"});
  if (keyword == "scope")
    return texts({"gpu"});
  if (keyword == "fp_downcast_rounding")
    return {h::Value()};
  if (keyword == "lhs_format" || keyword == "rhs_format")
    return texts({"bf16", "e4m3", "e2m1"});
  return {};
}

bool isFlagKeyword(const std::string &keyword) {
  static const std::set<std::string> names = {"allow_tf32",
                                              "keep_dims",
                                              "reverse",
                                              "trans_a",
                                              "trans_b",
                                              "fast_math",
                                              "warp_specialize",
                                              "flatten",
                                              "can_reorder",
                                              "volatile",
                                              "bitcast",
                                              "is_pure",
                                              "disallow_acc_multi_buffer"};
  return names.count(keyword) != 0;
}

/// The position of a built-in's argument that is a size or a shape; and of one that is a type.
std::optional<size_t> sizeArgument(const std::string &function) {
  static const std::map<std::string, size_t> positions = {
      {"zeros", 0}, {"full", 0}, {"reshape", 1}, {"view", 1}, {"broadcast_to", 1}};
  auto entry = positions.find(function);
  return entry == positions.end() ? std::nullopt : std::optional(entry->second);
}
std::optional<size_t> typeArgument(const std::string &function, bool isMethod) {
  static const std::map<std::string, size_t> positions = {
      {"zeros", 1}, {"full", 2}, {"cast", 1}, {"pointer_type", 0}};
  if (isMethod && function == "to")
    return 0;
  auto entry = positions.find(function);
  return entry == positions.end() ? std::nullopt : std::optional(entry->second);
}

std::optional<h::Value> literal(const s::Expr &expr) {
  using Type = s::Constant::Type;
  auto *constant = s::as<s::Constant>(&expr);
  if (!constant)
    return std::nullopt;
  if (constant->type == Type::String)
    return h::Value(constant->text);
  if (constant->type == Type::Int)
    return h::Value(constant->intValue);
  return std::nullopt;
}

class UseFinder {
public:
  UseFinder(h::Interpreter &i, const h::JitFunction &k, int d)
      : interpreter(i), kernel(k), depth(d) {
    for (const auto &statement : k.def().body)
      noteAssigned(*statement);
    for (const auto &statement : k.def().body)
      visit(*statement);
  }
  Uses uses;

private:
  using Mark = std::function<void(ConstantUse &)>;

  void noteAssigned(const s::Stmt &statement) {
    const s::Expr *target = nullptr, *value = nullptr;
    if (auto *assign = s::as<s::Assign>(&statement); assign && assign->targets.size() == 1)
      target = assign->targets[0].get(), value = assign->value.get();
    else if (auto *annotated = s::as<s::AnnAssign>(&statement))
      target = annotated->target.get(), value = annotated->value.get();
    if (auto *name = target && value ? s::as<s::Name>(target) : nullptr)
      assigned.emplace(name->id, value);
    h::forEachChild(
        statement, [](const s::Expr &) {}, [&](const s::Stmt &inner) { noteAssigned(inner); });
  }

  /// Marks the parameter that the expression names, directly or through a variable.
  void mark(const s::Expr &expr, const Mark &change, int level = 0) {
    auto *name = s::as<s::Name>(&expr);
    if (!name || level > 4)
      return;
    if (kernel.parameter(name->id))
      return change(uses[name->id]);
    if (auto entry = assigned.find(name->id); entry != assigned.end())
      mark(*entry->second, change, level + 1);
  }

  /// Marks all that a size is computed from.
  void markSizes(const s::Expr &expr, int level = 0) {
    if (level > 6)
      return;
    if (auto *name = s::as<s::Name>(&expr)) {
      if (kernel.parameter(name->id))
        uses[name->id].isSize = true;
      else if (auto entry = assigned.find(name->id); entry != assigned.end())
        markSizes(*entry->second, level + 1);
      return;
    }
    h::forEachChild(expr, [&](const s::Expr &child) { markSizes(child, level + 1); });
  }

  void markFlag(const s::Expr &expr) {
    mark(expr, [](ConstantUse &use) { use.isFlag = true; });
  }

  void visit(const s::Stmt &statement) {
    if (auto *branch = s::as<s::If>(&statement))
      markFlag(*branch->test);
    h::forEachChild(
        statement, [&](const s::Expr &child) { visit(child); },
        [&](const s::Stmt &child) { visit(child); });
  }

  void visit(const s::Expr &expr) {
    if (auto *call = s::as<s::Call>(&expr)) {
      visitCall(*call);
    } else if (auto *compare = s::as<s::Compare>(&expr)) {
      visitCompare(*compare);
    } else if (auto *choice = s::as<s::IfExp>(&expr)) {
      markFlag(*choice->test);
    } else if (auto *both = s::as<s::BoolOp>(&expr)) {
      for (const auto &value : both->values)
        markFlag(*value);
    } else if (auto *unary = s::as<s::UnaryOp>(&expr);
               unary && unary->op == s::UnaryOperator::Not) {
      markFlag(*unary->operand);
    } else if (auto *op = s::as<s::BinOp>(&expr)) {
      bool isPower = op->op == s::Operator::Pow && s::as<s::Constant>(op->left.get());
      bool isShift = op->op == s::Operator::LShift && s::as<s::Constant>(op->left.get());
      if (isPower || isShift)
        mark(*op->right, [](ConstantUse &use) { use.isExponent = true; });
    }
    h::forEachChild(expr, [&](const s::Expr &child) { visit(child); });
  }

  void visitCompare(const s::Compare &compare) {
    for (size_t i = 0; i < compare.comparators.size(); ++i) {
      const s::Expr &other = *compare.comparators[i];
      bool isNone =
          s::as<s::Constant>(&other) && s::as<s::Constant>(&other)->type == s::Constant::Type::None;
      auto *list = s::as<s::Tuple>(&other);
      mark(*compare.left, [&](ConstantUse &use) {
        use.mayBeNone |= isNone;
        if (auto value = literal(other))
          addValue(use, *value);
        for (size_t e = 0; list && e < list->elts.size(); ++e)
          if (auto value = literal(*list->elts[e]))
            addValue(use, *value);
      });
    }
  }

  static void addValue(ConstantUse &use, const h::Value &value) {
    auto same = [&](const h::Value &known) {
      return known.kind() == value.kind() && h::equal(known, value);
    };
    if (std::none_of(use.values.begin(), use.values.end(), same))
      use.values.push_back(value);
  }

  void visitCall(const s::Call &call) {
    auto *attribute = s::as<s::Attribute>(call.func.get());
    auto *plain = s::as<s::Name>(call.func.get());
    std::string name = attribute ? attribute->attr : plain ? plain->id : "";
    if (plain)
      mark(*plain, [](ConstantUse &use) { use.isFunction = true; });
    for (const auto &keyword : call.keywords)
      if (keyword->arg)
        visitKeyword(*keyword->arg, *keyword->value);
    const auto &args = call.args;
    if (name == "arange" && args.size() > 1)
      markSizes(*args[1]);
    if (auto at = sizeArgument(name); at && *at < args.size())
      markSizes(*args[*at]);
    bool isMethod = attribute && !s::as<s::Name>(attribute->value.get());
    if (auto at = typeArgument(name, attribute != nullptr || isMethod); at && *at < args.size())
      markType(*args[*at]);
    if (name == "range" || name == "static_range")
      for (const auto &argument : args)
        mark(*argument, [](ConstantUse &use) { use.isCount = true; });
    if (plain)
      visitHelper(*plain, call);
  }

  void markType(const s::Expr &expr) {
    mark(expr, [](ConstantUse &use) { use.isType = true; });
  }

  void visitKeyword(const std::string &keyword, const s::Expr &value) {
    std::vector<h::Value> texts = textsOf(keyword);
    if (!texts.empty())
      mark(value, [&](ConstantUse &use) {
        for (const h::Value &text : texts)
          addValue(use, text);
      });
    if (keyword == "dtype" || keyword == "out_dtype")
      markType(value);
    if (keyword == "shape" || keyword == "block_shape")
      markSizes(value);
    if (keyword == "num_stages" || keyword == "loop_unroll_factor")
      mark(value, [](ConstantUse &use) { use.isCount = true; });
    if (isFlagKeyword(keyword))
      markFlag(value);
  }

  /// What a helper does with an argument is what the kernel does with it.
  void visitHelper(const s::Name &callee, const s::Call &call) {
    auto value = depth < 6 && !kernel.parameter(callee.id) ? kernel.lookup(interpreter, callee.id)
                                                           : std::nullopt;
    auto helper = value ? h::innermostKernel(*value) : nullptr;
    if (!helper || helper.get() == &kernel)
      return;
    Uses inside = UseFinder(interpreter, *helper, depth + 1).uses;
    auto pass = [&](const std::string &parameter, const s::Expr &argument) {
      if (auto entry = inside.find(parameter); entry != inside.end())
        mark(argument, [&](ConstantUse &use) { merge(use, entry->second); });
    };
    for (size_t i = 0; i < call.args.size() && i < helper->parameters.size(); ++i)
      pass(helper->parameters[i].name, *call.args[i]);
    for (const auto &keyword : call.keywords)
      if (keyword->arg)
        pass(*keyword->arg, *keyword->value);
  }

  static void merge(ConstantUse &into, const ConstantUse &from) {
    into.isFlag |= from.isFlag;
    into.isSize |= from.isSize;
    into.isCount |= from.isCount;
    into.isExponent |= from.isExponent;
    into.isType |= from.isType;
    into.isFunction |= from.isFunction;
    into.mayBeNone |= from.mayBeNone;
    for (const h::Value &value : from.values)
      addValue(into, value);
  }

  h::Interpreter &interpreter;
  const h::JitFunction &kernel;
  int depth;
  std::map<std::string, const s::Expr *> assigned;
};

} // namespace

std::vector<h::Value> ConstantUse::candidates() const {
  std::vector<h::Value> out;
  auto add = [&](std::initializer_list<h::Value> list) {
    out.insert(out.end(), list.begin(), list.end());
  };
  bool hasText = std::any_of(values.begin(), values.end(),
                             [](const h::Value &value) { return value.isStr(); });
  if (isFunction)
    return {};
  if (isType)
    add({typeValue(DataType::Float32), typeValue(DataType::Float16), typeValue(DataType::Int32),
         typeValue(DataType::BFloat16), typeValue(DataType::Int64)});
  if (isSize)
    add({h::Value(64), h::Value(16), h::Value(32), h::Value(128)});
  if (isExponent)
    add({h::Value(4), h::Value(2)});
  out.insert(out.end(), values.begin(), values.end());
  if (hasText)
    add({h::Value("")});
  if (isCount)
    add({h::Value(2), h::Value(4), h::Value(1)});
  if (isFlag && !hasText && !isSize)
    add({h::Value(true), h::Value(false)});
  if (mayBeNone)
    out.push_back(h::Value());
  // Numbers that it is compared with say that it is one.
  if (!values.empty() && !hasText && !isSize && !isFlag)
    add({h::Value(64), h::Value(16)});
  return out;
}

Uses constantUses(h::Interpreter &interpreter, const h::JitFunction &kernel) {
  return UseFinder(interpreter, kernel, 0).uses;
}

} // namespace pellucid::driver
