// SPDX-License-Identifier: Apache-2.0
#include "VerifyFusion.h"

#include "PackageFile.h"
#include "RandomInputs.h"
#include "package/PackageWriter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace pellucid::cli {

namespace {

float halfValue(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, sizeof half);
  return static_cast<float>(half);
}
float bfloatValue(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <typename T> T read(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Element `i` as a double; none for types that are compared by their bytes.
std::optional<double> numberAt(const Array &array, size_t i) {
  const char *at = array.data() + i * byteSize(array.dtype);
  switch (array.dtype) {
  case DataType::Float64:
    return read<double>(at);
  case DataType::Float32:
    return read<float>(at);
  case DataType::Float16:
    return halfValue(read<uint16_t>(at));
  case DataType::BFloat16:
    return bfloatValue(read<uint16_t>(at));
  default:
    return std::nullopt;
  }
}

/// A few roundings in the type: contraction of a*b+c may differ between the two programs.
double allowedError(DataType type) {
  switch (type) {
  case DataType::Float64:
    return 1e-12;
  case DataType::Float32:
    return 1e-5;
  case DataType::Float16:
    return 4e-3;
  case DataType::BFloat16:
    return 3e-2;
  default:
    // A comparison of two almost equal numbers may turn out either way.
    return 1e-3;
  }
}

double elementError(double fused, double unfused) {
  if (std::isnan(unfused) || std::isnan(fused))
    return std::isnan(unfused) && std::isnan(fused) ? 0 : INFINITY;
  if (std::isinf(unfused) || std::isinf(fused))
    return fused == unfused ? 0 : INFINITY;
  return std::fabs(fused - unfused) / std::max(1.0, std::fabs(unfused));
}

double difference(const Array &fused, const Array &unfused) {
  if (fused.shape != unfused.shape || fused.dtype != unfused.dtype)
    return INFINITY;
  size_t count = static_cast<size_t>(unfused.numel()), size = byteSize(unfused.dtype),
         different = 0;
  double worst = 0;
  for (size_t i = 0; i < count; ++i) {
    if (auto value = numberAt(unfused, i))
      worst = std::max(worst, elementError(*numberAt(fused, i), *value));
    else
      different += std::memcmp(fused.data() + i * size, unfused.data() + i * size, size) != 0;
  }
  return count == 0 ? 0
                    : std::max(worst, static_cast<double>(different) / static_cast<double>(count));
}

/// Values of the dynamic dims: odd ones first, then larger ones, inside of their ranges.
std::map<std::string, int64_t> chooseSizes(const symbolic::SymbolTable &symbols, int64_t wanted) {
  std::map<std::string, int64_t> sizes;
  for (const std::string &name : symbols.names()) {
    const symbolic::SymbolInfo &known = *symbols.find(name);
    int64_t value = std::clamp(wanted, known.range.min, known.range.max);
    value = (value + known.divisor - 1) / known.divisor * known.divisor;
    sizes[name] = value > known.range.max ? value - known.divisor : value;
    wanted += 2;
  }
  return sizes;
}

/// Kernels may write into their inputs.
std::vector<Array> copied(const std::vector<Array> &arrays) {
  std::vector<Array> copies = arrays;
  for (Array &array : copies)
    array.bytes = std::make_shared<ArrayBytes>(*array.bytes);
  return copies;
}

PackageFile loaded(const package::Contents &contents, const std::string &name) {
  std::vector<uint8_t> bytes;
  if (package::Status status = package::packageBytes(contents, bytes); !status.ok())
    throw DiagnosticError(SourceLocation(name), status.message());
  return PackageFile(std::move(bytes), name);
}

} // namespace

std::vector<VerifiedKernel> verifyFusion(const graph::Program &program,
                                         const driver::CompileOptions &options) {
  driver::FusionCheck check;
  Diagnostics diagnostics;
  if (!driver::compileFusionCheck(program, options, check, diagnostics))
    throw DiagnosticError(diagnostics.all().front());
  std::vector<VerifiedKernel> kernels;
  for (const fusion::FusedResult &result : check.results)
    kernels.push_back({result.kernel, result.before, 0, 0});
  if (kernels.empty())
    return kernels;
  PackageFile unfused = loaded(check.unfused, "--verify (unfused)"),
              fused = loaded(check.fused, "--verify (fused)");
  std::mt19937 random(20240607);
  for (int64_t wanted : {7, 129}) {
    std::vector<Array> inputs = randomInputs(program, chooseSizes(program.symbols, wanted), random);
    std::vector<Array> apart = unfused.run(copied(inputs)), together = fused.run(copied(inputs));
    for (size_t k = 0; k < kernels.size(); ++k) {
      const Array &want = apart[check.firstOutput + k];
      kernels[k].error =
          std::max(kernels[k].error, difference(together[check.firstOutput + k], want));
      kernels[k].allowed = allowedError(want.dtype);
    }
  }
  return kernels;
}

} // namespace pellucid::cli
