// SPDX-License-Identifier: Apache-2.0
#include "driver/LoadModel.h"

#include "driver/InputSpec.h"
#include "graph/ProgramFile.h"
#include "package/FileKind.h"
#include "package/MappedFile.h"
#include "trace/TraceModel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace pellucid::driver {

namespace {

/// `dim=96,raw=True` at its top-level commas.
std::vector<std::pair<std::string, std::string>> splitInit(const std::string &text) {
  std::vector<std::pair<std::string, std::string>> out;
  std::string word;
  int nesting = 0;
  char quote = 0;
  auto finish = [&] {
    word.erase(0, word.find_first_not_of(' '));
    size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw DiagnosticError(SourceLocation("--init " + text),
                            "expected NAME=LITERAL at '" + word + "'");
    out.emplace_back(word.substr(0, word.find_last_not_of(' ', equals - 1) + 1),
                     word.substr(equals + 1));
    word.clear();
  };
  for (char c : text) {
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    nesting += !quote && (c == '(' || c == '[' || c == '{')   ? 1
               : !quote && (c == ')' || c == ']' || c == '}') ? -1
                                                              : 0;
    if (c == ',' && nesting == 0 && !quote)
      finish();
    else
      word += c;
  }
  if (!word.empty())
    finish();
  return out;
}

std::vector<InputSpec> parseInputs(const std::vector<std::string> &texts) {
  std::vector<InputSpec> specs;
  for (const std::string &text : texts) {
    std::string error;
    auto spec = parseInputSpec(text, error);
    if (!spec)
      throw DiagnosticError(SourceLocation("--input " + text), error);
    specs.push_back(std::move(*spec));
  }
  return specs;
}

/// Without --device a GPU, where one is among the targets; the oldest of them, whose choices all
/// have.
trace::AssumedDevice assumedDevice(const ModelRequest &request) {
  trace::AssumedDevice assumed;
  std::optional<uint32_t> oldest;
  for (const Target &target : request.targets)
    if (target.kind == Target::Kind::Cuda)
      oldest = std::min(oldest.value_or(target.sm), target.sm);
  assumed.device = !request.device.empty() ? request.device : oldest ? "cuda" : "cpu";
  assumed.generation = oldest.value_or(assumed.generation);
  return assumed;
}

trace::TraceOptions traceOptions(const ModelRequest &request, const ModelMessages &messages) {
  trace::TraceOptions options;
  options.strict = request.strict;
  options.train = request.train;
  options.roots = request.paths;
  if (!request.device.empty() && request.device != "cpu" && request.device != "cuda")
    throw DiagnosticError(SourceLocation("--device " + request.device), "is neither cpu nor cuda");
  options.device = assumedDevice(request);
  for (const Target &target : request.targets) {
    std::string device = target.kind == Target::Kind::Cuda ? "cuda" : "cpu";
    if (std::find(options.kernelDevices.begin(), options.kernelDevices.end(), device) ==
        options.kernelDevices.end())
      options.kernelDevices.push_back(device);
  }
  if (!request.dtype.empty()) {
    options.dtype = dataTypeNamed(request.dtype);
    if (!options.dtype || !isFloat(*options.dtype))
      throw DiagnosticError(SourceLocation("--dtype " + request.dtype),
                            "is not a floating-point type; f32, f16, bf16 and f64 are");
  }
  if (!request.init.empty())
    options.init = splitInit(request.init);
  options.seed = request.seed.value_or(0);
  if (!request.weights.empty())
    options.weights = graph::loadWeights(request.weights);
  if (!request.weights.empty() && options.weights.empty())
    throw DiagnosticError(SourceLocation(request.weights), "the file holds no tensors");
  options.strictWeights = !request.looseWeights;
  options.warn = messages.warn;
  options.note = messages.note;
  options.chooseConfig = messages.chooseConfig;
  options.hostSteps = request.hostSteps;
  options.hostBytes = request.hostMemory;
  return options;
}

trace::TraceInput traceInput(const InputSpec &spec, const symbolic::SymbolTable &symbols) {
  trace::TraceInput input;
  input.name = spec.name;
  input.key = spec.key;
  input.literal = spec.literal;
  static constexpr trace::TraceInput::Form forms[] = {
      trace::TraceInput::Form::Tensor, trace::TraceInput::Form::Literal,
      trace::TraceInput::Form::Tuple, trace::TraceInput::Form::List, trace::TraceInput::Form::Dict};
  input.form = forms[static_cast<size_t>(spec.form)];
  std::vector<graph::Expr> shape;
  for (const InputDim &dim : spec.dims)
    shape.push_back(sizeOf(dim, symbols));
  input.type = graph::TensorType(spec.dtype, shape);
  for (const InputSpec &element : spec.elements)
    input.elements.push_back(traceInput(element, symbols));
  return input;
}

std::vector<trace::TraceInput> traceInputs(const std::vector<InputSpec> &specs,
                                           const symbolic::SymbolTable &symbols) {
  std::vector<trace::TraceInput> inputs;
  for (const InputSpec &spec : specs)
    inputs.push_back(traceInput(spec, symbols));
  return inputs;
}

/// Strict follows no example, so that there is nothing to say about it.
void noteExamples(const std::vector<InputSpec> &specs, const symbolic::SymbolTable &symbols,
                  const ModelMessages &messages) {
  for (const InputSpec *spec : tensorsOf(specs))
    for (const InputDim &dim : spec->dims)
      if (!dim.symbol.empty() && !dim.example)
        messages.note((dim.factor == 1 ? "" : std::to_string(dim.factor) + "*") + dim.symbol +
                      " is " + std::to_string(*symbols.hint(sizeOf(dim, symbols))) +
                      " in the example");
}

graph::Program tracePython(const ModelRequest &request, const ModelMessages &messages) {
  auto [path, name] = splitTarget(request.model, "NAME");
  if (!request.kernels.empty())
    throw DiagnosticError(SourceLocation("--kernels " + request.kernels.front()),
                          "is for archives; a Python file imports its operators itself");
  std::vector<InputSpec> specs = parseInputs(request.inputs);
  symbolic::SymbolTable symbols;
  std::string error;
  if (!declareSymbols(specs, symbols, error))
    throw DiagnosticError(SourceLocation("--input"), error);
  trace::TraceOptions options = traceOptions(request, messages);
  if (!request.strict)
    noteExamples(specs, symbols, messages);
  try {
    return trace::traceModel(path, name, traceInputs(specs, symbols), symbols, options);
  } catch (DiagnosticError &error) {
    if (error.diagnostic.location.known())
      throw;
    // A call that the request makes stands in no file.
    error.diagnostic.location = SourceLocation(request.model);
    throw DiagnosticError(error.diagnostic);
  }
}

/// What an archive fixes cannot be given once more.
graph::Program replayArchive(const ModelRequest &request, const ModelMessages &messages) {
  ModelRequest fixed = request;
  fixed.paths.clear();
  // Operators may have a kernel for each kind of device.
  if (!request.kernels.empty())
    fixed.device.clear();
  fixed.kernels.clear();
  fixed.strict = false;
  fixed.hostSteps = fixed.hostMemory = std::nullopt;
  fixed.refuseTraceOptions("an archive");
  return trace::traceArchive(request.model, request.kernels, traceOptions(request, messages));
}

} // namespace

