// SPDX-License-Identifier: Apache-2.0
#include "trace/SegmentSizes.h"

#include "graph/ControlFlow.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <set>
#include <unordered_map>

namespace pellucid::trace {

using namespace graph;

namespace {

/// Goes through a program's parts in one order, for all who count sizes.
class Structure {
public:
  Structure(const Program &p, SegmentKey &k) : program(p), key(k) {}

  void of(const Graph &graph) {
    for (const Node &node : graph)
      add(node);
  }

private:
  void number(int64_t value) {
    key.text.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void word(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    key.text += value;
  }
  void size(int64_t value) { key.sizes.push_back(value); }
  void expr(const Expr &value) {
    if (auto known = value.constant()) {
      key.text += '#';
      size(*known);
    } else {
      word(value.text());
    }
  }

  void add(const TensorType &type) {
    key.text += static_cast<char>(type.dtype);
    number(static_cast<int64_t>(type.rank()));
    for (const Expr &dim : type.shape)
      expr(dim);
    for (const Expr &stride : type.strides)
      expr(stride);
  }

  void add(const Argument &argument) {
    key.text += static_cast<char>('a' + argument.get().index());
    struct {
      Structure &self;
      void operator()(None) {}
      void operator()(bool v) { self.key.text += v ? '1' : '0'; }
      void operator()(int64_t v) { self.size(v); }
      void operator()(double v) {
        int64_t bits;
        std::memcpy(&bits, &v, sizeof bits);
        self.number(bits);
      }
      void operator()(const std::string &v) { self.word(v); }
      void operator()(DataType v) { self.number(static_cast<int64_t>(v)); }
      void operator()(Device v) { self.word(toString(v)); }
      void operator()(const Expr &v) { self.expr(v); }
      void operator()(Value *v) { self.number(self.numbers.at(v)); }
      void operator()(const Argument::List &v) {
        self.number(static_cast<int64_t>(v.size()));
        for (const Argument &element : v)
          self.add(element);
      }
    } visitor{*this};
    std::visit(visitor, argument.get());
  }

  void add(const KeywordArguments &arguments) {
    number(static_cast<int64_t>(arguments.size()));
    for (const auto &[name, value] : arguments) {
      word(name);
      add(value);
    }
  }

  /// Constants are in the kernel's code: they are no sizes.
  void addConstants(const KeywordArguments &constants) {
    std::vector<int64_t> sizes = std::move(key.sizes);
    key.sizes.clear();
    add(constants);
    for (int64_t value : key.sizes)
      number(value);
    key.sizes = std::move(sizes);
  }

  void add(const Launch &launch) {
    number(static_cast<int64_t>(launch.variants.size()));
    for (const LaunchVariant &variant : launch.variants) {
      word(variant.guard.text());
      number(variant.kernel);
      for (const Expr &size : variant.grid)
        expr(size);
      addConstants(variant.constants);
      number(variant.numWarps);
      number(variant.numStages);
      number(variant.numCtas);
    }
    number(static_cast<int64_t>(launch.operands.size()));
    for (const LaunchOperand &operand : launch.operands) {
      word(operand.name);
      add(operand.value);
      number(static_cast<int64_t>(operand.access) * 2 + operand.unknownAccess);
    }
  }

  void add(const Node &node) {
    key.text += static_cast<char>('0' + static_cast<int>(node.opcode()));
    for (size_t i = 0; i < node.resultCount(); ++i) {
      numbers.emplace(node.result(i), static_cast<int64_t>(numbers.size()));
      if (node.isPlaceholder() && node.result(i)->isTensor())
        add(node.result(i)->type());
    }
    if (node.isPlaceholder())
      return;
    word(node.target());
    number(static_cast<int64_t>(node.args().size()));
    for (const Argument &argument : node.args())
      add(argument);
    add(node.kwargs());
    if (node.isLaunch())
      add(*node.launch());
    number(node.body ? 1 + static_cast<int64_t>(*node.body) : 0);
    for (uint32_t region : node.regions) {
      SegmentKey inner;
      Structure(program, inner).of(program.bodies[region].graph);
      word(inner.whole());
    }
  }

  const Program &program;
  SegmentKey &key;
  std::unordered_map<const Value *, int64_t> numbers;
};

/// What a size is of.
enum class Use : uint8_t { InputSize, InputStride, Argument, FixedArgument, LaunchNumber, Grid };

/// Integers of this kind may be symbols in an operator's arguments.
bool takesSymbols(const SchemaType &type) {
  return type.kind == SchemaType::Kind::SymInt || type.kind == SchemaType::Kind::Scalar;
}

/// The schema's type of an argument of `node`; null where it is not known.
const SchemaType *typeOf(const Operator *op, size_t position) {
  return op && position < op->schema.arguments.size() ? &op->schema.arguments[position].type
                                                      : nullptr;
}

/// Calls `each(size, use)` and builds the program with what it gives; the order is Structure's.
class Rebuild {
public:
  using Each = std::function<Expr(int64_t size, Use use)>;
  Rebuild(const OperatorRegistry &r, Each e) : registry(r), each(std::move(e)) {}

