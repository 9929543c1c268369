// SPDX-License-Identifier: Apache-2.0
#include "package/CheckCode.h"

#include "package/ElfImage.h"

#include <map>

namespace pellucid::package {

Status
checkImages(const Manifest &manifest,
            const std::function<std::span<const uint8_t>(const std::string &record)> &recordData) {
  std::map<std::string_view, ImageLayout> layouts;
  for (const Kernel &kernel : manifest.kernels) {
    for (const Executable &executable : kernel.executables) {
      if (executable.format != CodeFormat::Image)
        continue;
      auto [known, isNew] = layouts.try_emplace(executable.record);
      if (isNew)
        if (Status status = readImageLayout(recordData(executable.record), known->second);
            !status.ok())
          return Status::error("record '" + executable.record + "': " + status.message());
      if (!isExecutableAddress(known->second, executable.entryOffset))
        return Status::error("the entry of kernel '" + kernel.name + "' at " +
                             std::to_string(executable.entryOffset) +
                             " lies outside the code of record '" + executable.record + "'");
    }
  }
  return {};
}

} // namespace pellucid::package
