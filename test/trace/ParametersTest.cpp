// SPDX-License-Identifier: Apache-2.0
/// No parameter is taken and ignored: every optional one of every function that is accepted has a
/// row in parameters.txt, and the rows are true.
#include "TraceFixture.h"

#include "graph/Registry.h"
#include "reference/graph/Interpreter.h"
#include "trace/Gradients.h"
#include "trace/TensorCalls.h"
#include "trace/TorchTraining.h"
#include "trace/TraceHooks.h"

#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace pellucid::trace {
namespace {

namespace h = pellucid::host;
using Key = std::pair<std::string, std::string>;

struct Row {
  Key key;
  std::string kind, expression, text;
};

std::string folder() { return std::string(PELLUCID_SOURCE_DIR) + "/test/trace/"; }

std::vector<std::string> cellsOf(const std::string &line) {
  std::vector<std::string> cells;
  for (size_t at = 0; at <= line.size();) {
    size_t bar = std::min(line.find(" | ", at), line.size());
    cells.push_back(line.substr(at, bar - at));
    at = bar + 3;
  }
  return cells;
}

std::vector<Row> rows() {
  std::ifstream file(folder() + "parameters.txt");
  std::vector<Row> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::string> cells = cellsOf(line);
    bool argued = cells.at(2) == "argued";
    out.push_back({{cells.at(0), cells.at(1)},
                   cells.at(2),
                   argued ? "" : cells.at(3),
                   cells.at(argued ? 3 : 4)});
  }
  return out;
}

// --- which parameters there are

/// The parameters of `text` that a call may leave out.
std::vector<std::string> optionalNames(const std::string &text) {
  std::vector<std::string> names;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    if (part.find('=') != std::string::npos)
      names.push_back(part.substr(0, part.find('=')));
    else if (part.size() > 1 && part[0] == '*')
      names.push_back(part);
  }
  return names;
}

std::vector<std::string> optionalNames(const syntax::Arguments &arguments) {
  std::vector<std::string> names;
  std::vector<std::string> positional;
  for (const auto *list : {&arguments.posonlyargs, &arguments.args})
    for (const auto &argument : *list)
      positional.push_back(argument->arg);
  for (size_t i = positional.size() - arguments.defaults.size(); i < positional.size(); ++i)
    names.push_back(positional[i]);
  for (size_t i = 0; i < arguments.kwonlyargs.size(); ++i)
    if (arguments.kwDefaults[i])
      names.push_back(arguments.kwonlyargs[i]->arg);
  if (arguments.vararg)
    names.push_back("*" + arguments.vararg->arg);
  if (arguments.kwarg)
    names.push_back("**" + arguments.kwarg->arg);
  return names;
}

class Inventory {
public:
  Inventory() {
    h::InterpreterOptions options;
    addTorchRuntime(options.modules);
    addTorchComposites(options.modules);
    addTorchModules(options.modules, tracer);
    addTorchTraining(options.modules, tracer);
    addTorchAutograd(options.modules, tracer);
    interpreter = std::make_unique<h::Interpreter>(std::move(options));
    tracer.beginConstruction();
    addOperators();
    addModule("torch._pellucid_composites", "torch.");
    for (auto [module, shown] : {std::pair{"torch", "torch."},
                                 {"torch.nn.functional", "F."},
                                 {"torch.nn", "nn."},
                                 {"torch.nn.init", "nn.init."},
                                 {"torch.linalg", "torch.linalg."},
                                 {"torch.library", "torch.library."},
                                 {"torch.autograd", "torch.autograd."},
                                 {"torch.optim", "torch.optim."},
                                 {"torch.optim.lr_scheduler", "torch.optim.lr_scheduler."},
                                 {"torch.nn.utils", "torch.nn.utils."},
                                 {"torch.autograd.functional", "torch.autograd.functional."},
                                 {"torch.func", "torch.func."},
                                 {"torch.utils.checkpoint", "torch.utils.checkpoint."},
                                 {"triton", "triton."}})
      addModule(module, shown);
    for (const auto &[name, signature] : tensorMethods())
      add("Tensor." + name, signature ? optionalNames(*signature) : std::vector<std::string>{"*"});
  }

