// SPDX-License-Identifier: Apache-2.0
#include "eager/Packages.h"

#include "package/PackageWriter.h"
#include "runtime/DlpackTypes.h"

namespace pellucid::eager {

using trace::ConcreteTensor;

driver::CompileOptions eagerOptions(bool contractsFma) {
  driver::CompileOptions options;
  // Only this machine's level is of use to a package that never leaves it.
  if (auto host = hostCpuLevel())
    options.targets = {{Target::Kind::Cpu, *host, 0}};
  options.fpContract = contractsFma;
  options.keepIr = false;
  return options;
}

Compiled::Compiled(const graph::Program &program, const driver::CompileOptions &options)
    : source(program.clone()) {
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  if (!driver::compileProgram(program, options, contents, report, diagnostics)) {
    for (const Diagnostic &diagnostic : diagnostics.all())
      if (diagnostic.severity == Severity::Error)
        throw DiagnosticError(diagnostic);
    throw DiagnosticError(SourceLocation("exec"), "a part of the script could not be compiled");
  }
  if (package::Status status = package::packageBytes(contents, content); !status.ok())
    throw DiagnosticError(SourceLocation("exec"), status.message());
  if (pellucid_load_memory(content.data(), content.size(), nullptr, &package) != PELLUCID_OK)
    throw DiagnosticError(SourceLocation("exec"), pellucid_last_error());
}

Compiled::~Compiled() { (void)pellucid_unload(package); }

DLTensor borrowed(const ConcreteTensor &tensor) {
  DLTensor out{};
  // DLPack's pointers are not const, but nobody writes through them.
  out.data = const_cast<std::byte *>(tensor.data.get());
  out.device = {kDLCPU, 0};
  out.ndim = static_cast<int32_t>(tensor.shape.size());
  out.dtype = runtime::toDlpack(tensor.dtype);
  out.shape = const_cast<int64_t *>(tensor.shape.data());
  out.strides = const_cast<int64_t *>(tensor.strides.data());
  return out;
}

ConcreteTensor adopted(DLManagedTensorVersioned *managed) {
  const DLTensor &t = managed->dl_tensor;
  std::shared_ptr<void> owner(managed, [](void *m) {
    auto *tensor = static_cast<DLManagedTensorVersioned *>(m);
    if (tensor->deleter)
      tensor->deleter(tensor);
  });
  ConcreteTensor out;
  out.dtype = *runtime::fromDlpack(t.dtype);
  out.shape.assign(t.shape, t.shape + t.ndim);
  out.strides.resize(out.shape.size());
  int64_t stride = 1;
  for (size_t d = out.shape.size(); d-- > 0; stride *= out.shape[d])
    out.strides[d] = t.strides ? t.strides[d] : stride;
  out.data = {owner, reinterpret_cast<const std::byte *>(runtime::dataOf(t))};
  return out;
}

static thread_local pellucid_profile *activeProfile = nullptr;

ProfileScope::ProfileScope(pellucid_profile *profile)
    : before(std::exchange(activeProfile, profile)) {}
ProfileScope::~ProfileScope() { activeProfile = before; }

pellucid_run_options scriptRunOptions() {
  pellucid_run_options options{};
  options.struct_size = sizeof options;
  options.profile = activeProfile;
  return options;
}

std::vector<ConcreteTensor> Compiled::run(const std::vector<ConcreteTensor> &inputs) const {
  std::vector<DLTensor> tensors;
  tensors.reserve(inputs.size());
  for (const ConcreteTensor &input : inputs)
    tensors.push_back(borrowed(input));
  std::vector<DLManagedTensorVersioned *> outputs(pellucid_output_count(package));
  pellucid_run_options options = scriptRunOptions();
  if (pellucid_run(package, tensors.data(), tensors.size(), outputs.data(), outputs.size(),
                   &options) != PELLUCID_OK)
    throw DiagnosticError(SourceLocation("exec"), pellucid_last_error());
  std::vector<ConcreteTensor> results;
  for (DLManagedTensorVersioned *output : outputs)
    results.push_back(adopted(output));
  return results;
}

} // namespace pellucid::eager