bool ModelRequest::isPython() const { return model.find(".py:") != std::string::npos; }

bool ModelRequest::isArchive() const {
  package::Status status;
  auto file = isPython() ? nullptr : package::MappedFile::open(model, status);
  if (!file)
    return false;
  // Of one that was cut off nothing says what it was, but its name.
  package::FileKind kind = package::fileKind(file->bytes());
  return kind == package::FileKind::TorchArchive ||
         (kind == package::FileKind::Zip && model.ends_with(".pt2"));
}

std::pair<std::string, std::string> splitTarget(const std::string &text, const char *what) {
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    throw DiagnosticError(SourceLocation(text), std::string("expected FILE.py:") + what);
  std::string path = text.substr(0, colon);
  if (::access(path.c_str(), R_OK) != 0)
    throw DiagnosticError(SourceLocation(path),
                          std::string("cannot be read: ") + std::strerror(errno));
  return {path, text.substr(colon + 1)};
}

void ModelRequest::refuseTraceOptions(const char *what) const {
  for (auto [given, flag] : {std::pair{!inputs.empty(), "--input"},
                             {!init.empty(), "--init"},
                             {!dtype.empty(), "--dtype"},
                             {!device.empty(), "--device"},
                             {!weights.empty(), "--weights"},
                             {looseWeights, "--no-strict-weights"},
                             {!paths.empty(), "--path"},
                             {!kernels.empty(), "--kernels"},
                             {seed.has_value(), "--seed"},
                             {strict, "--strict"},
                             {train, "--train"},
                             {hostSteps.has_value(), "--host-steps"},
                             {hostMemory.has_value(), "--host-memory"}})
    if (given)
      throw DiagnosticError(SourceLocation(flag), "is for Python models; '" + model + "' is " +
                                                      what + ", in which all of that is fixed");
}

static graph::Program loadAnyModel(const ModelRequest &request, const ModelMessages &messages) {
  if (request.model.ends_with(".py"))
    throw DiagnosticError(SourceLocation(request.model), "name what to take of the file: '" +
                                                             request.model + ":CLASS' or '" +
                                                             request.model + ":FUNCTION'");
  if (request.isPython())
    return tracePython(request, messages);
  if (request.isArchive())
    return replayArchive(request, messages);
  request.refuseTraceOptions("a saved program");
  return graph::loadProgram(request.model);
}

graph::Program loadModel(const ModelRequest &request, const ModelMessages &messages) {
  return loadAnyModel(request, messages);
}

} // namespace pellucid::driver
