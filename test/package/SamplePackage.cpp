// SPDX-License-Identifier: Apache-2.0
#include "package/SamplePackage.h"

#include "package/Crc32.h"
#include "package/ElfImage.h"
#include "symbolic/Bytecode.h"
#include "symbolic/Expr.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace pellucid::test {

using namespace package;

Bytecode code(std::string_view text, const std::vector<std::string> &symbols) {
  std::optional<symbolic::Expr> expr = symbolic::parse(text);
  if (!expr)
    throw std::runtime_error("no expression: " + std::string(text));
  return symbolic::encode(*expr, symbols);
}

std::vector<Bytecode> codes(std::initializer_list<const char *> texts,
                            const std::vector<std::string> &symbols) {
  std::vector<Bytecode> list;
  for (const char *text : texts)
    list.push_back(code(text, symbols));
  return list;
}

std::vector<uint8_t> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

void writeFile(const std::string &path, std::span<const uint8_t> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

const std::vector<uint8_t> &sampleImage() {
  static const std::vector<uint8_t> image = readFile(PELLUCID_SAMPLE_IMAGE);
  return image;
}

std::vector<KernelParameter> packParameters(std::vector<KernelParameter> parameters) {
  uint32_t offset = 0;
  for (KernelParameter &parameter : parameters) {
    parameter.bytes = parameter.pointer ? 8 : byteSize(parameter.dtype);
    offset = (offset + parameter.bytes - 1) / parameter.bytes * parameter.bytes;
    parameter.offset = offset;
    offset += parameter.bytes;
  }
  return parameters;
}

KernelParameter pointer(std::string name, DataType dtype) {
  KernelParameter parameter;
  parameter.name = std::move(name);
  parameter.pointer = true;
  parameter.dtype = dtype;
  return parameter;
}

KernelParameter source(std::string name, DataType dtype) {
  KernelParameter parameter = pointer(std::move(name), dtype);
  parameter.written = false;
  return parameter;
}

KernelParameter scalar(std::string name, DataType dtype) {
  KernelParameter parameter;
  parameter.name = std::move(name);
  parameter.dtype = dtype;
  return parameter;
}

Kernel sampleKernel(const std::string &entry, std::vector<KernelParameter> parameters,
                    uint64_t scratchBytes) {
  Kernel kernel;
  kernel.name = entry;
  kernel.parameters = packParameters(std::move(parameters));
  kernel.sourceFile = "kernels.py";
  kernel.sourceLine = 7;
  Executable executable;
  executable.target = {Target::Kind::Cpu, CpuLevel::X86_64_v3, 0};
  executable.record = "code/x86-64-v3.elf";
  executable.entry = entry;
  executable.scratchBytes = scratchBytes;
  if (Status status = symbolAddress(sampleImage(), entry, executable.entryOffset); !status.ok())
    throw std::runtime_error(status.message());
  kernel.executables.push_back(std::move(executable));
  return kernel;
}

Argument address(PlaceKind kind, uint32_t index, Bytecode byteOffset) {
  return PointerArgument{{kind, index, std::move(byteOffset)}};
}
Argument value(std::string_view text) { return ValueArgument{code(text)}; }
Argument immediate(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return ImmediateArgument{bits};
}

std::vector<float> sampleBias() {
  std::vector<float> bias(64);
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = 0.25f * static_cast<float>(i) - 3;
  return bias;
}

Contents withImage(Manifest manifest) {
  Contents contents;
  contents.manifest = std::move(manifest);
  contents.records.push_back(ownedRecord("code/x86-64-v3.elf", sampleImage()));
  return contents;
}

static Launch scaleBias(std::string label, Argument in, Argument out, float scale) {
  LaunchVariant variant;
  variant.kernel = 0;
  variant.grid[0] = code("CeilDiv(batch*64, 256)");
  variant.arguments = {
      in, address(PlaceKind::Weight, 0), out, value("batch*64"), value("64"), immediate(scale)};
  Launch launch;
  launch.label = std::move(label);
  launch.variants.push_back(std::move(variant));
  launch.bytes = code("batch*64*8 + 256");
  launch.flops = code("batch*64*2");
  return launch;
}

Contents sampleModel() {
  Manifest m;
  m.producer = "pellucid test";
  m.name = "sample";
  m.symbols.push_back({"batch", 1, 1024, 1, SymbolSource::InputDim, 0, 0});
  m.inputs.push_back({"x", DataType::Float32, codes({"batch", "64"}), true, {}});
  m.outputs.push_back({"y", DataType::Float32, codes({"batch", "64"})});
  m.outputs.push_back({"total", DataType::Float32, codes({"batch"})});
  std::vector<float> bias = sampleBias();
  std::vector<uint8_t> bytes(256);
  std::memcpy(bytes.data(), bias.data(), bytes.size());
  m.weights.push_back({"layer.bias", DataType::Float32, {64}, "weights/0", 0, 256, crc32(bytes)});
  m.kernels.push_back(sampleKernel(
      "scale_bias", {source("in"), source("bias"), pointer("out"), scalar("count", DataType::Int32),
                     scalar("columns", DataType::Int32), scalar("scale", DataType::Float32)}));
  m.kernels.push_back(sampleKernel(
      "row_sum", {source("in"), pointer("out"), scalar("columns", DataType::Int32)}, 64 * 4));
  Program program;
  program.buffers.push_back(
      {"hidden", DataType::Float32, codes({"batch", "64"}), code("batch*256"), 0});
  program.slots = 1;
  program.steps.push_back(
      scaleBias("scale_bias_0", address(PlaceKind::Input, 0), address(PlaceKind::Buffer, 0), 2));
  program.steps.push_back(
      scaleBias("scale_bias_1", address(PlaceKind::Buffer, 0), address(PlaceKind::Output, 0), 3));
  Launch sum;
  sum.label = "row_sum";
  sum.variants.push_back(
      {{},
       1,
       {code("batch")},
       {address(PlaceKind::Output, 0), address(PlaceKind::Output, 1), value("64")}});
  program.steps.push_back(std::move(sum));
  m.programs.push_back(std::move(program));
  Contents contents = withImage(std::move(m));
  contents.records.push_back(ownedRecord("weights/0", std::move(bytes)));
  contents.records.push_back(textRecord("ir/program.txt", "y = (x * 2 + bias) * 3 + bias\n"));
  return contents;
}

std::string temporaryFolder() {
  struct Folder {
    std::string path;
    Folder() {
      std::string pattern =
          (std::filesystem::temp_directory_path() / "pellucid-test-XXXXXX").string();
      path = mkdtemp(pattern.data());
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

} // namespace pellucid::test
