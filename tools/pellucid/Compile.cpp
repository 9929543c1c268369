// SPDX-License-Identifier: Apache-2.0
#include "driver/Compile.h"
#include "CommandLine.h"
#include "ModelLine.h"
#include "PackageFile.h"
#include "Tune.h"
#include "VerifyFusion.h"
#include "package/PackageWriter.h"
#include "passes/graph/StateAsInputs.h"
#include "support/Printable.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace pellucid::cli {

namespace {

nlohmann::json compiledJson(const std::vector<VerifiedKernel> &kernels) {
  nlohmann::json list = nlohmann::json::array();
  for (const VerifiedKernel &kernel : kernels)
    list.push_back({{"kernel", kernel.kernel},
                    {"value", kernel.value},
                    {"max_error", kernel.error},
                    {"allowed", kernel.allowed},
                    {"ok", kernel.passed()}});
  return list;
}

void printCompiled(const std::vector<VerifiedKernel> &kernels) {
  for (const VerifiedKernel &kernel : kernels)
    std::printf("verified  %-28s as %-20s max error %.3g (allowed %.3g)\n", kernel.kernel.c_str(),
                kernel.value.c_str(), kernel.error, kernel.allowed);
}

/// The first fused kernel that computes something else than what it stands for.
const VerifiedKernel *firstWrong(const std::vector<VerifiedKernel> &kernels) {
  auto wrong = std::find_if(kernels.begin(), kernels.end(),
                            [](const VerifiedKernel &k) { return !k.passed(); });
  return wrong == kernels.end() ? nullptr : &*wrong;
}

} // namespace

/// With --state-as-inputs: what the buffers that change hold before the first call.
static void writeState(const graph::Program &program, const std::string &folder) {
  std::vector<Array> arrays;
  std::vector<ArrayToWrite> files;
  std::vector<std::string> names = passes::changedBuffers(program);
  for (const std::string &name : names) {
    const graph::Weight &weight = program.weights.at(name);
    Array &array = arrays.emplace_back(makeArray(weight.dtype, weight.shape));
    if (weight.bytes)
      std::memcpy(array.data(), weight.data.get(), weight.bytes);
  }
  for (size_t i = 0; i < names.size(); ++i)
    files.push_back({&arrays[i], stateFile(folder, names[i])});
  writeArrays(files);
}

/// Kernels that were generated for convolutions of f32; what users' kernels multiply is theirs.
static bool multipliesTf32(const package::Manifest &manifest) {
  return std::any_of(manifest.kernels.begin(), manifest.kernels.end(), [](const auto &kernel) {
    return kernel.sourceFile.starts_with("<generated") &&
           kernel.numerics.find("dot=tf32") != std::string::npos;
  });
}

