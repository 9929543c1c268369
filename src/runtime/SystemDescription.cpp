// SPDX-License-Identifier: Apache-2.0
#include "runtime/SystemDescription.h"

#include "package/JsonWriter.h"
#include "runtime/CpuPool.h"
#include "runtime/CudaDriver.h"
#include "support/Target.h"

#include <fstream>

namespace pellucid::runtime {

static std::string cpuModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (size_t colon = line.find(": "); colon != line.npos)
        return line.substr(colon + 2);
  return "unknown";
}

const std::string &describeSystem() {
  static const std::string text = [] {
    package::JsonWriter json;
    json.beginObject().key("cpu").beginObject().field("model", cpuModel()).key("level");
    std::optional<CpuLevel> level = hostCpuLevel();
    level ? json.value(toString(*level)) : json.null();
    json.field("threads", CpuPool::hardwareThreads()).endObject();
    json.key("cuda").json(cuda::describeCuda()).endObject();
    return json.take() + "\n";
  }();
  return text;
}

} // namespace pellucid::runtime
