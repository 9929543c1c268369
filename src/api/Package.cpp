// SPDX-License-Identifier: Apache-2.0
// Packages on disk and compiled functions in memory.
#include "api/Recording.h"
#include "driver/Compile.h"
#include "package/PackageWriter.h"
#include "runtime/DlpackTypes.h"

#include <algorithm>

namespace pellucid {

using namespace api;
using detail::CallState;
using detail::CompiledState;
using detail::InstanceState;
using detail::PackageState;

void compile_package(const ExportedProgram &program, const std::string &path,
                     const CompileOptions &options) {
  guarded([&] {
    if (!program.state)
      throw Error("the program is empty; make it with export_program or load_program");
    driver::CompileOptions compile;
    compile.fuseIntoKernels = options.fuse_into_kernels;
    compile.tf32 = options.tf32_convolutions;
    compile.tf32Products = options.tf32_products;
    compile.stateAsInputs = options.state_as_inputs;
    compile.worker = options.worker;
    std::string error;
    if (!parseTargets(options.target, compile.targets, error))
      throw Error("target '" + options.target + "': " + error);
    package::Contents contents;
    driver::CompileReport report;
    Diagnostics diagnostics;
    if (!driver::compileProgram(program.state->program, compile, contents, report, diagnostics))
      throw Error(diagnostics.text());
    if (package::Status status = package::writePackage(contents, path); !status.ok())
      throw Error(path + ": " + status.message());
  });
}

Package load_package(const std::string &path) {
  Package package;
  package.state = std::make_shared<PackageState>();
  if (pellucid_load(path.c_str(), &package.state->package) != PELLUCID_OK)
    throw Error(pellucid_last_error());
  return package;
}

std::vector<Tensor> Package::run(const std::vector<Tensor> &inputs) const {
  if (!state)
    throw Error("the package is empty; make it with load_package");
  return guarded([&] { return runPackage(*state, inputs); });
}

static pellucid_run_options seededOptions(uint64_t seed, uint64_t offset) {
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.seeded = 1;
  options.seed = seed;
  options.offset = offset;
  return options;
}

std::vector<Tensor> Package::run(const std::vector<Tensor> &inputs, uint64_t seed,
                                 uint64_t offset) const {
  if (!state)
    throw Error("the package is empty; make it with load_package");
  pellucid_run_options options = seededOptions(seed, offset);
  return guarded([&] { return runPackage(*state, inputs, nullptr, &options); });
}

Instance Package::instance(const InstanceOptions &options) const {
  if (!state)
    throw Error("the package is empty; make it with load_package");
  pellucid_instance_options given{};
  given.struct_size = sizeof given;
  given.device = {kDLCPU, 0};
  given.restore_on_failure = options.restore_on_failure;
  Instance made;
  made.held = std::make_shared<InstanceState>();
  made.held->package = state;
  if (pellucid_instance_create(state->package, &given, &made.held->instance) != PELLUCID_OK)
    throw Error(pellucid_last_error());
  return made;
}

static InstanceState &heldBy(const Instance &instance) {
  if (!instance.held)
    throw Error("the instance is empty; make it with Package::instance");
  return *instance.held;
}

static void check(pellucid_status status) {
  if (status != PELLUCID_OK)
    throw Error(pellucid_last_error());
}

std::vector<Tensor> Instance::run(const std::vector<Tensor> &inputs) const {
  InstanceState &state = heldBy(*this);
  return guarded([&] { return runPackage(*state.package, inputs, state.instance); });
}

std::vector<Tensor> Instance::run(const std::vector<Tensor> &inputs, uint64_t seed,
                                  uint64_t offset) const {
  InstanceState &state = heldBy(*this);
  pellucid_run_options options = seededOptions(seed, offset);
  return guarded([&] { return runPackage(*state.package, inputs, state.instance, &options); });
}

// --- prepared calls

static std::vector<DLTensor> borrowed(const std::vector<Tensor> &tensors, const char *what) {
  std::vector<DLTensor> views;
  for (const Tensor &tensor : tensors) {
    const TensorState &state = stateOf(tensor, what);
    checkOutsideOfTraces(state);
    views.push_back(borrowTensor(state));
  }
  return views;
}

static PreparedCall prepared(std::shared_ptr<PackageState> package,
                             std::shared_ptr<InstanceState> instance,
                             const std::vector<Tensor> &inputs,
                             const std::vector<Tensor> &outputs) {
  PreparedCall made;
  made.held = std::make_shared<CallState>();
  made.held->package = std::move(package);
  made.held->instance = std::move(instance);
  made.held->tensors = inputs;
  made.held->tensors.insert(made.held->tensors.end(), outputs.begin(), outputs.end());
  std::vector<DLTensor> in = borrowed(inputs, "an input"), out = borrowed(outputs, "an output");
  check(made.held->instance
            ? pellucid_instance_call_create(made.held->instance->instance, in.data(), in.size(),
                                            out.data(), out.size(), &made.held->call)
            : pellucid_call_create(made.held->package->package, in.data(), in.size(), out.data(),
                                   out.size(), &made.held->call));
  return made;
}

PreparedCall Package::prepare(const std::vector<Tensor> &inputs,
                              const std::vector<Tensor> &outputs) const {
  if (!state)
    throw Error("the package is empty; make it with load_package");
  return guarded([&] { return prepared(state, nullptr, inputs, outputs); });
}

PreparedCall Instance::prepare(const std::vector<Tensor> &inputs,
                               const std::vector<Tensor> &outputs) const {
  InstanceState &state = heldBy(*this);
  return guarded([&] { return prepared(state.package, held, inputs, outputs); });
}

void PreparedCall::run() const {
  if (!held)
    throw Error("the call is empty; make it with prepare");
  check(pellucid_call_run(held->call, nullptr));
}

void Instance::reset() const { check(pellucid_instance_reset(heldBy(*this).instance)); }
void Instance::load(const std::string &path) const {
  check(pellucid_instance_load(heldBy(*this).instance, path.c_str()));
}
void Instance::save(const std::string &path) const {
  check(pellucid_instance_save(heldBy(*this).instance, path.c_str()));
}

std::vector<std::string> Instance::state_names() const {
  const pellucid_package *package = heldBy(*this).package->package;
  std::vector<std::string> names;
  for (size_t i = 0; i < pellucid_state_count(package); ++i)
    names.push_back(pellucid_state_name(package, i));
  return names;
}

Tensor Instance::state(const std::string &name) const {
  InstanceState &from = heldBy(*this);
  std::vector<std::string> names = state_names();
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error("the package has no state '" + name + "'");
  DLTensor view{};
  check(pellucid_instance_state(from.instance, static_cast<size_t>(found - names.begin()), &view));
  TensorState seen;
  seen.owner = held;
  seen.data = static_cast<std::byte *>(view.data);
  seen.type = *runtime::fromDlpack(view.dtype);
  seen.shape.assign(view.shape, view.shape + view.ndim);
  seen.strides = rowMajor(seen.shape);
  return wrapState(std::move(seen));
}

std::string Package::describe() const { return state ? pellucid_describe(state->package) : ""; }

Compiled compile(const Function &function, const std::vector<Tensor> &examples,
                 const DynamicShapes &dynamic, const CompileOptions &options) {
  return guarded([&] {
    std::shared_ptr<Recording> recording =
        traceFunction(function, nullptr, examples, dynamic, false, options.input_names);
    auto state = std::make_shared<CompiledState>();
    for (size_t i = 0; i < examples.size(); ++i)
      state->names.push_back(options.input_names.empty() ? "arg" + std::to_string(i)
                                                         : options.input_names[i]);
    for (const auto &[input, dims] : dynamic)
      for (const auto &[d, dim] : dims)
        state->symbols.emplace_back(dim.name, input, d);
    state->followed = recording->tracer.followed;
    state->package = compileAndLoad(recording->tracer.program, options);
    return Compiled{state};
  });
}

/// Branches that followed the example are right for sizes that go the same way only.
static void checkFollowed(const CompiledState &state, const std::vector<Tensor> &inputs) {
  if (state.followed.empty())
    return;
  std::map<std::string, int64_t> values;
  std::string sizes;
  for (const auto &[name, input, d] : state.symbols) {
    // An input that does not fit is the run time's to name.
    if (input >= inputs.size() || !inputs[input].state || inputs[input].state->shape.size() <= d)
      return;
    values[name] = inputs[input].state->shape[d];
    sizes += (sizes.empty() ? "input '" : ", input '") + state.names[input] + "': dim " +
             std::to_string(d) + " (" + name + ") is " + std::to_string(values[name]);
  }
  for (const auto &[condition, taken] : state.followed)
    if (auto value = symbolic::evaluate(condition, values); value && (*value != 0) != taken)
      throw Error(sizes + ", must make '" + condition.text() + "' " + (taken ? "true" : "false") +
                  " as the example did: a branch of the function depends on it");
}

std::vector<Tensor> Compiled::operator()(const std::vector<Tensor> &inputs) const {
  if (!state)
    throw Error("the function is empty; make it with compile");
  return guarded([&] {
    checkFollowed(*state, inputs);
    return runPackage(*state->package, inputs);
  });
}

} // namespace pellucid
