// SPDX-License-Identifier: Apache-2.0
#include "ModelLine.h"

#include "driver/InputSpec.h"
#include "graph/ProgramFile.h"
#include "support/OutputFile.h"
#include "trace/TraceModel.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace pellucid::cli {

void ModelOptions::addTo(CLI::App &app) {
  app.add_option("MODEL", model, "FILE.py:CLASS, FILE.py:FUNCTION, or a saved program")->required();
  addRepeated(app, "--input", inputs,
              "an input, such as x=bf16[batch:1..1024,128]; batch=8:1..1024 also says which size "
              "the trace follows")
      ->option_text("NAME=TYPE[DIMS]");
  app.add_option("--init", init, "constructor arguments, such as dim=96,raw=True (Python literals)")
      ->option_text("NAME=VALUE,…");
  app.add_option("--dtype", dtype, "element type of the parameters, as model.to(dtype)")
      ->option_text("TYPE");
  app.add_option("--weights", weights, ".safetensors or .npz file with the state_dict")
      ->option_text("FILE");
  app.add_option("--seed", seed, "of the parameters where no --weights are given")
      ->option_text("N");
  app.add_option("--path", path, "a folder that absolute imports are looked up in")
      ->option_text("DIR");
  auto *strictFlag = app.add_flag("--strict", strict,
                                  "decide every branch for the whole range of every dynamic dim");
  app.add_flag("--non-strict", nonStrict, "follow the example sizes (default)")
      ->excludes(strictFlag);
}

bool ModelOptions::isPython() const { return model.find(".py:") != std::string::npos; }

void ModelOptions::checkOutput(const std::string &out) const {
  refuseSameFile(out, out, isPython() ? splitTarget(model, "NAME").first : model);
  if (!weights.empty())
    refuseSameFile(out, out, weights);
  if (OutputFile file(out); !file.error().empty())
    throw DiagnosticError(SourceLocation(out), "cannot be written: " + file.error());
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

/// `dim=96,raw=True` at its top-level commas.
static std::vector<std::pair<std::string, std::string>> splitInit(const std::string &text) {
  std::vector<std::pair<std::string, std::string>> out;
  std::string word;
  int nesting = 0;
  char quote = 0;
  auto finish = [&] {
    size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw DiagnosticError(SourceLocation("--init " + text),
                            "expected NAME=LITERAL at '" + word + "'");
    out.emplace_back(word.substr(0, equals), word.substr(equals + 1));
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

static graph::Program tracePython(const ModelOptions &options) {
  auto [path, name] = splitTarget(options.model, "NAME");
  std::vector<driver::InputSpec> specs;
  for (const std::string &text : options.inputs) {
    std::string error;
    auto spec = driver::parseInputSpec(text, error);
    if (!spec)
      throw DiagnosticError(SourceLocation("--input " + text), error);
    specs.push_back(std::move(*spec));
  }
  symbolic::SymbolTable symbols;
  std::string error;
  if (!driver::declareSymbols(specs, symbols, error))
    throw DiagnosticError(SourceLocation("--input"), error);
  trace::TraceOptions trace;
  trace.strict = options.strict;
  if (!options.path.empty())
    trace.roots.push_back(options.path);
  if (!options.dtype.empty()) {
    trace.dtype = dataTypeNamed(options.dtype);
    if (!trace.dtype || !isFloat(*trace.dtype))
      throw DiagnosticError(SourceLocation("--dtype " + options.dtype),
                            "is no floating element type; f32, f16, bf16 and f64 are");
  }
  if (!options.init.empty())
    trace.init = splitInit(options.init);
  trace.seed = options.seed;
  if (!options.weights.empty())
    trace.weights = graph::loadWeights(options.weights);
  trace.warn = [](Diagnostic d) { std::fputs(render(d).c_str(), stderr); };
  std::vector<trace::TraceInput> inputs;
  for (const driver::InputSpec &spec : specs) {
    std::vector<graph::Expr> shape;
    for (const driver::InputDim &dim : spec.dims) {
      shape.push_back(dim.symbol.empty() ? graph::Expr(dim.size) : graph::Expr::symbol(dim.symbol));
      if (!dim.symbol.empty() && !dim.example && !options.strict)
        options.notes += "note: " + dim.symbol + " is " +
                         std::to_string(*symbols.find(dim.symbol)->hint) + " in the example\n";
    }
    inputs.push_back({spec.name, graph::TensorType(spec.dtype, shape)});
  }
  try {
    return trace::traceModel(path, name, inputs, symbols, trace);
  } catch (DiagnosticError &error) {
    if (error.diagnostic.location.known())
      throw;
    // A call that the command line makes stands in no file.
    error.diagnostic.location = SourceLocation(options.model);
    throw DiagnosticError(error.diagnostic);
  }
}

graph::Program loadModel(const ModelOptions &options) {
  if (options.isPython())
    return tracePython(options);
  for (auto [given, flag] : {std::pair{!options.inputs.empty(), "--input"},
                             {!options.init.empty(), "--init"},
                             {!options.dtype.empty(), "--dtype"}})
    if (given)
      throw DiagnosticError(SourceLocation(flag), "is for Python models; '" + options.model +
                                                      "' is a file whose inputs are fixed");
  return graph::loadProgram(options.model);
}

} // namespace pellucid::cli
