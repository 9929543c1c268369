// SPDX-License-Identifier: Apache-2.0
#include "runtime/Plan.h"

#include <algorithm>
#include <map>

namespace pellucid::runtime {

using namespace package;

size_t ProgramPlan::baseOf(PlaceKind kind) const {
  size_t counts[] = {manifest.inputs.size(), manifest.outputs.size(), manifest.weights.size(),
                     program.buffers.size(), manifest.state.size()};
  size_t base = 0;
  for (size_t i = 0; i < size_t(kind); ++i)
    base += counts[i];
  return base;
}

std::string ProgramPlan::nameOfBase(size_t base) const {
  auto named = [&](PlaceKind kind, const char *what, const auto &list) -> std::string {
    size_t first = baseOf(kind);
    return base < first || base - first >= list.size()
               ? ""
               : std::string(what) + " '" + list[base - first].name + "'";
  };
  return named(PlaceKind::Input, "input", manifest.inputs) +
         named(PlaceKind::Output, "output", manifest.outputs) +
         named(PlaceKind::Weight, "weight", manifest.weights) +
         named(PlaceKind::Buffer, "buffer", program.buffers) +
         named(PlaceKind::State, "state", manifest.state) +
         (base < baseOf(PlaceKind::Window)
              ? ""
              : "window " + std::to_string(base - baseOf(PlaceKind::Window)));
}

size_t ProgramPlan::stepsAt(size_t at) const {
  if (const auto *branch = std::get_if<BranchPlan>(&steps[at]))
    return size_t(1) + branch->branch->whenTrue + branch->branch->whenFalse;
  if (const auto *loop = std::get_if<LoopPlan>(&steps[at]))
    return size_t(1) + loop->loop->conditionSteps + loop->loop->bodySteps;
  return 1;
}

namespace {
class Planner {
public:
  Planner(ProgramPlan &p, const ChooseExecutable &c) : plan(p), choose(c) {}

  Result run() {
    plan.usesWeight.assign(plan.manifest.weights.size(), false);
    addStages();
    for (const Step &step : plan.program.steps)
      if (Result result = std::visit([this](const auto &held) { return this->add(held); }, step);
          !result.ok())
        return result;
    plan.expressions.finishStages();
    const std::vector<Step> &steps = plan.program.steps;
    plan.firstStateWrite = static_cast<size_t>(
        std::find_if(steps.begin(), steps.end(),
                     [&](const Step &step) {
                       return std::visit(
                           [this](const auto &held) { return this->writesState(held); }, step);
                     }) -
        steps.begin());
    return {};
  }

private:
  void addStages() {
    std::vector<uint32_t> ofSymbol(plan.manifest.symbols.size(), 0);
    for (const Step &step : plan.program.steps)
      if (const auto *read = std::get_if<ReadSize>(&step))
        ofSymbol[read->symbol] = plan.stages++;
    plan.expressions.setStages(std::move(ofSymbol));
    plan.slotStages.assign(plan.program.slots, 0);
    for (const Buffer &buffer : plan.program.buffers) {
      uint32_t stage = plan.expressions.stageOf(buffer.bytes);
      plan.buffers.push_back({number(buffer.bytes), buffer.slot, stage});
      plan.slotStages[buffer.slot] = stage;
    }
    for (const Output &output : plan.manifest.outputs) {
      uint32_t stage = 0;
      for (const Bytecode &dim : output.shape)
        stage = std::max(stage, plan.expressions.stageOf(dim));
      plan.outputStages.push_back(stage);
    }
  }

  bool writesState(const Launch &launch) const {
    return std::ranges::any_of(launch.variants, [&](const LaunchVariant &variant) {
      const Kernel &kernel = plan.manifest.kernels[variant.kernel];
      for (size_t i = 0; i < variant.arguments.size(); ++i)
        if (auto *pointer = std::get_if<PointerArgument>(&variant.arguments[i]))
          if (pointer->place.kind == PlaceKind::State && kernel.parameters[i].written)
            return true;
      return false;
    });
  }
  bool writesState(const Copy &copy) const { return copy.destination.kind == PlaceKind::State; }
  bool writesState(const Fill &fill) const { return fill.destination.kind == PlaceKind::State; }
  bool writesState(const Branch &) const { return false; }
  bool writesState(const ReadSize &) const { return false; }
  bool writesState(const CheckSizes &) const { return false; }
  /// Through its windows.
  bool writesState(const Loop &loop) const {
    return std::ranges::any_of(loop.carries,
                               [](const Carry &carry) {
                                 return carry.first.kind == PlaceKind::State ||
                                        carry.second.kind == PlaceKind::State;
                               }) ||
           std::ranges::any_of(loop.slices, [](const Slice &slice) {
             return slice.first.kind == PlaceKind::State;
           });
  }

