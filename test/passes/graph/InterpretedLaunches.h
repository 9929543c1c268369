// SPDX-License-Identifier: Apache-2.0
/// Operators lowered to launches, whose kernels the interpreter runs: no device is needed.
#pragma once

#include "driver/EmitSource.h"
#include "graph/FakeRules.h"
#include "judge/Near.h"
#include "passes/graph/CopylessAttention.h"
#include "passes/graph/Idioms.h"
#include "passes/graph/InlineOperators.h"
#include "passes/graph/InnermostChannels.h"
#include "passes/graph/JoinedProducts.h"
#include "passes/graph/KnownMasks.h"
#include "passes/graph/LowerToLaunches.h"
#include "passes/graph/MovedViews.h"
#include "passes/graph/SlicedProducers.h"
#include "reference/graph/Interpreter.h"
#include "reference/tt/Launch.h"
#include "support/Diagnostics.h"
#include "tt/Tt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace pellucid::passes {

using namespace graph;
using reference::Datum;
using reference::Tensor;

constexpr uint32_t cpu = 0, hopper = 90;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A program of random inputs, lowered for a device; its kernels run in the interpreter, which also
/// looks for races and for accesses beyond the memory.
class InterpretedLaunches : public ::testing::Test {
protected:
  InterpretedLaunches() : context(mlir::MLIRContext::Threading::DISABLED) {
    tt::loadTtDialects(context);
  }

