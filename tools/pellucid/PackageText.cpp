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
    addSteps(table, program, 0, program.steps.size(), "");
    for (const package::Buffer &buffer : program.buffers)
      table.add({"buffer", buffer.name, "slot " + std::to_string(buffer.slot),
                 text(buffer.bytes) + " bytes"});
    return table.text(2);
  }

  static std::string counted(size_t count, const char *noun) {
    std::string text = std::to_string(count) + " " + noun;
    if (count == 1)
      return text;
    if (text.back() == 'y')
      return text.replace(text.size() - 1, 1, "ies");
    return text + "s";
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
      if (symbol.isOfRun() || symbol.isOfStep() || &manifest.inputs[symbol.input] != &input)
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

  /// What runs inside of control flow stands behind it, moved in.
  void addSteps(TextTable &table, const package::Program &program, size_t begin, size_t end,
                const std::string &indent) const {
    for (size_t at = begin; at < end; ++at) {
      const package::Step &step = program.steps[at];
      if (auto *branch = std::get_if<package::Branch>(&step)) {
        size_t middle = at + 1 + branch->whenTrue, last = middle + branch->whenFalse;
        table.add({indent + "if", branch->label,
                   branch->condition.empty() ? placeText(branch->predicate, program)
                                             : text(branch->condition)});
        addSteps(table, program, at + 1, middle, indent + "  ");
        table.add({indent + "else"});
        addSteps(table, program, middle, last, indent + "  ");
        at = last - 1;
      } else if (auto *loop = std::get_if<package::Loop>(&step)) {
        size_t middle = at + 1 + loop->conditionSteps, last = middle + loop->bodySteps;
        std::string more = loop->carries.empty() ? "" : counted(loop->carries.size(), "carry");
        if (!loop->slices.empty())
          more += (more.empty() ? "" : ", ") + counted(loop->slices.size(), "slice");
        if (loop->turns.empty()) {
          table.add({indent + "while", loop->label, placeText(loop->predicate, program), more});
          addSteps(table, program, at + 1, middle, indent + "  ");
          table.add({indent + "do"});
        } else {
          table.add({indent + "repeat", loop->label, text(loop->turns) + " times", more});
        }
        addSteps(table, program, middle, last, indent + "  ");
        at = last - 1;
      } else if (auto *launch = std::get_if<package::Launch>(&step)) {
        add(table, *launch, indent);
      } else if (auto *copy = std::get_if<package::Copy>(&step)) {
        table.add({indent + "copy", "", "", text(copy->bytes) + " bytes"});
      } else if (auto *fill = std::get_if<package::Fill>(&step)) {
        table.add({indent + "fill", "", "", text(fill->bytes) + " bytes"});
      } else if (auto *read = std::get_if<package::ReadSize>(&step)) {
        const package::Symbol &symbol = manifest.symbols[read->symbol];
        std::string most = !read->most.empty()       ? text(read->most)
                           : symbol.max == INT64_MAX ? ""
                                                     : std::to_string(symbol.max);
        table.add({indent + "read", symbol.name, placeText(read->from, program),
                   (most.empty() ? "" : "at most " + most + ", ") + read->text});
      } else if (auto *check = std::get_if<package::CheckSizes>(&step)) {
        table.add({indent + "check", "", text(check->condition), check->text});
      }
    }
  }

  std::string placeText(const package::Place &place, const package::Program &program) const {
    std::string name;
    switch (place.kind) {
    case package::PlaceKind::Input:
      name = manifest.inputs[place.index].name;
      break;
    case package::PlaceKind::Output:
      name = manifest.outputs[place.index].name;
      break;
    case package::PlaceKind::Weight:
      name = manifest.weights[place.index].name;
      break;
    case package::PlaceKind::Buffer:
      name = program.buffers[place.index].name;
      break;
    case package::PlaceKind::Window:
      name = "window " + std::to_string(place.index);
      break;
    }
    return place.byteOffset.empty() ? name : name + " + " + text(place.byteOffset);
  }

  void add(TextTable &table, const package::Launch &launch, const std::string &indent) const {
    const package::LaunchVariant &first = launch.variants.front();
    const package::Kernel &kernel = manifest.kernels[first.kernel];
    std::string source = kernel.name;
    if (kernel.sourceLine > 0)
      source += " (" + std::filesystem::path(kernel.sourceFile).filename().string() + ":" +
                std::to_string(kernel.sourceLine) + ")";
    std::string more = launch.variants.size() > 1
                           ? ", " + counted(launch.variants.size(), "variant")
                           : std::string();
    table.add({indent + "launch", launch.label, source, gridText(first) + more});
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
