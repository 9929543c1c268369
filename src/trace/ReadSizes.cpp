// SPDX-License-Identifier: Apache-2.0
#include "trace/ReadSizes.h"

#include "graph/HostSteps.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
using symbolic::ExprOp;
using symbolic::Range;
namespace h = pellucid::host;

static h::Value sizeValue(const Expr &size) {
  if (auto known = size.constant())
    return h::Value(*known);
  return h::Value::integer(size);
}

SourceLocation usersLocation(const h::Interpreter &interpreter) {
  auto isOurs = [](const SourceLocation &where) {
    return where.file && where.file->path().starts_with("<torch");
  };
  SourceLocation where = interpreter.location();
  if (!isOurs(where))
    return where;
  for (const SourceLocation &site : interpreter.callStack())
    if (!isOurs(site))
      return site;
  return where;
}

static std::string freeSymbol(const Tracer &tracer) {
  for (size_t number = tracer.readSymbols.size();; ++number)
    if (std::string name = "u" + std::to_string(number); !tracer.symbols().find(name))
      return name;
}

h::Value readSize(Tracer &tracer, h::Interpreter &interpreter, const h::Value &tensor,
                  int64_t least, const Expr &most, const std::string &text) {
  TensorObject &given = *tensor.as<TensorObject>();
  if (auto known = knownNumbers(given, interpreter)) {
    while (known->isList() && !known->list().empty())
      known = h::Value(known->list().front());
    if (known->isInt() || known->isBool())
      return h::Value(interpreter.toInt64(*known, "a size"));
  }
  if (tracer.isConstructing())
    interpreter.refuse("a size that values decide is only known when the program runs; compute it "
                       "in forward");
  h::Value one = castTo(given, interpreter, DataType::Int64);
  if (given.tensor.type.rank() > 0)
    one = callAten(tracer, interpreter, "reshape", argsOf({one, h::Value::list({})}));
  SourceLocation where = usersLocation(interpreter);
  Value *from = tracer.valueOf(one.as<TensorObject>()->tensor, where);
  symbolic::SymbolInfo info;
  info.range = {least, std::max(least, tracer.symbols().range(most).max)};
  std::string name = freeSymbol(tracer);
  tracer.program.symbols.declare(name, info);
  tracer.readSymbols[name] = &tracer.graph();
  Expr symbol = Expr::symbol(name);
  tracer.graph().setLocation(where);
  tracer.graph().call(std::string(readSizeTarget),
                      {Argument(from), Argument(symbol), Argument(most), Argument(text)}, {},
                      {ResultType(symbol)}, "size");
  return sizeValue(symbol);
}

h::Value sizeOf(Tracer &tracer, h::Interpreter &interpreter, const h::Value &number) {
  auto *item = number.as<ItemNumber>();
  if (!item || !item->isWhole())
    return number;
  return item->size(interpreter, [&](const h::Value &tensor) {
    return readSize(tracer, interpreter, tensor, INT64_MIN, Expr(INT64_MAX), "item()");
  });
}

//===-- What is known of them -----------------------------------------------------------------===//

static bool isReadHere(Tracer &tracer, const std::string &symbol) {
  auto read = tracer.readSymbols.find(symbol);
  return read != tracer.readSymbols.end() && read->second == &tracer.graph();
}

/// `symbol + rest <= bound` with constants alone: the symbol's new range.
static void narrowBy(Tracer &tracer, const Expr &left, const Expr &right, int64_t slack) {
  // left + slack <= right
  Expr difference = right - left - Expr(slack);
  std::vector<std::string> names = difference.symbols();
  // In a branch that is not taken, nothing is checked.
  if (names.size() != 1 || !isReadHere(tracer, names[0]))
    return;
  Expr symbol = Expr::symbol(names[0]);
  symbolic::SymbolInfo info = *tracer.symbols().find(names[0]);
  if (auto most = (difference + symbol).constant())
    info.range.max = std::min(info.range.max, *most);
  else if (auto least = (symbol - difference).constant())
    info.range.min = std::max(info.range.min, *least);
  else
    return;
  if (info.range.min <= info.range.max)
    tracer.program.symbols.declare(names[0], info);
}

static void narrow(Tracer &tracer, const Expr &condition) {
  const std::vector<Expr> &operands = condition.operands();
  try {
    switch (condition.op()) {
    case ExprOp::Le:
      return narrowBy(tracer, operands[0], operands[1], 0);
    case ExprOp::Lt:
      return narrowBy(tracer, operands[0], operands[1], 1);
    case ExprOp::Eq:
      narrowBy(tracer, operands[0], operands[1], 0);
      return narrowBy(tracer, operands[1], operands[0], 0);
    case ExprOp::And:
      for (const Expr &operand : operands)
        narrow(tracer, operand);
      return;
    default:
      return;
    }
  } catch (const std::overflow_error &) {
  }
}

