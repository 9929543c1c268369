// SPDX-License-Identifier: Apache-2.0
#include "ModelLine.h"

#include "driver/Compile.h"
#include "package/PackageWriter.h"
#include "support/OutputFile.h"

#include <charconv>
#include <cstdio>

namespace pellucid::cli {

// CLI11 would take -1 for 2^64 - 1.
std::string problemOfWholeNumber(const std::string &text) {
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool isWhole = problem == std::errc() && end == text.data() + text.size();
  return isWhole ? std::string() : "'" + text + "' is not an integer from 0 to 2^64 - 1";
}

void addHostLimits(VerbLine &line, std::optional<uint64_t> &steps, std::optional<uint64_t> &bytes) {
  line.add("--host-steps", steps,
           "most steps that the file's host code may take (default 20000000)")
      .valueText("N")
      .check(problemOfWholeNumber);
  line.add("--host-memory", bytes,
           "most bytes that its lists, texts and the like may hold (default 2000000000)")
      .valueText("BYTES")
      .check(problemOfWholeNumber);
}

void ModelOptions::addTo(VerbLine &line) {
  line.add("MODEL", model,
           "FILE.py:CLASS, FILE.py:FUNCTION, a saved program, or an archive of torch.export.save")
      .required();
  line.addRepeated(
          "--input", inputs,
          "an input, such as x=bf16[batch:1..1024,64*n:1..16]; batch=8:1..1024 also says which "
          "size the trace follows; a literal (p=0.5, causal=True, mask=None) is fixed, "
          "\"x={'ids': i64[8]}\" and (…) hold several")
      .valueText("NAME=TYPE[DIMS]");
  line.add("--init", init, "constructor arguments, such as dim=96,raw=True (Python literals)")
      .valueText("NAME=VALUE,…");
  line.add("--dtype", dtype, "element type of the parameters, as model.to(dtype)")
      .valueText("TYPE");
  line.add("--device", device,
           "the device that the file is told of: cpu or cuda (default where a target is a GPU), "
           "where it "
           "chooses by "
           "torch.cuda.is_available() or a tensor's device")
      .valueText("DEVICE");
  line.add("--weights", weights,
           "file with the state_dict: .safetensors, .npz, or the .index.json of several; "
           "cast to --dtype")
      .valueText("FILE");
  line.addFlag("--no-strict-weights", looseWeights,
               "load what --weights has and leave the rest as the constructor makes it");
  line.add("--seed", seed, "of the parameters where no --weights are given")
      .valueText("N")
      .check(problemOfWholeNumber);
  addHostLimits(line, hostSteps, hostMemory);
  line.addRepeated("--kernels", kernels,
                   "a file that defines triton_ops and custom_ops which an archive calls")
      .valueText("FILE.py");
  line.addRepeated("--path", paths, "a folder that absolute imports are looked up in")
      .valueText("DIR");
  Option strictFlag = line.addFlag("--strict", strict,
                                   "decide every branch for the whole range of every dynamic dim");
  line.addFlag("--train", train,
               "the model as after train() instead of eval(): a BatchNorm takes the statistics of "
               "the batch and keeps running ones as state");
  line.addFlag("--non-strict", nonStrict, "follow the example sizes (default)")
      .excludes(strictFlag);
}

void ModelOptions::checkOutput(const std::string &out) const {
  refuseSameFile(out, out, isPython() ? splitTarget(model, "NAME").first : model);
  if (!weights.empty())
    refuseSameFile(out, out, weights);
  if (OutputFile file(out); !file.error().empty())
    throw DiagnosticError(SourceLocation(out), "cannot be written: " + file.error());
}

graph::Program loadModel(const ModelOptions &options) {
  driver::ModelMessages messages;
  messages.warn = [](const Diagnostic &d) { std::fputs(render(d).c_str(), stderr); };
  messages.note = [&](const std::string &text) { options.notes += "note: " + text + "\n"; };
  messages.chooseConfig = options.chooseConfig;
  return driver::loadModel(options, messages);
}

std::vector<uint8_t> compiledBytes(const graph::Program &program, const std::string &name,
                                   std::vector<Target> targets) {
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  driver::CompileOptions options;
  options.targets = std::move(targets);
  if (!driver::compileProgram(program, options, contents, report, diagnostics))
    for (const Diagnostic &d : diagnostics.all())
      if (d.severity == Severity::Error)
        throw DiagnosticError(d);
  std::vector<uint8_t> bytes;
  if (package::Status status = package::packageBytes(contents, bytes); !status.ok())
    throw DiagnosticError(SourceLocation(name), status.message());
  return bytes;
}

} // namespace pellucid::cli
