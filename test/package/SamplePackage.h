// SPDX-License-Identifier: Apache-2.0
/// Hand-built packages for the tests of the package format and the run time.
#pragma once

#include "package/Package.h"

namespace pellucid::test {

/// "batch*64 + 1" over `symbols`, in that order.
package::Bytecode code(std::string_view text, const std::vector<std::string> &symbols = {"batch"});
std::vector<package::Bytecode> codes(std::initializer_list<const char *> texts,
                                     const std::vector<std::string> &symbols = {"batch"});

/// The bytes of the image built from sample_kernels.c.
const std::vector<uint8_t> &sampleImage();

/// One parameter after another, packed as KernelAbi.h says.
std::vector<package::KernelParameter>
packParameters(std::vector<package::KernelParameter> parameters);
package::KernelParameter pointer(std::string name, DataType dtype = DataType::Float32);
/// A pointer that the kernel only reads.
package::KernelParameter source(std::string name, DataType dtype = DataType::Float32);
package::KernelParameter scalar(std::string name, DataType dtype);

/// A kernel of sample_kernels.c for x86-64-v3.
package::Kernel sampleKernel(const std::string &entry,
                             std::vector<package::KernelParameter> parameters,
                             uint64_t scratchBytes = 0);

package::Argument address(package::PlaceKind kind, uint32_t index,
                          package::Bytecode byteOffset = {});
package::Argument value(std::string_view text);
package::Argument immediate(float number);

/// y = (x * 2 + bias) * 3 + bias and total = sum of each row of y, for x f32[batch, 64], batch
/// in 1..1024: three launches, one weight, one intermediate buffer.
package::Contents sampleModel();
/// The numbers of sampleModel's weight "layer.bias".
std::vector<float> sampleBias();

/// A package with the kernels' image and `manifest`.
package::Contents withImage(package::Manifest manifest);

/// An empty folder for this test, removed at the end of the process.
std::string temporaryFolder();

std::vector<uint8_t> readFile(const std::string &path);
void writeFile(const std::string &path, std::span<const uint8_t> bytes);

} // namespace pellucid::test