void checkSizes(Tracer &tracer, h::Interpreter &interpreter, const Expr &condition,
                const std::string &text) {
  std::optional<bool> known = tracer.symbols().prove(condition);
  if (known == true)
    return;
  if (known == false && isEager(tracer)) {
    size_t colon = text.find("Error: ");
    bool isNamed = colon != std::string::npos && text.find(' ') == colon + 6;
    interpreter.raise(isNamed ? text.substr(0, colon + 5) : "RuntimeError",
                      isNamed ? text.substr(colon + 7) : text);
  }
  SourceLocation where = usersLocation(interpreter);
  tracer.graph().setLocation(where);
  tracer.graph().call(std::string(checkSizesTarget), {Argument(condition), Argument(text)}, {}, {},
                      "check");
  narrow(tracer, condition);
}

std::optional<Expr> sizeCondition(Tracer &tracer, h::Interpreter &interpreter,
                                  const h::Value &condition) {
  h::Value given = condition;
  if (auto *tensor = given.as<TensorObject>()) {
    const h::Value *made = tensor->attributes.find(comparisonName);
    if (!made)
      return std::nullopt;
    const std::vector<h::Value> &parts = made->tuple();
    given = interpreter.compare(
        static_cast<h::CompareOp>(interpreter.toInt64(parts[0], "a comparison")),
        sizeOf(tracer, interpreter, parts[1]), sizeOf(tracer, interpreter, parts[2]));
  }
  if (given.isBool())
    return Expr(given.boolean());
  if (!given.isSymBool())
    return std::nullopt;
  return given.symBool();
}

bool mentionsRead(const Tracer &tracer, const Expr &e) {
  std::vector<std::string> names = e.symbols();
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string &name) { return tracer.readSymbols.count(name) != 0; });
}

void noteSizes(Tracer &tracer, const TensorType &type) {
  for (const Expr &size : type.shape) {
    if (size.op() != ExprOp::Symbol || !isReadHere(tracer, size.symbolName()))
      continue;
    symbolic::SymbolInfo info = *tracer.symbols().find(size.symbolName());
    if (info.range.min >= 0)
      continue;
    info.range.min = 0;
    tracer.program.symbols.declare(size.symbolName(), info);
  }
}

//===-- For the operators written in Python ---------------------------------------------------===//

static Tracer &tracerOf(const h::Value &tensor) { return tensor.as<TensorObject>()->tracer; }

static Expr exprOf(h::Interpreter &interpreter, const h::Value &value) {
  return interpreter.toExpr(h::unwrapConstexpr(value), "a size");
}

void addSizeReads(h::Module &module) {
  auto add = [&](const char *name, const char *signature,
                 h::Value (*body)(h::Interpreter &, std::vector<h::Value> &)) {
    module.globals->set(name, h::native(name, signature, body));
  };
  add("_read_size", "tensor, least, most, text", [](h::Interpreter &i, std::vector<h::Value> &a) {
    Expr most = a[2].isNone() ? Expr(INT64_MAX) : exprOf(i, a[2]);
    return readSize(tracerOf(a[0]), i, a[0], i.toInt64(a[1], "a size"), most, i.str(a[3]));
  });
  // Of sizes beside a tensor that says which program it is.
  add("_check_sizes", "tensor, condition, text", [](h::Interpreter &i, std::vector<h::Value> &a) {
    Tracer &tracer = tracerOf(a[0]);
    if (auto condition = sizeCondition(tracer, i, a[1]))
      checkSizes(tracer, i, *condition, i.str(a[2]));
    return h::Value();
  });
  // A dynamic size is an int to whoever asks for its type.
  add("_is_known", "size", [](h::Interpreter &, std::vector<h::Value> &a) {
    return h::Value(h::unwrapConstexpr(a[0]).isInt());
  });
  add("_is_proved", "tensor, condition", [](h::Interpreter &i, std::vector<h::Value> &a) {
    Tracer &tracer = tracerOf(a[0]);
    auto condition = sizeCondition(tracer, i, a[1]);
    return h::Value(condition && tracer.symbols().prove(*condition) == true);
  });
  // What was computed of a tensor as it is now; a script's values live for a segment only.
  add("_remembered", "tensor", [](h::Interpreter &i, std::vector<h::Value> &a) {
    Tracer &tracer = tracerOf(a[0]);
    if (tracer.recorder)
      return h::Value();
    Value *key = tracer.valueOf(a[0].as<TensorObject>()->tensor, i.location());
    auto entry = tracer.remembered.find(key);
    return entry == tracer.remembered.end() || key->producer()->graph() != &tracer.graph()
               ? h::Value()
               : h::Value(std::static_pointer_cast<TensorObject>(entry->second));
  });
  add("_remember", "tensor, result", [](h::Interpreter &i, std::vector<h::Value> &a) {
    Tracer &tracer = tracerOf(a[0]);
    Value *key = tracer.valueOf(a[0].as<TensorObject>()->tensor, i.location());
    if (key->producer()->graph() == &tracer.graph() && !tracer.recorder)
      tracer.remembered[key] = a[1].shared<TensorObject>();
    return a[1];
  });
}

} // namespace pellucid::trace