  std::set<Key> keys;

private:
  void add(const std::string &function, const std::vector<std::string> &names) {
    for (const std::string &name : names)
      keys.emplace(function, name);
  }

  void addOperators() {
    const auto &registry = graph::OperatorRegistry::builtins();
    for (const std::string &target : registry.targets()) {
      const graph::Schema &schema = registry.find(target)->schema;
      for (const auto &argument : schema.arguments)
        if (argument.defaultValue || argument.type.optional)
          keys.emplace(schema.packet(), argument.name);
    }
  }

  void addModule(const std::string &module, const std::string &shown) {
    for (const auto &[name, value] : interpreter->nativeModule(module)->globals->items()) {
      if (name.starts_with("_"))
        continue;
      if (auto *function = value.as<h::Function>())
        add(shown + name, optionalNames(*function->parameters));
      else if (auto *native = value.as<h::NativeFunction>())
        add(shown + name,
            native->signature ? optionalNames(*native->signature) : std::vector<std::string>{"*"});
      else if (auto *cls = value.as<h::Class>())
        addClass(shown + name, *cls);
    }
  }

  /// The constructor, inherited or not, and the class's own methods.
  void addClass(const std::string &shown, const h::Class &cls) {
    const h::Value *init = cls.find("__init__");
    if (!init && cls.construct)
      add(shown, {"*"});
    if (auto *function = init ? init->as<h::Function>() : nullptr; function && shown != "nn.Module")
      if (function->parameters)
        addMethod(shown, "__init__", *function,
                  shown.starts_with("nn.") && cls.attributes.find("__init__") == nullptr);
    for (const auto &[name, value] : cls.attributes.items()) {
      auto *function = value.as<h::Function>();
      if (auto *descriptor = value.as<h::Descriptor>())
        function = descriptor->function.as<h::Function>();
      if (function && (name != "__init__" || shown == "nn.Module") &&
          (!name.starts_with("_") || name.starts_with("__")))
        addMethod(shown, name, *function, false);
    }
  }

  void addMethod(const std::string &shown, const std::string &name, const h::Function &function,
                 bool inherited) {
    // What takes anything because the base class does refuses it there.
    std::vector<std::string> names = optionalNames(*function.parameters);
    if (inherited && names == std::vector<std::string>{"*args", "**kwargs"})
      return;
    add(shown + "." + name, names);
  }

  Tracer tracer;
  std::unique_ptr<h::Interpreter> interpreter;
};

TEST(Parameters, everyOneHasARow) {
  std::set<Key> known;
  std::set<std::string> functions;
  for (const Row &row : rows()) {
    EXPECT_TRUE(known.insert(row.key).second)
        << row.key.first << " | " << row.key.second << " has two rows";
    EXPECT_FALSE(row.text.empty()) << row.key.first << " | " << row.key.second;
  }
  Inventory inventory;
  for (const auto &[function, parameter] : inventory.keys) {
    functions.insert(function);
    EXPECT_TRUE(known.count({function, parameter}) || known.count({function, "*"}))
        << "parameters.txt has no row for " << function << " | " << parameter;
  }
  // A row of a function that is gone says nothing.
  for (const auto &[function, parameter] : known)
    EXPECT_TRUE(functions.count(function) || function.starts_with("F.") ||
                function.starts_with("torch.add"))
        << "there is no function " << function << " with optional parameters";
}

// --- what they do

class ParameterRows : public TextTrace {
protected:
  struct Result {
    std::string dtype;
    std::vector<int64_t> shape;
    std::vector<double> values;
  };