  /// `range`: values are multiples of 1/8 within it, or integers; `place` is where `special`
  /// stands.
  Value *input(const char *name, DataType type, std::vector<int64_t> shape, int64_t range = 8) {
    Tensor values(type, shape);
    Tensor::forEachIndex(shape, [&](std::span<const int64_t> index) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      int64_t number = static_cast<int64_t>(state >> 33) % (isFloat(type) ? 16 * range : range);
      values.set(index, isFloat(type) ? static_cast<double>(number) / 8 - static_cast<double>(range)
                                      : static_cast<double>(number));
    });
    inputs.emplace_back(values);
    program.inputs.push_back({InputSpec::Kind::UserInput, name, {}, true});
    return program.main.placeholder(name, TensorType(type, {shape.begin(), shape.end()}));
  }
  Tensor &values(size_t i) { return std::get<Tensor>(inputs[i]); }
  Node *call(std::string_view target, std::vector<Argument> args, KeywordArguments kwargs = {}) {
    return emitCall(program.main, registry, program.symbols, target, std::move(args),
                    std::move(kwargs), {});
  }

  /// The grids of the launches that `results` become.
  std::vector<int64_t> lower(const std::vector<Value *> &results, uint32_t device) {
    std::vector<Argument> list(results.begin(), results.end());
    program.outputs.assign(list.size(), {OutputSpec::Kind::UserOutput, ""});
    program.main.output(std::move(list));
    decomposeComposites(program, registry);
    unlowered = program.clone();
    if (withPasses)
      masks = replaceKnownMasks(program, registry);
    if (withPasses && device != cpu) {
      replaced = replaceIdioms(program, registry);
      moved = moveViews(program, registry);
      slicesComputed = computeSlices(program, registry);
      changed = layChannelsInnermost(program, registry, tf32);
      copies = readOperandsInPlace(program, registry);
      program.main.eraseUnused([](const Node &) { return true; });
      joined = joinProducts(program, registry);
      program.main.eraseUnused([](const Node &) { return true; });
    }
    for (auto &[name, weight] : program.weights)
      if (!weight.data && weight.made) {
        auto bytes = std::make_shared<std::vector<uint8_t>>();
        weight.made([&](std::span<const uint8_t> part) {
          bytes->insert(bytes->end(), part.begin(), part.end());
          return true;
        });
        weight.data = {bytes, reinterpret_cast<const std::byte *>(bytes->data())};
      }
    CompileText text = driver::textCompiler(context);
    CompileText compile = [&](const KernelText &one, const std::vector<DataType> &pointers,
                              const std::vector<Access> &accesses) {
      sources += one.source;
      return text(one, pointers, accesses);
    };
    lowerToLaunches(program, registry, compile, device, deterministic, {}, tf32, tf32Products);
    program.main.eraseUnused([](const Node &) { return true; });
    EXPECT_EQ(program.main.verify(), std::vector<std::string>{});
    std::vector<int64_t> grids;
    for (const Node &node : program.main)
      if (node.isLaunch())
        grids.push_back(node.launch()->variants[0].grid[0].constantOr(-1));
    return grids;
  }

  /// Interprets the operators and their launches, and compares.
  void expectSame(double bound) {
    reference::EvaluateOptions options;
    std::vector<Datum> want = reference::evaluate(unlowered, inputs, options);
    options.launcher = [&](const Program &, const KernelDef &kernel, const LaunchVariant &,
                           const std::array<int64_t, 3> &grid,
                           std::span<reference::LaunchArgument> arguments) {
      interpret(kernel, grid, arguments);
    };
    std::vector<Datum> got = reference::evaluate(program, inputs, options);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      std::vector<double> made = std::get<Tensor>(got[i]).reals(),
                          meant = std::get<Tensor>(want[i]).reals();
      ASSERT_EQ(made.size(), meant.size());
      for (size_t e = 0; e < made.size(); ++e)
        ASSERT_TRUE(judge::isNear(made[e], meant[e], bound * std::max(1.0, std::abs(meant[e]))))
            << "result " << i << " element " << e << ": " << made[e] << ", not " << meant[e];
    }
  }

  void interpret(const KernelDef &kernel, const std::array<int64_t, 3> &grid,
                 std::span<reference::LaunchArgument> arguments) {
    if (grid[0] == 0)
      return;
    Diagnostics diagnostics;
    auto module = tt::parseTtir(kernel.ttir, &context, diagnostics);
    ASSERT_TRUE(module) << diagnostics.text();
    std::vector<reference::HostArgument> list;
    for (const reference::LaunchArgument &argument : arguments)
      if (const Tensor *tensor = std::get_if<Tensor>(&argument.value)) {
        uint8_t *bytes = tensor->storage->data();
        list.emplace_back(reference::HostTensor{
            argument.operand.name, tensor->dtype,
            bytes + tensor->offset * static_cast<int64_t>(byteSize(tensor->dtype)), bytes,
            tensor->storage->size(), true});
      } else {
        list.emplace_back(std::get<int64_t>(argument.value));
      }
    reference::InterpretOptions options;
    for (size_t d = 0; d < 3; ++d)
      options.grid[d] = static_cast<uint32_t>(grid[d]);
    options.sanitize = true;
    EXPECT_TRUE(reference::launchReference(*module, kernel.symbol, list, options, diagnostics))
        << diagnostics.text() << kernel.symbol;
  }

  /// What `build` makes of a program, for each of these devices.
  void onEach(std::vector<uint32_t> devices, double bound,
              const std::function<std::vector<Value *>()> &build) {
    for (uint32_t device : devices) {
      SCOPED_TRACE(device);
      program = Program();
      inputs.clear();
      sources.clear();
      lower(build(), device);
      expectSame(bound);
      if (HasFatalFailure() || HasNonfatalFailure())
        FAIL() << sources;
    }
  }
  void onBoth(double bound, const std::function<std::vector<Value *>()> &build) {
    onEach({cpu, hopper}, bound, build);
  }

  mlir::MLIRContext context;
  Program program, unlowered;
  const OperatorRegistry &registry = OperatorRegistry::builtins();
  std::vector<Datum> inputs;
  bool deterministic = false, tf32 = false, tf32Products = false;
  /// What a device's programs go through first, and how often either did something.
  bool withPasses = false;
  size_t replaced = 0, moved = 0, changed = 0, masks = 0, copies = 0, joined = 0,
         slicesComputed = 0;
  std::string sources;
  uint64_t state = 1;
};

} // namespace pellucid::passes
