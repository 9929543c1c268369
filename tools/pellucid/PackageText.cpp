// SPDX-License-Identifier: Apache-2.0
#include "PackageText.h"

#include "TextTable.h"
#include "package/BytecodeText.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace pellucid::cli {

namespace {

class PackageText {
public:
  explicit PackageText(const package::Manifest &manifest) : manifest(manifest) {}

  std::string tensors() const {
    TextTable table("llll");
    for (const package::Input &input : manifest.inputs)
      table.add({"input", input.name, typeText(input.dtype, input.shape),
                 ranges(input) + (input.mutated ? "written" : "")});
    for (const package::Output &output : manifest.outputs)
      table.add({"output", output.name, typeText(output.dtype, output.shape),
                 output.aliasOfInput >= 0
                     ? "is input " + manifest.inputs[size_t(output.aliasOfInput)].name
                     : ""});
    for (const package::Weight &state : manifest.state)
      table.add({"state", state.name, typeText(state.dtype, state.shape),
                 byteText(static_cast<double>(state.bytes))});
    for (const package::Guard &guard : manifest.guards)
      table.add({"rule", guard.text});
    return table.text(2);
  }

  /// "5 weights, 66.3 KiB"
  std::string weights() const {
    double bytes = 0;
    for (const package::Weight &weight : manifest.weights)
      bytes += static_cast<double>(weight.bytes);
    std::string text = manifest.weights.empty()
                           ? "no weights"
                           : counted(manifest.weights.size(), "weight") + ", " + byteText(bytes);
    return manifest.state.empty() ? text : text + ", " + stateBytes();
  }

  /// "24.0 KiB of state in each instance"
  std::string stateBytes() const {
    double bytes = 0;
    for (const package::Weight &state : manifest.state)
      bytes += static_cast<double>(state.bytes);
    return byteText(bytes) + " of state in each instance";
  }

  std::string targets() const {
    std::vector<std::string> names;
    for (const package::Kernel &kernel : manifest.kernels)
      for (const package::Executable &executable : kernel.executables)
        if (std::string name = toString(executable.target);
            std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "code for " : ", ") + name;
    return text.empty() ? "no code" : text;
  }

  std::string steps(const package::Program &program) const {
    TextTable table("llll");
    for (const package::Step &step : program.steps)
      std::visit([&](const auto &held) { add(table, held); }, step);
    for (const package::Buffer &buffer : program.buffers)
      table.add({"buffer", buffer.name, "slot " + std::to_string(buffer.slot),
                 text(buffer.bytes) + " bytes"});
    return table.text(2);
  }

  static std::string counted(size_t count, const char *noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
  }

private:
  const package::Manifest &manifest;

  std::string text(const package::Bytecode &code) const {
    return code.empty() ? "0" : package::bytecodeText(code, manifest.symbols);
  }

  std::string typeText(DataType dtype, const std::vector<package::Bytecode> &shape) const {
    std::string dims;
    for (const package::Bytecode &dim : shape)
      dims += (dims.empty() ? "" : ", ") + text(dim);
    return std::string(info(dtype).cli) + "[" + dims + "]";
  }

  static std::string typeText(DataType dtype, const std::vector<int64_t> &shape) {
    std::string dims;
    for (int64_t dim : shape)
      dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
    return std::string(info(dtype).cli) + "[" + dims + "]";
  }

  /// "batch in 1..1024; " for the symbols that are read from this input.
  std::string ranges(const package::Input &input) const {
    std::string out;
    for (const package::Symbol &symbol : manifest.symbols) {
      if (symbol.isOfRun() || &manifest.inputs[symbol.input] != &input)
        continue;
      out += out.empty() ? "" : "; ";
      out += symbol.name + (symbol.max == INT64_MAX ? " >= " + std::to_string(symbol.min)
                                                    : " in " + std::to_string(symbol.min) + ".." +
                                                          std::to_string(symbol.max));
      if (symbol.divisor > 1)
        out += ", a multiple of " + std::to_string(symbol.divisor);
    }
    return out.empty() || !input.mutated ? out : out + "; ";
  }

  std::string gridText(const package::LaunchVariant &variant) const {
    size_t used = 3;
    while (used > 1 && variant.grid[used - 1].empty())
      --used;
    std::string sizes;
    for (size_t i = 0; i < used; ++i)
      sizes += (i ? ", " : "") + (variant.grid[i].empty() ? "1" : text(variant.grid[i]));
    return "grid (" + sizes + ")";
  }

  void add(TextTable &table, const package::Launch &launch) const {
    const package::LaunchVariant &first = launch.variants.front();
    const package::Kernel &kernel = manifest.kernels[first.kernel];
    std::string source = kernel.name;
    if (kernel.sourceLine > 0)
      source += " (" + std::filesystem::path(kernel.sourceFile).filename().string() + ":" +
                std::to_string(kernel.sourceLine) + ")";
    std::string more = launch.variants.size() > 1
                           ? ", " + counted(launch.variants.size(), "variant")
                           : std::string();
    table.add({"launch", launch.label, source, gridText(first) + more});
    for (const package::LaunchVariant &variant : launch.variants)
      if (launch.variants.size() > 1)
        table.add({"", "", manifest.kernels[variant.kernel].name, conditionText(variant)});
  }

  /// When the variant is taken, if none before it was.
  std::string conditionText(const package::LaunchVariant &variant) const {
    std::string out = variant.guard.empty() ? "" : text(variant.guard);
    std::map<uint32_t, std::string> byDivisor;
    for (const package::KernelParameter &parameter : manifest.kernels[variant.kernel].parameters)
      if (parameter.divisor > 1) {
        std::string &names = byDivisor[parameter.divisor];
        names += (names.empty() ? "" : ", ") + parameter.name;
      }
    for (const auto &[divisor, names] : byDivisor)
      out += (out.empty() ? "" : "; ") + names + " % " + std::to_string(divisor) + " == 0";
    return out.empty() ? "else" : "if " + out;
  }
  void add(TextTable &table, const package::Copy &copy) const {
    table.add({"copy", "", "", text(copy.bytes) + " bytes"});
  }
  void add(TextTable &table, const package::Fill &fill) const {
    table.add({"fill", "", "", text(fill.bytes) + " bytes"});
  }
};

} // namespace

std::string packageText(const package::Manifest &manifest, const std::string &path,
                        uint64_t bytes) {
  PackageText parts(manifest);
  std::string out = path + ": " + manifest.name + ", " + byteText(static_cast<double>(bytes)) +
                    ", made by " + manifest.producer + "\n" + parts.tensors() + "\n" +
                    parts.weights() + ", " + parts.targets() + "\n";
  for (const package::Program &program : manifest.programs)
    out += std::string("\na call on ") +
           (program.device == Target::Kind::Cpu ? "the CPU" : "a CUDA device") + ": " +
           PackageText::counted(program.steps.size(), "step") + ", " +
           PackageText::counted(program.buffers.size(), "buffer") + "\n" + parts.steps(program);
  return out;
}

} // namespace pellucid::cli
