// SPDX-License-Identifier: Apache-2.0
// Parameters, buffers and submodules by name.
#include "api/State.h"
#include "graph/ProgramFile.h"

#include <cmath>
#include <cstring>
#include <set>

namespace pellucid::nn {

using namespace api;

namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

void checkName(const detail::ModuleState &state, const std::string &name) {
  if (name.empty() || name.find('.') != std::string::npos)
    throw Error("'" + name +
                "' cannot be the name of a parameter, buffer or submodule: it must not be empty or "
                "have dots");
  for (const Named *list : {&state.parameters, &state.buffers})
    for (const auto &[known, value] : *list)
      if (known == name)
        throw Error("the module has a '" + name + "' already");
  for (const auto &[known, value] : state.children)
    if (known == name)
      throw Error("the module has a '" + name + "' already");
}

/// Own tensors first, then those of submodules, as PyTorch goes.
void collect(const detail::ModuleState &state, Named detail::ModuleState::*list,
             const std::string &prefix, Named &out) {
  for (const auto &[name, tensor] : state.*list)
    out.emplace_back(prefix + name, tensor);
  for (const auto &[name, child] : state.children)
    collect(*child->state, list, prefix + name + ".", out);
}

Named collect(const detail::ModuleState &state, Named detail::ModuleState::*list) {
  Named out;
  collect(state, list, "", out);
  return out;
}

} // namespace

Module::Module() : state(std::make_shared<detail::ModuleState>()) {}
Module::~Module() = default;

Tensor Module::operator()(const Tensor &x) {
  std::vector<Tensor> results = forward({x});
  if (results.size() != 1)
    throw Error("the module's forward returns " + std::to_string(results.size()) +
                " tensors; call forward({…}) to get them");
  return std::move(results.front());
}

Tensor Module::register_parameter(const std::string &name, Tensor value) {
  checkName(*state, name);
  stateOf(value, name.c_str());
  state->parameters.emplace_back(name, value);
  return value;
}

Tensor Module::register_buffer(const std::string &name, Tensor value) {
  checkName(*state, name);
  stateOf(value, name.c_str());
  state->buffers.emplace_back(name, value);
  return value;
}

void Module::add_child(const std::string &name, std::shared_ptr<Module> module) {
  checkName(*state, name);
  if (!module)
    throw Error("submodule '" + name + "' is null");
  state->children.emplace_back(name, std::move(module));
}

Named Module::named_parameters() const { return collect(*state, &detail::ModuleState::parameters); }
Named Module::named_buffers() const { return collect(*state, &detail::ModuleState::buffers); }

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> out;
  for (auto &[name, tensor] : named_parameters())
    out.push_back(std::move(tensor));
  return out;
}

void Module::requires_grad_(bool requiresGrad) {
  for (const Tensor &tensor : parameters())
    if (isFloat(toDataType(tensor.scalar_type())))
      tensor.requires_grad_(requiresGrad);
}

void Module::zero_grad() {
  for (const Tensor &tensor : parameters())
    if (tensor.grad().defined())
      tensor.set_grad({});
}

static Tensor tensorOf(const graph::Weight &weight) {
  TensorState state;
  state.owner = std::const_pointer_cast<std::byte>(weight.data);
  state.data = const_cast<std::byte *>(weight.data.get());
  state.type = weight.dtype;
  state.shape = weight.shape;
  state.strides = rowMajor(weight.shape);
  return wrapState(std::move(state));
}

void Module::load_state_dict(const std::string &path, bool strict) {
  guarded([&] {
    std::map<std::string, Tensor> given;
    for (const auto &[name, weight] : graph::loadWeights(path))
      given[name] = tensorOf(weight);
    Named tensors = named_parameters();
    for (auto &entry : named_buffers())
      tensors.push_back(std::move(entry));
    assignStateDict(std::move(tensors), given, path, strict);
  });
}

Linear::Linear(int64_t in, int64_t out, bool has_bias, dtype type, uint64_t seed) {
  double bound = 1 / std::sqrt(static_cast<double>(in));
  weight = register_parameter("weight", rand({out, in}, type, -bound, bound, seed));
  if (has_bias)
    bias = register_parameter("bias", rand({out}, type, -bound, bound, seed + 0x5bd1e995));
}

std::vector<Tensor> Linear::forward(const std::vector<Tensor> &inputs) {
  if (inputs.size() != 1)
    throw Error("Linear takes one tensor, got " + std::to_string(inputs.size()));
  return {linear(inputs[0], weight, bias)};
}

} // namespace pellucid::nn

namespace pellucid::api {

namespace {

/// As load_state_dict(strict=True): every name that does not fit, in one error.
void checkNames(const std::string &path, const NamedTensors &tensors,
                const std::map<std::string, Tensor> &given) {
  std::string missing, unexpected;
  auto add = [](std::string &list, const std::string &name) {
    list += (list.empty() ? "'" : ", '") + name + "'";
  };
  std::set<std::string> known;
  for (const auto &[name, tensor] : tensors) {
    known.insert(name);
    if (!given.count(name))
      add(missing, name);
  }
  for (const auto &[name, tensor] : given)
    if (!known.count(name))
      add(unexpected, name);
  if (missing.empty() && unexpected.empty())
    return;
  throw Error(path + ": error: the file does not hold this module's state_dict" +
              (missing.empty() ? "" : "\n  missing: " + missing) +
              (unexpected.empty() ? "" : "\n  not in the module: " + unexpected));
}

std::string typeText(const Tensor &tensor) {
  std::vector<symbolic::Expr> shape;
  for (const SymInt &size : tensor.sizes())
    shape.push_back(toExpr(size));
  return toString(graph::TensorType(toDataType(tensor.scalar_type()), shape));
}

} // namespace

void assignStateDict(NamedTensors tensors, const std::map<std::string, Tensor> &given,
                     const std::string &path, bool strict) {
  if (strict)
    checkNames(path, tensors, given);
  std::erase_if(tensors, [&](const auto &named) { return !given.count(named.first); });
  for (const auto &[name, tensor] : tensors)
    if (std::string inFile = typeText(given.at(name)), own = typeText(tensor); inFile != own)
      throw Error(path + ": error: tensor '" + name + "' is " + inFile + " in the file and " + own +
                  " in the module");
  for (const auto &[name, tensor] : tensors)
    assign(tensor, given.at(name));
}

} // namespace pellucid::api