  TensorType type(const TensorType &from) {
    TensorType out = from;
    for (Expr &dim : out.shape)
      dim = size(dim, Use::InputSize);
    for (Expr &stride : out.strides)
      stride = size(stride, Use::InputStride);
    return out;
  }

  Argument argument(const Argument &from, Use use) {
    if (auto whole = from.as<int64_t>())
      return Argument(each(*whole, use));
    if (const Argument::List *list = from.list()) {
      Argument::List out;
      for (const Argument &element : *list)
        out.push_back(argument(element, use));
      return Argument(std::move(out));
    }
    if (Value *value = from.value()) {
      auto known = values.find(value);
      return Argument(known == values.end() ? value : known->second);
    }
    return from;
  }

  std::vector<Argument> positional(const Node &node) {
    const Operator *op = registry.find(node.target());
    std::vector<Argument> out;
    for (size_t i = 0; i < node.args().size(); ++i)
      out.push_back(argument(node.args()[i], useOf(node, typeOf(op, i))));
    return out;
  }

  KeywordArguments keywords(const Node &node) {
    const Operator *op = registry.find(node.target());
    KeywordArguments out;
    for (const auto &[name, value] : node.kwargs()) {
      auto at = op ? op->schema.indexOf(name) : std::nullopt;
      out.emplace_back(name, argument(value, useOf(node, at ? typeOf(op, *at) : nullptr)));
    }
    return out;
  }

  Launch launch(const Launch &from) {
    Launch out = from;
    for (LaunchVariant &variant : out.variants)
      for (Expr &extent : variant.grid)
        extent = size(extent, Use::Grid);
    for (LaunchOperand &operand : out.operands)
      operand.value = argument(operand.value, Use::LaunchNumber);
    return out;
  }

  std::unordered_map<const Value *, Value *> values; ///< old to new

private:
  const OperatorRegistry &registry;
  Each each;

  Expr size(const Expr &from, Use use) {
    auto known = from.constant();
    return known ? each(*known, use) : from;
  }
  static Use useOf(const Node &node, const SchemaType *type) {
    return node.isOutput() || (type && takesSymbols(*type)) ? Use::Argument : Use::FixedArgument;
  }
};

/// What the sizes of a segment are of, in order.
std::vector<Use> usesOf(const Program &program, const OperatorRegistry &registry) {
  std::vector<Use> uses;
  Rebuild rebuild(registry, [&](int64_t size, Use use) {
    uses.push_back(use);
    return Expr(size);
  });
  for (const Node &node : program.main) {
    if (node.isPlaceholder()) {
      if (node.result()->isTensor())
        (void)rebuild.type(node.result()->type());
      continue;
    }
    (void)rebuild.positional(node);
    (void)rebuild.keywords(node);
    if (node.isLaunch())
      (void)rebuild.launch(*node.launch());
  }
  return uses;
}

bool hasRegions(const Program &program) {
  for (const Node &node : program.main)
    if (node.body || !node.regions.empty() || isControlFlow(node))
      return true;
  return false;
}

/// Whether the type's numbers under `values` are `expected`'s.
bool evaluatesTo(const TensorType &type, const TensorType &expected,
                 const std::map<std::string, int64_t> &values) {
  auto same = [&](const Expr &a, const Expr &b) {
    return a == b || symbolic::evaluate(a, values) == b.constant();
  };
  return type.dtype == expected.dtype && type.rank() == expected.rank() &&
         std::equal(type.shape.begin(), type.shape.end(), expected.shape.begin(), same) &&
         std::equal(type.strides.begin(), type.strides.end(), expected.strides.begin(), same);
}

} // namespace

std::string SegmentKey::whole() const {
  return text +
         std::string(reinterpret_cast<const char *>(sizes.data()), sizes.size() * sizeof(int64_t));
}

SegmentKey keyOf(const Program &program) {
  SegmentKey key;
  Structure(program, key).of(program.main);
  return key;
}

//===-- from numbers to expressions -----------------------------------------------------------===//

class PatternSearch {
public:
  PatternSearch(const std::vector<std::vector<int64_t>> &s, std::vector<Use> u)
      : samples(s), uses(std::move(u)) {}