  ProgramPlan &plan;
  const ChooseExecutable &choose;
  std::map<const Kernel *, const Executable *> chosen; ///< a kernel may be launched many times

  Value number(const Bytecode &code, int64_t whenEmpty = 0) {
    return plan.expressions.add(code, whenEmpty);
  }
  PlacePlan place(const Place &p) {
    if (p.kind == PlaceKind::Weight)
      plan.usesWeight[p.index] = true;
    return {static_cast<uint32_t>(plan.baseOf(p.kind) + p.index), number(p.byteOffset)};
  }

  ArgumentPlan argument(const Argument &source, const KernelParameter &parameter) {
    if (auto *pointer = std::get_if<PointerArgument>(&source))
      return {ArgumentPlan::Kind::Pointer, &parameter, place(pointer->place), {}, 0};
    if (auto *value = std::get_if<ValueArgument>(&source))
      return {ArgumentPlan::Kind::Value, &parameter, {}, number(value->value), 0};
    return {ArgumentPlan::Kind::Immediate,
            &parameter,
            {},
            {},
            std::get<ImmediateArgument>(source).bits};
  }

  Result variant(const LaunchVariant &source, VariantPlan &out) {
    const Kernel &kernel = plan.manifest.kernels[source.kernel];
    out.kernel = &kernel;
    std::string why;
    auto [known, isNew] = chosen.try_emplace(&kernel);
    if (isNew)
      known->second = choose(kernel, why);
    out.executable = known->second;
    if (!out.executable)
      return Result::error(PELLUCID_UNSUPPORTED, "kernel '" + kernel.name + "' " + why);
    out.guard = number(source.guard, 1);
    for (size_t i = 0; i < 3; ++i)
      out.grid[i] = number(source.grid[i], 1);
    for (size_t i = 0; i < source.arguments.size(); ++i) {
      const KernelParameter &parameter = kernel.parameters[i];
      out.arguments.push_back(argument(source.arguments[i], parameter));
      out.argumentBytes = std::max(out.argumentBytes, parameter.offset + parameter.bytes);
    }
    out.cost = std::make_unique<CostEstimate>();
    plan.maxArgumentBytes = std::max(plan.maxArgumentBytes, out.argumentBytes);
    return {};
  }

  Result add(const Launch &launch) {
    LaunchPlan step{&launch, {}, number(launch.bytes, -1), number(launch.flops, -1)};
    for (const LaunchVariant &source : launch.variants)
      if (Result result = variant(source, step.variants.emplace_back()); !result.ok())
        return result;
    plan.steps.push_back(std::move(step));
    return {};
  }
  Result add(const Copy &copy) {
    plan.steps.push_back(CopyPlan{place(copy.destination), place(copy.source), number(copy.bytes)});
    return {};
  }
  Result add(const Fill &fill) {
    plan.steps.push_back(FillPlan{&fill, place(fill.destination), number(fill.bytes)});
    return {};
  }
  Result add(const Branch &branch) {
    BranchPlan step{&branch, number(branch.condition), {}};
    if (branch.condition.empty())
      step.predicate = place(branch.predicate);
    plan.steps.push_back(std::move(step));
    return {};
  }
  Result add(const Loop &loop) {
    LoopPlan step{&loop, number(loop.turns), {}, {}, {}, 0};
    if (loop.turns.empty())
      step.predicate = place(loop.predicate);
    for (const Carry &carry : loop.carries)
      step.carries.push_back({place(carry.first), place(carry.second), number(carry.bytes)});
    for (const Slice &slice : loop.slices)
      step.slices.push_back({place(slice.first), number(slice.step), number(slice.bytes)});
    step.firstWindow = static_cast<uint32_t>(plan.baseOf(PlaceKind::Window) + plan.windows);
    plan.windows += loop.windows();
    plan.steps.push_back(std::move(step));
    return {};
  }
  Result add(const ReadSize &read) {
    plan.steps.push_back(ReadPlan{&read, place(read.from), number(read.most, INT64_MAX),
                                  plan.expressions.stageOfSymbol(read.symbol)});
    return {};
  }
  Result add(const CheckSizes &check) {
    plan.steps.push_back(CheckPlan{&check, number(check.condition)});
    return {};
  }
};
} // namespace

Result makePlan(const Manifest &manifest, const Program &program, const ChooseExecutable &choose,
                std::unique_ptr<ProgramPlan> &out) {
  auto plan = std::make_unique<ProgramPlan>(manifest, program);
  if (Result result = Planner(*plan, choose).run(); !result.ok())
    return result;
  out = std::move(plan);
  return {};
}

} // namespace pellucid::runtime
