// SPDX-License-Identifier: Apache-2.0
// Every derivative against central differences in float64, and its own derivative too. The cases
// are derivative_cases.txt: the operator, an expression, its inputs and their range.
//   autograd_derivatives_test            all cases
//   PELLUCID_DERIVATIVES=aten.mul …      those whose operator begins so
#include "trace/Derivatives.h"
#include "Programs.h"
#include "graph/Registry.h"
#include "trace/TraceHooks.h"
#include "trace/TraceSession.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>

namespace pellucid::trace {

namespace {

struct Case {
  std::string target, expression, inputs;
  double low = -2, high = 2;
  bool isSmooth = true; ///< its derivative is differentiated too
  bool isDrawn = false; ///< its values are none that could be compared: it is traced alone
};

std::string trimmed(std::string text) {
  size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<Case> readCases() {
  std::ifstream file(PELLUCID_SOURCE_DIR "/test/autograd/derivative_cases.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::string> parts;
    std::stringstream stream(line);
    for (std::string part; std::getline(stream, part, '|');)
      parts.push_back(trimmed(part));
    Case one{parts.at(0), parts.at(1), parts.at(2)};
    for (size_t i = 3; i < parts.size(); ++i)
      if (parts[i] == "once")
        one.isSmooth = false;
      else if (parts[i] == "drawn")
        one.isDrawn = true;
      else if (size_t dots = parts[i].find(".."); dots != std::string::npos)
        one.low = std::stod(parts[i].substr(0, dots)),
        one.high = std::stod(parts[i].substr(dots + 2));
    cases.push_back(one);
  }
  return cases;
}

/// "x=3,4 i=int64[5]:0..4 m=bool[3]": floats are differentiated by.
struct Inputs {
  std::vector<GivenTensor> tensors;
  std::vector<size_t> wanted;
};

Inputs inputsOf(const Case &one, unsigned seed) {
  std::mt19937 random(seed);
  Inputs inputs;
  std::stringstream stream(one.inputs);
  for (std::string text; stream >> text;) {
    size_t equals = text.find('=');
    GivenTensor given{text.substr(0, equals), {}};
    std::string type = text.substr(equals + 1), sizes = type;
    DataType dtype = DataType::Float64;
    double low = one.low, high = one.high;
    if (size_t open = type.find('['); open != std::string::npos) {
      size_t close = type.find(']');
      sizes = type.substr(open + 1, close - open - 1);
      dtype = type.starts_with("int64")  ? DataType::Int64
              : type.starts_with("bool") ? DataType::Bool
                                         : dtype;
      low = 0, high = 1.999;
      if (size_t dots = type.find("..", close); dots != std::string::npos) {
        low = std::stod(type.substr(close + 2, dots - close - 2));
        high = std::stod(type.substr(dots + 2)) + (dtype == DataType::Int64 ? 0.999 : 0);
      }
    }
    std::vector<int64_t> shape;
    std::stringstream list(sizes);
    for (std::string size; std::getline(list, size, ',');)
      shape.push_back(std::stoll(size));
    reference::Tensor tensor(dtype, shape);
    std::uniform_real_distribution<double> draw(low, high);
    reference::Tensor::forEachIndex(shape, [&](std::span<const int64_t> index) {
      double value = draw(random);
      if (dtype == DataType::Float64)
        tensor.set(index, value);
      else
        tensor.setInteger(index, static_cast<int64_t>(std::floor(value)));
    });
    if (dtype == DataType::Float64)
      inputs.wanted.push_back(inputs.tensors.size());
    given.tensor = tensor;
    inputs.tensors.push_back(std::move(given));
  }
  return inputs;
}

std::string textOf(const Case &one, const Inputs &inputs) {
  std::string names, leaves, wanted;
  for (size_t i = 0; i < inputs.tensors.size(); ++i)
    names += (i ? ", " : "") + inputs.tensors[i].name;
  for (size_t i : inputs.wanted) {
    const std::string &name = inputs.tensors[i].name;
    leaves += "    " + name + " = " + name + ".detach().requires_grad_()\n";
    wanted += name + ", ";
  }
  return "def weights(x, k):\n"
         "    return torch.cos(torch.arange(x.numel(), dtype=torch.float64) * 1.3 + "
         "k).reshape(x.shape)\n"
         "def flat(x):\n"
         "    if isinstance(x, torch.Tensor):\n"
         "        return [x]\n"
         "    found = []\n"
         "    for one in x:\n"
         "        found.extend(flat(one))\n"
         "    return found\n"
         "def total(tensors, k):\n"
         "    result = torch.zeros([], dtype=torch.float64)\n"
         "    for i, one in enumerate(tensors):\n"
         "        result = result + (one * weights(one, k + i)).sum()\n"
         "    return result\n"
         "def operation(" +
         names +
         "):\n"
         "    return " +
         one.expression +
         "\n"
         "def gradients(" +
         names + "):\n" + leaves + "    wanted = [" + wanted +
         "]\n"
         "    outputs = [o for o in flat(operation(" +
         names +
         ")) if o.is_floating_point()]\n"
         "    loss = total(outputs, 0.7)\n"
         "    found = torch.autograd.grad(loss, wanted, create_graph=" +
         (one.isSmooth ? "True" : "False") +
         ", materialize_grads=True)\n"
         "    slope = total(found, 3.1)\n"
         "    if slope.requires_grad:\n"
         "        second = torch.autograd.grad(slope, wanted, materialize_grads=True)\n"
         "    else:\n"
         "        second = [torch.zeros_like(one) for one in wanted]\n"
         "    return (loss, slope) + tuple(found) + tuple(second)\n";
}

/// How far the gradient is from what was seen along a direction.
double distance(const reference::Tensor &gradient, const std::vector<double> &direction,
                double seen) {
  std::vector<double> values = gradient.reals();
  double along = 0, size = 1;
  for (size_t i = 0; i < values.size(); ++i) {
    along += values[i] * direction[i];
    size += std::abs(values[i] * direction[i]);
  }
  double error = std::abs(along - seen) / size;
  return std::isnan(error) ? INFINITY : error;
}

/// The values of `loss` and `slope` a step along the direction, and a step back.
std::array<std::array<double, 2>, 2> sidesOf(const graph::Program &program, Inputs &inputs,
                                             size_t moved, const std::vector<double> &direction,
                                             double step) {
  std::array<std::array<double, 2>, 2> sides{};
  reference::Tensor &tensor = inputs.tensors[moved].tensor;
  reference::Tensor there = tensor.copy();
  for (int side = 0; side < 2; ++side) {
    size_t i = 0;
    reference::Tensor::forEachIndex(there.shape, [&](std::span<const int64_t> index) {
      tensor.set(index, there.real(index) + (side ? step : -step) * direction[i++]);
    });
    std::vector<reference::Tensor> found = evaluateProgram(program, inputs.tensors);
    sides[static_cast<size_t>(side)] = {found[0].reals()[0], found[1].reals()[0]};
  }
  tensor = there;
  return sides;
}

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text + at);
  for (std::string part; std::getline(stream, part, at);)
    parts.push_back(part);
  return parts;
}

/// Inputs with corners and ties, and PyTorch's gradients there: numbers, one list for each tensor.
struct Corners {
  std::string values, gradients;
};

/// What record_gradients.py wrote, by the number of the case.
std::map<size_t, Corners> readCorners() {
  std::ifstream file(PELLUCID_SOURCE_DIR "/test/autograd/gradients.expected");
  std::map<size_t, Corners> all;
  for (std::string line; std::getline(file, line);) {
    // An expression may have bars of its own.
    std::vector<std::string> parts = split(line, '|');
    all[std::stoul(parts[0])] = {parts[parts.size() - 2], parts.back()};
  }
  return all;
}

bool isSame(double got, double wanted) {
  if (std::isnan(wanted) || std::isinf(wanted))
    return std::isnan(wanted) ? std::isnan(got) : got == wanted;
  return std::abs(got - wanted) <= 1e-7 * (1 + std::abs(wanted));
}

/// Where functions have corners and maxima tie, the gradient is a choice: PyTorch's. Empty: it is.
std::string checkCorners(const graph::Program &program, Inputs inputs, const Corners &corners) {
  std::vector<std::string> given = split(corners.values, ';'),
                           wanted = split(corners.gradients, ';');
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    std::vector<std::string> numbers = split(given[i], ',');
    size_t next = 0;
    reference::Tensor tensor(inputs.tensors[i].tensor.dtype, inputs.tensors[i].tensor.shape);
    reference::Tensor::forEachIndex(tensor.shape, [&](std::span<const int64_t> index) {
      double value = std::stod(numbers.at(next++));
      if (tensor.dtype == DataType::Float64)
        tensor.set(index, value);
      else
        tensor.setInteger(index, static_cast<int64_t>(value));
    });
    inputs.tensors[i].tensor = tensor;
  }
  std::vector<reference::Tensor> found = evaluateProgram(program, inputs.tensors);
  for (size_t k = 0; k < inputs.wanted.size(); ++k) {
    std::vector<double> got = found[2 + k].reals();
    std::vector<std::string> want = split(wanted[k], ',');
    for (size_t i = 0; i < got.size(); ++i)
      if (!isSame(got[i], std::stod(want.at(i))))
        return "at " + corners.values + " the gradient of " +
               inputs.tensors[inputs.wanted[k]].name + " has " + std::to_string(got[i]) +
               " in place " + std::to_string(i) + ", and PyTorch's " + want[i];
  }
  return {};
}