  std::optional<SizePattern> run() {
    pattern.example = samples.back();
    for (int64_t size : pattern.example)
      pattern.expressions.emplace_back(size);
    // Sizes of inputs are where symbols come from; grids follow from everything else.
    if (!find({Use::InputSize}) || !find({Use::InputStride, Use::Argument, Use::LaunchNumber}) ||
        !find({Use::FixedArgument}) || !find({Use::Grid}))
      return std::nullopt;
    std::sort(pattern.varying.begin(), pattern.varying.end());
    return std::move(pattern);
  }

private:
  const std::vector<std::vector<int64_t>> &samples;
  std::vector<Use> uses;
  SizePattern pattern;
  struct Known {
    Expr expression;
    std::vector<int64_t> values; ///< per sample
  };
  std::vector<Known> symbols, found;

  std::vector<int64_t> valuesAt(size_t place) const {
    std::vector<int64_t> out;
    for (const std::vector<int64_t> &sample : samples)
      out.push_back(sample[place]);
    return out;
  }

  bool find(const std::set<Use> &wanted) {
    for (size_t place = 0; place < uses.size(); ++place) {
      std::vector<int64_t> values = valuesAt(place);
      bool varies =
          std::any_of(values.begin(), values.end(), [&](int64_t v) { return v != values[0]; });
      if (!varies || !wanted.count(uses[place]))
        continue;
      // What is no symbol's place, such as a dim, is another program for every number.
      if (uses[place] == Use::FixedArgument)
        return false;
      std::optional<Expr> expression = expressed(values);
      if (!expression)
        expression = newSymbol(place, values);
      if (!expression)
        return false;
      pattern.expressions[place] = *expression;
      pattern.varying.push_back(place);
      found.push_back({*expression, std::move(values)});
    }
    return true;
  }