int runCompile(Words words) {
  VerbLine line("compile", "Makes a package of a model or a saved program.",
                "pellucid compile examples/silu_model.py:Model --input 'x=f32[batch:1..1024,128]' "
                "-o model.plc");
  std::string state;
  ModelOptions model;
  std::string out, targets = "cpu";
  bool noFusion = false, noFma = false, noTf32 = false, tf32Products = false, deterministic = false,
       verify = false, verifyEach = false, asInputs = false;
  model.addTo(line);
  line.add("-o,--output", out, "the package to write (required)").valueText("FILE").required();
  line.add("--target", targets, "cpu (every level), cpu:x86-64-v3, cuda:sm_90; a comma list")
      .valueText("TARGETS");
  line.addFlag("--no-fusion", noFusion, "leave pointwise operators outside of the users' kernels");
  line.addFlag("--no-fma", noFma,
               "round products before they are added; otherwise a*b+c is one fma, as in Triton");
  line.addFlag("--no-tf32", noTf32,
               "convolutions of f32 on a device multiply f32; otherwise tf32, as PyTorch's do");
  line.addFlag("--tf32-products", tf32Products,
               "products of matrices of f32 on a device multiply tf32, as after "
               "torch.set_float32_matmul_precision('high')");
  line.addFlag("--deterministic", deterministic,
               "the same bits at every run: scatters on a device add in a fixed order, which takes "
               "longer; otherwise as the programs come, as PyTorch's do");
  line.addFlag("--verify", verify,
               "run every fused kernel and the operators it stands for on random inputs "
               "first, and write nothing "
               "when they differ");
  line.addFlag("--verify-each", verifyEach,
               "check the program after every pass; what it finds is a bug of the compiler");
  line.addFlag("--state-as-inputs", asInputs,
               "buffers that the model changes are inputs that a call writes to, instead of state "
               "that an instance of the package owns");
  line.add("--state", state, "with --state-as-inputs: write their initial values, NAME.npy each")
      .valueText("DIR")
      .needs(line.option("--state-as-inputs"));
  std::string tune;
  line.add("--tune", tune,
           "time the configs of @triton.autotune on this machine, at the example sizes, and keep "
           "what "
           "is chosen there; what the file has is not timed again")
      .valueText("FILE");
  if (!line.parse(words))
    return line.exitCode();
  driver::CompileOptions options;
  options.verifyEach = verifyEach;
  std::string error;
  if (!parseTargets(targets, options.targets, error))
    return refuse("--target " + targets, error);
  model.targets = options.targets;
  options.fuseIntoKernels = !noFusion;
  options.fpContract = !noFma;
  options.tf32 = !noTf32;
  options.tf32Products = tf32Products;
  options.deterministic = deterministic;
  options.stateAsInputs = asInputs;
  size_t slash = model.model.rfind('/');
  options.name = model.model.substr(slash == std::string::npos ? 0 : slash + 1);
  model.checkOutput(out);
  if (!state.empty() && !std::filesystem::is_directory(state))
    return refuse("--state " + state, "is not a folder");
  auto start = std::chrono::steady_clock::now();
  std::optional<ConfigTimer> timer;
  if (!tune.empty()) {
    if (!model.isPython() && !model.isArchive())
      return refuse("--tune " + tune, "is for models; the launches of a saved program are settled");
    timer.emplace(tune, options.targets);
    model.chooseConfig = [&](const trace::TuneQuestion &q) { return timer->choose(q); };
  }
  graph::Program program = loadModel(model);
  if (timer)
    timer->save();
  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  if (!driver::compileProgram(program, options, contents, report, diagnostics))
    return refuse(diagnostics);
  std::vector<VerifiedKernel> verified;
  if (verify && options.fuseIntoKernels)
    verified = verifyFusion(program, options);
  if (const VerifiedKernel *wrong = firstWrong(verified)) {
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "an error of %.3g, more than %.3g", wrong->error,
                  wrong->allowed);
    return refuse(model.model, "fused kernel '" + wrong->kernel + "' computes '" + wrong->value +
                                   "' with " + numbers + "; compile with --no-fusion");
  }
  if (package::Status status = package::writePackage(contents, out); !status.ok())
    return refuse(out, status.message());
  if (!state.empty())
    writeState(program, state);
  model.printNotes();
  if (std::string note = driver::stateNote(program, options); !note.empty())
    std::fputs(("note: " + printable(note) + "\n").c_str(), stderr);
  if (multipliesTf32(contents.manifest))
    std::fputs(
        "note: convolutions of float32 multiply tf32 on the device, as PyTorch lets cuDNN by "
        "default; --no-tf32 keeps them float32\n",
        stderr);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  size_t fused = 0;
  for (const auto &edge : report.edges)
    fused += edge.fused;
  if (line.json()) {
    nlohmann::json stages;
    for (const auto &time : report.times)
      stages[time.stage] = time.seconds;
    nlohmann::json summary{{"package", out},
                           {"seconds", seconds},
                           {"stages", stages},
                           {"kernels", contents.manifest.kernels.size()},
                           {"fused_edges", fused}};
    if (verify)
      summary["verified"] = compiledJson(verified);
    printJson(summary);
  } else {
    printCompiled(verified);
    std::printf("%s: %zu kernel(s), %zu edge(s) fused, %.3f s\n", out.c_str(),
                contents.manifest.kernels.size(), fused, seconds);
  }
  return Ok;
}

} // namespace pellucid::cli