  void SetUp() override {
    TextTrace::SetUp();
    auto add = [&](const char *name, std::vector<int64_t> shape, DataType type, auto value) {
      input(name, {shape.begin(), shape.end()}, type);
      reference::Tensor tensor(type, shape);
      std::vector<double> values;
      for (int64_t i = 0; i < tensor.numel(); ++i)
        values.push_back(static_cast<double>(value(i)));
      data.emplace_back(reference::Tensor::of(type, shape, values));
    };
    add("x", {2, 3, 4}, DataType::Float32, [](int64_t i) { return ((i * 37) % 101 - 50) / 16.0; });
    add("y", {2, 3, 4}, DataType::Float32, [](int64_t i) { return ((i * 53) % 97 - 48) / 16.0; });
    add("m", {4, 4}, DataType::Float32, [](int64_t i) { return ((i * 29) % 23 - 11) / 8.0; });
    add("w", {4, 4}, DataType::Float32, [](int64_t i) { return ((i * 31) % 19 - 9) / 8.0; });
    add("k", {2, 3, 4}, DataType::Int64, [](int64_t i) { return (i * 7) % 3; });
    add("b", {2, 3, 4}, DataType::Bool, [](int64_t i) { return (i * 5) % 3 == 0; });
  }

  static std::string programOf(const std::string &expression) {
    size_t at = expression.find(" @ ");
    if (at == std::string::npos)
      return "def f(x, y, m, w, k, b):\n    return " + expression + "\n";
    return "class f(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
           "        self.module = " +
           expression.substr(0, at) +
           "\n        for p in self.module.parameters():\n"
           "            nn.init.constant_(p, 0.5)\n"
           "    def forward(self, x, y, m, w, k, b):\n        return self.module(" +
           expression.substr(at + 3) + ")\n";
  }

  Result evaluated(const std::string &expression) {
    graph::Program program = trace(programOf(expression), "f");
    std::vector<reference::Datum> results = reference::evaluate(program, data, {});
    for (size_t i = 0; i < results.size(); ++i)
      if (program.outputs[i].kind == graph::OutputSpec::Kind::UserOutput) {
        const auto &tensor = std::get<reference::Tensor>(results[i]);
        return {std::string(info(tensor.dtype).torch), tensor.shape, tensor.reals()};
      }
    return {};
  }

  static std::map<Key, Result> expectations() {
    std::map<Key, Result> out;
    std::ifstream file(folder() + "parameters.expected");
    for (std::string line; std::getline(file, line);) {
      std::vector<std::string> cells = cellsOf(line);
      Result result;
      result.dtype = cells.at(2);
      std::stringstream shape(cells.at(3)), values(cells.at(4));
      for (std::string size; std::getline(shape, size, ',');)
        result.shape.push_back(std::stoll(size));
      for (std::string value; values >> value;)
        result.values.push_back(std::strtod(value.c_str(), nullptr));
      out[{cells[0], cells[1]}] = std::move(result);
    }
    return out;
  }

  static bool near(double a, double b, const std::string &dtype) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b))
      return a == b;
    double epsilon = dtype == "float64" ? 1e-12 : dtype == "float32" ? 4e-6 : 0;
    return std::abs(a - b) <= epsilon * std::max(1.0, std::abs(b));
  }

  std::vector<reference::Datum> data;
};