  std::optional<Expr> newSymbol(size_t place, const std::vector<int64_t> &values) {
    constexpr size_t mostSymbols = 16;
    bool isPlain = std::all_of(values.begin(), values.end(), [](int64_t v) { return v > 1; });
    bool canBe = uses[place] == Use::InputSize || uses[place] == Use::Argument ||
                 uses[place] == Use::LaunchNumber;
    if (!isPlain || !canBe || symbols.size() == mostSymbols)
      return std::nullopt;
    std::string name = "s" + std::to_string(symbols.size());
    if (uses[place] != Use::InputSize)
      pattern.free.push_back(symbols.size());
    auto [least, most] = std::minmax_element(values.begin(), values.end());
    constexpr int64_t wide = int64_t(1) << 61;
    SizePattern::Symbol symbol{name, place};
    symbol.smallest = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(*least)));
    symbol.largest =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min(*most, wide))));
    symbol.largest = std::max(symbol.largest, *most);
    pattern.symbols.push_back(std::move(symbol));
    symbols.push_back({Expr::symbol(name), values});
    return symbols.back().expression;
  }

  std::optional<Expr> expressed(const std::vector<int64_t> &values) const {
    for (const Known &symbol : symbols)
      if (auto linear = linearIn(symbol, values))
        return linear;
    for (size_t i = 0; i < symbols.size(); ++i)
      for (size_t j = i; j < symbols.size(); ++j)
        if (auto multiple = multipleOf(symbols[i], symbols[j], values))
          return multiple;
    for (const Known &known : found)
      if (auto part = partOf(known, values))
        return part;
    return std::nullopt;
  }

  /// k * symbol + c.
  std::optional<Expr> linearIn(const Known &symbol, const std::vector<int64_t> &values) const {
    size_t other = 1;
    while (other < values.size() && symbol.values[other] == symbol.values[0])
      ++other;
    if (other == values.size())
      return std::nullopt;
    __int128 rise = static_cast<__int128>(values[other]) - values[0],
             run = static_cast<__int128>(symbol.values[other]) - symbol.values[0];
    if (rise % run != 0)
      return std::nullopt;
    __int128 factor = rise / run, rest = values[0] - factor * symbol.values[0];
    constexpr __int128 most = INT64_MAX / 2;
    if (factor > most || factor < -most || rest > most || rest < -most)
      return std::nullopt;
    for (size_t i = 0; i < values.size(); ++i)
      if (factor * symbol.values[i] + rest != values[i])
        return std::nullopt;
    return symbol.expression * Expr(static_cast<int64_t>(factor)) +
           Expr(static_cast<int64_t>(rest));
  }

  /// k * a * b.
  static std::optional<Expr> multipleOf(const Known &a, const Known &b,
                                        const std::vector<int64_t> &values) {
    __int128 first = static_cast<__int128>(a.values[0]) * b.values[0];
    if (first == 0 || values[0] % first != 0)
      return std::nullopt;
    __int128 factor = values[0] / first;
    for (size_t i = 0; i < values.size(); ++i)
      if (factor * a.values[i] * b.values[i] != values[i])
        return std::nullopt;
    return a.expression * b.expression * Expr(static_cast<int64_t>(factor));
  }

  /// What comes of a block size: known/d, rounded up or down.
  static std::optional<Expr> partOf(const Known &known, const std::vector<int64_t> &values) {
    for (int64_t divisor = 2; divisor <= 65536; divisor *= 2) {
      bool isUp = true, isDown = true;
      for (size_t i = 0; i < values.size(); ++i) {
        int64_t whole = known.values[i] / divisor, rest = known.values[i] % divisor;
        isDown = isDown && known.values[i] >= 0 && values[i] == whole;
        isUp = isUp && known.values[i] >= 0 && values[i] == whole + (rest != 0);
      }
      if (isUp)
        return symbolic::ceilDiv(known.expression, divisor);
      if (isDown)
        return symbolic::floorDiv(known.expression, divisor);
    }
    return std::nullopt;
  }
};

std::optional<SizePattern> SizePattern::of(const Program &program, const OperatorRegistry &registry,
                                           const std::vector<std::vector<int64_t>> &samples) {
  if (samples.size() < 2 || hasRegions(program))
    return std::nullopt;
  std::vector<Use> uses = usesOf(program, registry);
  for (const std::vector<int64_t> &sample : samples)
    if (sample.size() != uses.size())
      return std::nullopt;
  std::optional<SizePattern> found = PatternSearch(samples, std::move(uses)).run();
  return found && !found->symbols.empty() ? found : std::nullopt;
}

std::optional<std::vector<int64_t>>
SizePattern::valuesFor(const std::vector<int64_t> &sizes) const {
  if (sizes.size() != expressions.size())
    return std::nullopt;
  std::map<std::string, int64_t> values;
  std::vector<int64_t> list;
  for (const Symbol &symbol : symbols) {
    if (sizes[symbol.place] < symbol.least || sizes[symbol.place] > symbol.most)
      return std::nullopt;
    values[symbol.name] = sizes[symbol.place];
    list.push_back(sizes[symbol.place]);
  }
  auto next = varying.begin();
  for (size_t place = 0; place < sizes.size(); ++place) {
    if (next != varying.end() && *next == place) {
      ++next;
      if (symbolic::evaluate(expressions[place], values) != sizes[place])
        return std::nullopt;
    } else if (sizes[place] != example[place]) {
      return std::nullopt;
    }
  }
  return list;
}