/// Empty: it is right.
std::string check(const Case &one, unsigned seed, const Corners *corners) {
  Inputs inputs = inputsOf(one, seed);
  graph::Program program;
  try {
    program = traceText(textOf(one, inputs), "gradients", inputs.tensors, true);
  } catch (const DiagnosticError &error) {
    return render(error.diagnostic);
  }
  bool calls = false;
  for (const graph::Node &node : program.main)
    calls |= node.calls(one.target);
  if (!calls)
    return "the expression does not call the operator";
  if (one.isDrawn)
    return {};
  std::vector<reference::Tensor> found;
  try {
    found = evaluateProgram(program, inputs.tensors);
  } catch (const DiagnosticError &error) {
    return render(error.diagnostic);
  }
  constexpr double step = 1e-5, bound = 2e-6;
  size_t count = inputs.wanted.size();
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(0.5, 1.5);
  for (size_t k = 0; k < count; ++k) {
    const GivenTensor &given = inputs.tensors[inputs.wanted[k]];
    if (found[2 + k].shape != given.tensor.shape)
      return "the gradient of " + given.name + " has another shape";
    // Elements that are wrong do not cancel along a direction that is drawn, nor along another.
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<double> direction;
      for (int64_t i = 0; i < given.tensor.numel(); ++i)
        direction.push_back(draw(random) * (random() & 1 ? 1 : -1));
      auto sides = sidesOf(program, inputs, inputs.wanted[k], direction, step);
      double slope = (sides[1][0] - sides[0][0]) / (2 * step),
             bend = (sides[1][1] - sides[0][1]) / (2 * step);
      if (double error = distance(found[2 + k], direction, slope); !(error <= bound))
        return "the gradient of " + given.name + " is off by " + std::to_string(error);
      if (double error = one.isSmooth ? distance(found[2 + count + k], direction, bend) : 0;
          !(error <= bound * 10))
        return "the second derivative by " + given.name + " is off by " + std::to_string(error);
    }
  }
  return corners ? checkCorners(program, std::move(inputs), *corners) : std::string();
}

