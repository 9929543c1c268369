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

namespace {

/// As load_state_dict(strict=True): every name that does not fit, in one error.
void checkNames(const std::string &path, const Named &tensors,
                const std::map<std::string, graph::Weight> &weights) {
  std::string missing, unexpected;
  auto add = [](std::string &list, const std::string &name) {
    list += (list.empty() ? "'" : ", '") + name + "'";
  };
  std::set<std::string> known;
  for (const auto &[name, tensor] : tensors) {
    known.insert(name);
    if (!weights.count(name))
      add(missing, name);
  }
  for (const auto &[name, weight] : weights)
    if (!known.count(name))
      add(unexpected, name);
  if (missing.empty() && unexpected.empty())
    return;
  throw Error(path + ": error: the file does not hold this module's state_dict" +
              (missing.empty() ? "" : "\n  missing: " + missing) +
              (unexpected.empty() ? "" : "\n  not in the module: " + unexpected));
}

} // namespace

void Module::load_state_dict(const std::string &path, bool strict) {
  guarded([&] {
    std::map<std::string, graph::Weight> weights = graph::loadWeights(path);
    Named tensors = named_parameters();
    for (auto &entry : named_buffers())
      tensors.push_back(std::move(entry));
    if (strict)
      checkNames(path, tensors, weights);
    std::erase_if(tensors, [&](const auto &named) { return !weights.count(named.first); });
    for (const auto &[name, tensor] : tensors) {
      auto entry = weights.find(name);
      const TensorState &s = *tensor.state;
      auto text = [](DataType type, const std::vector<int64_t> &shape) {
        return toString(
            graph::TensorType(type, std::vector<symbolic::Expr>(shape.begin(), shape.end())));
      };
      if (entry->second.shape != s.shape || entry->second.dtype != s.type)
        throw Error(path + ": error: tensor '" + name + "' is " +
                    text(entry->second.dtype, entry->second.shape) + " in the file and " +
                    text(s.type, s.shape) + " in the module");
      if (!isRowMajor(s))
        throw Error("'" + name +
                    "' is not contiguous; values can be loaded into contiguous tensors only");
    }
    for (const auto &[name, tensor] : tensors)
      std::memcpy(tensor.state->data, weights.at(name).data.get(), weights.at(name).bytes);
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
