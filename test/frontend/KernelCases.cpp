// SPDX-License-Identifier: Apache-2.0
#include "frontend/KernelCases.h"

namespace pellucid::test {

using frontend::ParameterSpec;

std::vector<KernelCase> casesOf(host::Interpreter &interpreter, const host::Module &module) {
  std::vector<KernelCase> out;
  const host::Value *list = module.globals->find("CASES");
  if (!list)
    return out;
  for (const host::Value &entry : interpreter.iterate(*list))
    out.push_back({entry.elements().at(0).str(), entry.elements().at(1).str()});
  return out;
}

std::shared_ptr<host::JitFunction> kernelNamed(const host::Module &module,
                                               const std::string &name) {
  const host::Value *value = module.globals->find(name);
  return value ? host::innermostKernel(*value) : nullptr;
}

static std::string trimmed(std::string text) {
  while (!text.empty() && text.front() == ' ')
    text.erase(text.begin());
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

static std::vector<std::string> splitTopLevel(const std::string &text) {
  std::vector<std::string> out(1);
  int nesting = 0;
  for (char c : text) {
    nesting += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && nesting == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  for (std::string &part : out)
    part = trimmed(part);
  if (out.size() == 1 && out[0].empty())
    out.clear();
  return out;
}

static host::Value literal(host::Interpreter &interpreter, const std::string &text) {
  if (text.starts_with("tl."))
    return host::tritonLanguageName(text.substr(3));
  return interpreter.evaluateText(std::make_shared<SourceFile>("<signature>", text));
}

static DataType typeNamed(const std::string &text) {
  static const std::pair<const char *, DataType> names[] = {{"i1", DataType::Bool},
                                                            {"i8", DataType::Int8},
                                                            {"i16", DataType::Int16},
                                                            {"i32", DataType::Int32},
                                                            {"i64", DataType::Int64},
                                                            {"u1", DataType::Bool},
                                                            {"u8", DataType::UInt8},
                                                            {"u16", DataType::UInt16},
                                                            {"u32", DataType::UInt32},
                                                            {"u64", DataType::UInt64},
                                                            {"fp16", DataType::Float16},
                                                            {"bf16", DataType::BFloat16},
                                                            {"fp32", DataType::Float32},
                                                            {"fp64", DataType::Float64},
                                                            {"fp8e4nv", DataType::Float8E4M3FN},
                                                            {"fp8e5", DataType::Float8E5M2}};
  for (const auto &[name, type] : names)
    if (text == name)
      return type;
  throw DiagnosticError(SourceLocation("signature"), "'" + text + "' is no type of an argument");
}

static ParameterSpec runtimeSpec(std::string text) {
  ParameterSpec spec;
  if (text == "None") {
    spec.kind = ParameterSpec::Kind::None;
    return spec;
  }
  if (size_t colon = text.find(':'); colon != std::string::npos) {
    spec.divisibility = static_cast<uint32_t>(std::stoul(text.substr(colon + 1)));
    text = text.substr(0, colon);
  }
  bool pointer = text.starts_with("*");
  spec.kind = pointer ? ParameterSpec::Kind::Pointer : ParameterSpec::Kind::Scalar;
  spec.dtype = typeNamed(pointer ? text.substr(1) : text);
  return spec;
}

std::vector<ParameterSpec> parseSignature(host::Interpreter &interpreter,
                                          const host::JitFunction &kernel,
                                          const std::string &text) {
  std::vector<std::optional<ParameterSpec>> specs(kernel.parameters.size());
  size_t next = 0;
  for (const std::string &entry : splitTopLevel(text)) {
    size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      while (next < specs.size() && specs[next])
        ++next;
      if (next == specs.size())
        throw DiagnosticError(SourceLocation("signature"),
                              "'" + kernel.name() + "' has no parameter left for '" + entry + "'");
      specs[next++] = runtimeSpec(entry);
      continue;
    }
    std::string name = trimmed(entry.substr(0, equals));
    size_t index = 0;
    while (index < specs.size() && kernel.parameters[index].name != name)
      ++index;
    if (index == specs.size())
      throw DiagnosticError(SourceLocation("signature"),
                            "'" + kernel.name() + "' has no parameter '" + name + "'");
    ParameterSpec spec;
    spec.kind = ParameterSpec::Kind::Constexpr;
    spec.constant = literal(interpreter, trimmed(entry.substr(equals + 1)));
    specs[index] = std::move(spec);
  }
  std::vector<ParameterSpec> out;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i] && !kernel.parameters[i].defaultValue)
      throw DiagnosticError(SourceLocation("signature"),
                            "'" + kernel.name() + "' needs '" + kernel.parameters[i].name + "'");
    if (!specs[i]) {
      specs[i].emplace();
      specs[i]->kind = ParameterSpec::Kind::Constexpr;
      specs[i]->constant = host::unwrapConstexpr(*kernel.parameters[i].defaultValue);
    }
    out.push_back(std::move(*specs[i]));
  }
  return out;
}

} // namespace pellucid::test
