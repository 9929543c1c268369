// SPDX-License-Identifier: Apache-2.0
#include "driver/LoadModel.h"

#include "driver/InputSpec.h"
#include "graph/ProgramFile.h"
#include "trace/TraceModel.h"

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

trace::TraceOptions traceOptions(const ModelRequest &request, const ModelMessages &messages) {
  trace::TraceOptions options;
  options.strict = request.strict;
  if (!request.path.empty())
    options.roots.push_back(request.path);
  if (!request.dtype.empty()) {
    options.dtype = dataTypeNamed(request.dtype);
    if (!options.dtype || !isFloat(*options.dtype))
      throw DiagnosticError(SourceLocation("--dtype " + request.dtype),
                            "is no floating element type; f32, f16, bf16 and f64 are");
  }
  if (!request.init.empty())
    options.init = splitInit(request.init);
  options.seed = request.seed.value_or(0);
  if (!request.weights.empty())
    options.weights = graph::loadWeights(request.weights);
  if (!request.weights.empty() && options.weights.empty())
    throw DiagnosticError(SourceLocation(request.weights), "the file holds no tensors");
  options.warn = messages.warn;
  return options;
}

std::vector<trace::TraceInput> traceInputs(const std::vector<InputSpec> &specs) {
  std::vector<trace::TraceInput> inputs;
  for (const InputSpec &spec : specs) {
    std::vector<graph::Expr> shape;
    for (const InputDim &dim : spec.dims)
      shape.push_back(dim.symbol.empty() ? graph::Expr(dim.size) : graph::Expr::symbol(dim.symbol));
    inputs.push_back({spec.name, graph::TensorType(spec.dtype, shape)});
  }
  return inputs;
}

/// Strict follows no example, so that there is nothing to say about it.
void noteExamples(const std::vector<InputSpec> &specs, const symbolic::SymbolTable &symbols,
                  const ModelMessages &messages) {
  for (const InputSpec &spec : specs)
    for (const InputDim &dim : spec.dims)
      if (!dim.symbol.empty() && !dim.example)
        messages.note(dim.symbol + " is " + std::to_string(*symbols.find(dim.symbol)->hint) +
                      " in the example");
}

graph::Program tracePython(const ModelRequest &request, const ModelMessages &messages) {
  auto [path, name] = splitTarget(request.model, "NAME");
  std::vector<InputSpec> specs = parseInputs(request.inputs);
  symbolic::SymbolTable symbols;
  std::string error;
  if (!declareSymbols(specs, symbols, error))
    throw DiagnosticError(SourceLocation("--input"), error);
  trace::TraceOptions options = traceOptions(request, messages);
  if (!request.strict)
    noteExamples(specs, symbols, messages);
  try {
    return trace::traceModel(path, name, traceInputs(specs), symbols, options);
  } catch (DiagnosticError &error) {
    if (error.diagnostic.location.known())
      throw;
    // A call that the request makes stands in no file.
    error.diagnostic.location = SourceLocation(request.model);
    throw DiagnosticError(error.diagnostic);
  }
}

} // namespace

bool ModelRequest::isPython() const { return model.find(".py:") != std::string::npos; }

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
                             {!weights.empty(), "--weights"},
                             {!path.empty(), "--path"},
                             {seed.has_value(), "--seed"},
                             {strict, "--strict"}})
    if (given)
      throw DiagnosticError(SourceLocation(flag), "is for Python models; '" + model + "' is " +
                                                      what + ", in which all of that is fixed");
}

graph::Program loadModel(const ModelRequest &request, const ModelMessages &messages) {
  if (request.isPython())
    return tracePython(request, messages);
  request.refuseTraceOptions("a saved program");
  return graph::loadProgram(request.model);
}

} // namespace pellucid::driver