std::optional<Program> SizePattern::generalized(const Program &program,
                                                const OperatorRegistry &registry) {
  if (auto general = overSymbols(program, registry))
    return general;
  // `x[:, -64:]` has the same size from 64 on.
  for (Symbol &symbol : symbols)
    symbol.least = std::max<int64_t>(symbol.smallest, 2);
  if (auto general = overSymbols(program, registry))
    return general;
  // `table[:n]` has n rows as long as the table has them.
  for (Symbol &symbol : symbols)
    symbol.most = symbol.largest;
  return overSymbols(program, registry);
}

std::optional<Program> SizePattern::overSymbols(const Program &program,
                                                const OperatorRegistry &registry) const {
  Program out;
  out.kernels = program.kernels;
  std::map<std::string, int64_t> values;
  for (const Symbol &symbol : symbols) {
    symbolic::SymbolInfo info;
    info.range = {symbol.least, symbol.most};
    info.hint = values[symbol.name] = example[symbol.place];
    out.symbols.declare(symbol.name, info);
  }
  size_t next = 0;
  Rebuild rebuild(registry, [&](int64_t, Use) { return expressions[next++]; });
  auto keep = [&](const Node &from, Node *to) {
    if (from.resultCount() != to->resultCount())
      return false;
    for (size_t i = 0; i < from.resultCount(); ++i) {
      const Value *before = from.result(i);
      Value *now = to->result(i);
      if (before->isTensor() != now->isTensor() ||
          (now->isTensor() && !evaluatesTo(now->type(), before->type(), values)))
        return false;
      rebuild.values.emplace(before, now);
    }
    return true;
  };
  bool hasInputs = false;
  auto addFree = [&] {
    for (size_t symbol : free) {
      TensorType bytes(DataType::UInt8, {Expr::symbol(symbols[symbol].name)});
      bytes.strides = {Expr(0)};
      (void)out.main.placeholder("n" + std::to_string(symbol), bytes);
    }
    hasInputs = true;
  };
  try {
    for (const Node &node : program.main) {
      if (node.isPlaceholder()) {
        TensorType type = rebuild.type(node.result()->type());
        rebuild.values.emplace(node.result(), out.main.placeholder(node.name(), type));
        continue;
      }
      if (!hasInputs)
        addFree();
      std::vector<Argument> args = rebuild.positional(node);
      KeywordArguments kwargs = rebuild.keywords(node);
      out.main.setLocation(node.location);
      if (node.isOutput()) {
        out.main.output(std::move(args));
        continue;
      }
      Node *made = node.isLaunch() ? out.main.launch(rebuild.launch(*node.launch()), node.name())
                                   : emitCall(out.main, registry, out.symbols, node.target(),
                                              std::move(args), std::move(kwargs), node.location);
      if (!keep(node, made))
        return std::nullopt;
    }
  } catch (const DiagnosticError &) {
    return std::nullopt;
  } catch (const std::overflow_error &) {
    return std::nullopt;
  }
  for (Node *input : out.main.placeholders()) {
    InputSpec spec;
    spec.name = input->name();
    out.inputs.push_back(spec);
  }
  for (size_t i = 0; i < out.main.outputNode()->args().size(); ++i)
    out.outputs.push_back({OutputSpec::Kind::UserOutput, ""});
  return out;
}

bool SizePattern::givesResultsOf(const Program &program, const std::vector<TensorType> &general,
                                 const std::vector<int64_t> &values) const {
  std::map<std::string, int64_t> known;
  for (size_t i = 0; i < symbols.size(); ++i)
    known[symbols[i].name] = values[i];
  std::vector<TensorType> types = resultTypes(program);
  return types.size() == general.size() &&
         std::equal(types.begin(), types.end(), general.begin(),
                    [&](const TensorType &type, const TensorType &of) {
                      return evaluatesTo(of, type, known);
                    });
}

std::vector<TensorType> resultTypes(const Program &program) {
  std::vector<TensorType> types;
  for (const Argument &result : program.main.outputNode()->args())
    types.push_back(result.value()->type());
  return types;
}

} // namespace pellucid::trace
