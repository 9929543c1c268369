// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/cpu/CompileKernel.h"
#include "driver/CodegenJob.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace pellucid::driver {

/// The objects of a worker that stays, by what their code depends on. Each has a symbol of its own,
/// so that any of them can be linked together.
class KernelMemory {
public:
  using Object = std::shared_ptr<const codegen::CompiledObject>;

  /// By kernelKey(); null where there is none.
  Object find(const std::string &key) const;
  /// The symbol that the next object is to have; `name` is for people who look into the image.
  std::string nextSymbol(const std::string &name);
  /// `object` was made under nextSymbol()'s last answer.
  Object add(std::string key, codegen::CompiledObject object);

private:
  std::unordered_map<std::string, Object> objects;
  size_t bytes = 0;
  uint64_t made = 0;
};

} // namespace pellucid::driver
