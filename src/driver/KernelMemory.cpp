// SPDX-License-Identifier: Apache-2.0
#include "driver/KernelMemory.h"

namespace pellucid::driver {

namespace {

/// What a process may keep; a script that goes on making new kernels begins anew.
constexpr size_t mostBytes = size_t(256) << 20;

} // namespace

KernelMemory::Object KernelMemory::find(const std::string &key) const {
  auto known = objects.find(key);
  return known == objects.end() ? nullptr : known->second;
}

std::string KernelMemory::nextSymbol(const std::string &name) {
  return name + "." + std::to_string(++made);
}

KernelMemory::Object KernelMemory::add(std::string key, codegen::CompiledObject object) {
  size_t size = key.size() + object.object.size();
  if (bytes + size > mostBytes) {
    objects.clear();
    bytes = 0;
  }
  bytes += size;
  return objects[std::move(key)] =
             std::make_shared<const codegen::CompiledObject>(std::move(object));
}

} // namespace pellucid::driver