bool isAsked(const std::string &target) {
  const char *asked = std::getenv("PELLUCID_DERIVATIVES");
  return !asked || target.starts_with(asked);
}

TEST(Derivatives, AreThoseOfCentralDifferences) {
  unsigned seed = 1;
  size_t right = 0;
  std::vector<Case> cases = readCases();
  std::map<size_t, Corners> corners = readCorners();
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case &one = cases[i];
    if (!isAsked(one.target))
      continue;
    auto entry = corners.find(i);
    std::string wrong = check(one, seed++, entry == corners.end() ? nullptr : &entry->second);
    right += wrong.empty();
    EXPECT_EQ(wrong, "") << one.target << ": " << one.expression << " of " << one.inputs;
  }
  std::printf("%zu of %zu cases\n", right, cases.size());
}

/// Every operator of the registry has a formula or says that it has none; every formula has a case.
TEST(Derivatives, EveryOperatorHasARecord) {
  Tracer tracer;
  TraceHooks hooks(&tracer);
  auto interpreter = beginTrace(tracer, hooks, {}, {});
  std::set<std::string> formulas, without, tried;
  for (const std::string &target : derivativeTargets(*interpreter, true))
    formulas.insert(target);
  for (const std::string &target : derivativeTargets(*interpreter, false))
    without.insert(target);
  for (const Case &one : readCases())
    tried.insert(one.target);
  const graph::OperatorRegistry &registry = graph::OperatorRegistry::builtins();
  for (const std::string &target : formulas) {
    EXPECT_TRUE(registry.find(target)) << target << " is no operator";
    EXPECT_TRUE(tried.count(target)) << target << " has no line in derivative_cases.txt";
  }
  for (const std::string &target : without)
    EXPECT_TRUE(registry.find(target)) << target << " is no operator";
  for (const std::string &target : registry.targets()) {
    bool takesTensor = false;
    for (const graph::SchemaArgument &argument : registry.find(target)->schema.arguments)
      takesTensor |= argument.type.kind == graph::SchemaType::Kind::Tensor;
    if (takesTensor)
      EXPECT_TRUE(formulas.count(target) || without.count(target))
          << target << " is neither in derivatives.py nor in its list of those without a gradient";
  }
}

} // namespace

} // namespace pellucid::trace