TEST_F(ParameterRows, giveWhatTorchGives) {
  std::map<Key, Result> expected = expectations();
  for (const Row &row : rows()) {
    if (row.kind != "changes" && row.kind != "same")
      continue;
    SCOPED_TRACE(row.key.first + " | " + row.key.second + ": " + row.expression);
    auto wanted = expected.find(row.key);
    if (wanted == expected.end()) {
      ADD_FAILURE() << "run record_parameters.py";
      continue;
    }
    try {
      Result result = evaluated(row.expression);
      EXPECT_EQ(result.dtype, wanted->second.dtype);
      EXPECT_EQ(result.shape, wanted->second.shape);
      ASSERT_EQ(result.values.size(), wanted->second.values.size());
      for (size_t i = 0; i < result.values.size(); ++i)
        EXPECT_TRUE(near(result.values[i], wanted->second.values[i], result.dtype))
            << i << ": " << result.values[i] << " and torch's " << wanted->second.values[i];
    } catch (const DiagnosticError &error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST_F(ParameterRows, areRefusedInWords) {
  for (const Row &row : rows())
    if (row.kind == "refused") {
      std::string said = refusal(programOf(row.expression), "f");
      EXPECT_TRUE(has(said, row.text)) << row.key.first << " | " << row.key.second << ": "
                                       << row.expression << "\nsaid: " << said;
    }
}

TEST_F(ParameterRows, areOfAKnownKind) {
  for (const Row &row : rows())
    EXPECT_TRUE(std::set<std::string>({"changes", "same", "refused", "argued"}).count(row.kind))
        << row.kind;
}

// --- decorators and launches

class HostRefusals : public TextTrace {};

TEST_F(HostRefusals, optionsThatWouldBeIgnored) {
  input("x", {64});
  auto program = [](const std::string &decorator, const std::string &options) {
    return decorator +
           "@triton.jit\ndef kernel(x_ptr, BLOCK: tl.constexpr):\n"
           "    i = tl.arange(0, BLOCK)\n    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)\n"
           "def f(x):\n    kernel[(1,)](x" +
           options + ")\n    return x\n";
  };
  struct Case {
    const char *decorator, *options, *said;
  };
  const Case cases[] = {
      {"", ", BLOCK=64, num_warps=8, num_stages=2, debug=True", ""},
      {"", ", BLOCK=64, warmup=True", "'warmup=True' of 'kernel' is not an option"},
      {"", ", BLOCK=64, grid=(2,)", "is not an option of kernel[grid]"},
      {"", ", BLOCK=64, launch_cooperative_grid=True", "wait for each other"},
      {"", ", BLOCK=64, launch_cooperative_grid=False", ""},
      {"", ", BLOCK=64, enable_fp_fusion=False", "enable_fp_fusion=False"},
      {"", ", BLOCK=64, extern_libs={'a': 'b'}", "extern_libs"},
      {"", ", BLOCK=64, nonsense=1", "it is not a launch option"},
      {"@triton.autotune([triton.Config({'BLOCK': 64}, ir_override='a.ttir')], key=[])\n", "",
       "'@autotune' of 'kernel' could not be evaluated"},
      {"@triton.autotune([triton.Config({'BLOCK': 64}, nonsense=1)], key=[])\n", "",
       "the config has no option 'nonsense'"},
      {"@triton.autotune([triton.Config({'BLOCK': 64})], key=[], nonsense=1)\n", "",
       "'@autotune' of 'kernel' could not be evaluated"},
      {"@triton.autotune([triton.Config({'BLOCK': 64}, num_warps=8)], key=[], warmup=5, rep=9, "
       "use_cuda_graph=True)\n",
       "", ""},
  };
  for (const Case &one : cases) {
    std::string said = refusal(program(one.decorator, one.options), "f");
    EXPECT_TRUE(*one.said ? has(said, one.said) : said.empty())
        << one.decorator << one.options << "\nsaid: " << said;
  }
}

TEST_F(HostRefusals, optionsOfJit) {
  std::string text = "@triton.jit(nonsense=1)\ndef kernel(x_ptr):\n    pass\n"
                     "def f(x):\n    kernel[(1,)](x)\n    return x\n";
  input("x", {4});
  EXPECT_TRUE(has(refusal(text, "f"), "unexpected keyword argument 'nonsense'"));
}

// --- initial values

class InitialValues : public TextTrace {
protected:
  std::vector<double> drawn(const std::string &statement, const std::string &shape) {
    inputs.clear();
    input("x", {1});
    graph::Program program =
        trace("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
              "        self.w = nn.Parameter(torch.empty(" +
                  shape + "))\n        " + statement +
                  "\n    def forward(self, x):\n        return self.w + x\n",
              "Net");
    return reference::tensorOf(program.weights.at("w")).reals();
  }
};

struct Moments {
  double mean = 0, deviation = 0, low = 0, high = 0;
  explicit Moments(const std::vector<double> &values) {
    low = high = values.at(0);
    for (double v : values)
      mean += v / static_cast<double>(values.size()), low = std::min(low, v),
                                                      high = std::max(high, v);
    for (double v : values)
      deviation += (v - mean) * (v - mean) / static_cast<double>(values.size());
    deviation = std::sqrt(deviation);
  }
};

TEST_F(InitialValues, haveTheirDistribution) {
  struct Case {
    const char *statement;
    double mean, deviation, low, high;
  };
  const double inf = std::numeric_limits<double>::infinity(), third = 1 / std::sqrt(3.0);
  // Of 128 x 512 values: fan_in 512, fan_out 128.
  const double xavier = std::sqrt(2.0 / 640), kaiming = std::sqrt(2.0 / 512);
  const Case cases[] = {
      {"nn.init.uniform_(self.w, 2.0, 4.0)", 3, third, 2, 4},
      {"nn.init.uniform_(self.w)", 0.5, third / 2, 0, 1},
      {"nn.init.normal_(self.w, 5.0, 0.25)", 5, 0.25, -inf, inf},
      {"nn.init.normal_(self.w)", 0, 1, -inf, inf},
      {"nn.init.trunc_normal_(self.w, 1.0, 1.0, a=0.5, b=1.5)", 1, 0.2840, 0.5, 1.5},
      {"nn.init.xavier_uniform_(self.w, 3.0)", 0, 3 * xavier, -3.1 * xavier / third,
       3.1 * xavier / third},
      {"nn.init.xavier_normal_(self.w, gain=2.0)", 0, 2 * xavier, -inf, inf},
      {"nn.init.kaiming_uniform_(self.w)", 0, kaiming, -inf, inf},
      {"nn.init.kaiming_uniform_(self.w, a=math.sqrt(7.0))", 0, kaiming / std::sqrt(8.0), -inf,
       inf},
      {"nn.init.kaiming_normal_(self.w, mode='fan_out')", 0, 2 * kaiming, -inf, inf},
      {"nn.init.kaiming_normal_(self.w, nonlinearity='linear')", 0, kaiming / std::sqrt(2.0), -inf,
       inf},
      {"nn.init.normal_(self.w); nn.init.uniform_(self.w[:64], 0.0, 2.0); "
       "nn.init.uniform_(self.w[64:], 0.0, 2.0)",
       1, third, 0, 2},
      {"self.w = nn.Parameter(torch.randn(128, 512))", 0, 1, -inf, inf},
      {"self.w = nn.Parameter(torch.rand(128, 512))", 0.5, third / 2, 0, 1},
      {"self.w = nn.Parameter(torch.full((128, 512), fill_value=3.0))", 3, 0, 3, 3},
  };
  for (const Case &one : cases) {
    Moments found(drawn("import math; " + std::string(one.statement), "128, 512"));
    EXPECT_NEAR(found.mean, one.mean, 0.02 * (one.deviation + 0.01)) << one.statement;
    EXPECT_NEAR(found.deviation, one.deviation, 0.02 * (one.deviation + 0.01)) << one.statement;
    EXPECT_GE(found.low, one.low) << one.statement;
    EXPECT_LE(found.high, one.high) << one.statement;
  }
}

TEST_F(InitialValues, orthogonalRows) {
  std::vector<double> w = drawn("nn.init.orthogonal_(self.w, gain=3)", "4, 8");
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) {
      double product = 0;
      for (size_t k = 0; k < 8; ++k)
        product += w[8 * i + k] * w[8 * j + k];
      EXPECT_NEAR(product, i == j ? 9 : 0, 1e-5) << i << " " << j;
    }
}

} // namespace
} // namespace pellucid::trace
