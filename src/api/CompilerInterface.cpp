// SPDX-License-Identifier: Apache-2.0
// compiler.h over the driver: takes the words, catches what is thrown, keeps the last error.
#include "api/Recording.h"
#include "driver/Compile.h"
#include "driver/LoadModel.h"
#include "package/PackageWriter.h"
#include "support/CrashHandler.h"
#include "support/PlainNumbers.h"
#include "support/Stack.h"

#include <pellucid/compiler.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace pellucid;

namespace {

/// A refusal with its status.
struct Refused {
  pellucid_status status;
  std::string text;
};

thread_local std::string lastError;

/// No struct of options comes near it: what says it is larger was never set.
constexpr size_t mostOptionBytes = 4096;
/// Below it what recurses would refuse the first thing that is nested (support/Stack.h).
constexpr size_t leastStackBytes = 320 << 10;

/// What the caller's version of the struct lacks is zero.
pellucid_compile_options takeOptions(const pellucid_compile_options *given) {
  pellucid_compile_options options;
  std::memset(&options, 0, sizeof options);
  if (!given)
    return options;
  if (given->struct_size < sizeof(size_t) || given->struct_size > mostOptionBytes)
    throw Refused{PELLUCID_INVALID_ARGUMENT, "the options' struct_size is " +
                                                 std::to_string(given->struct_size) +
                                                 ", must be sizeof the struct"};
  const auto *begin = reinterpret_cast<const unsigned char *>(given);
  for (size_t i = sizeof options; i < given->struct_size; ++i)
    if (begin[i] != 0)
      throw Refused{PELLUCID_INVALID_ARGUMENT,
                    "the options have a field that this version of the compiler does not know"};
  std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  if (options.input_count && !options.inputs)
    throw Refused{PELLUCID_INVALID_ARGUMENT, "the array of inputs is null"};
  if (options.kernel_count && !options.kernels)
    throw Refused{PELLUCID_INVALID_ARGUMENT, "the array of kernels is null"};
  return options;
}

std::string textOf(const char *text) { return text ? text : ""; }

driver::ModelRequest requestOf(const char *model, const pellucid_compile_options &options) {
  if (!model)
    throw Refused{PELLUCID_INVALID_ARGUMENT, "the model's name is null"};
  driver::ModelRequest request;
  request.model = model;
  for (size_t i = 0; i < options.input_count; ++i)
    request.inputs.push_back(textOf(options.inputs[i]));
  for (size_t i = 0; i < options.kernel_count; ++i)
    request.kernels.push_back(textOf(options.kernels[i]));
  request.init = textOf(options.init);
  request.dtype = textOf(options.dtype);
  request.weights = textOf(options.weights);
  request.looseWeights = options.no_strict_weights != 0;
  if (std::string path = textOf(options.path); !path.empty())
    request.paths.push_back(std::move(path));
  if (options.seed)
    request.seed = options.seed;
  request.strict = options.strict != 0;
  request.train = options.train != 0;
  if (options.host_steps)
    request.hostSteps = options.host_steps;
  if (options.host_memory)
    request.hostMemory = options.host_memory;
  return request;
}

package::Contents compileContents(const char *model, const pellucid_compile_options &options) {
  driver::ModelRequest request = requestOf(model, options);
  driver::CompileOptions compile;
  compile.worker = textOf(options.worker);
  compile.fuseIntoKernels = options.no_fusion == 0;
  compile.stateAsInputs = options.state_as_inputs != 0;
  compile.tf32 = (options.tf32 & PELLUCID_TF32_CONVOLUTIONS) != 0;
  compile.tf32Products = (options.tf32 & PELLUCID_TF32_PRODUCTS) != 0;
  compile.name = request.model.substr(request.model.rfind('/') + 1);
  std::string error;
  std::string target = options.target ? options.target : "cpu";
  if (!parseTargets(target, compile.targets, error))
    throw Refused{PELLUCID_INVALID_ARGUMENT, "--target " + target + ": " + error};
  request.targets = compile.targets;

  driver::ModelMessages messages;
  auto say = [&](const std::string &text) {
    if (options.message)
      options.message(options.message_state, text.c_str());
  };
  messages.warn = [&](const Diagnostic &warning) { say(render(warning)); };
  messages.note = [&](const std::string &text) { say("note: " + text); };

  package::Contents contents;
  driver::CompileReport report;
  Diagnostics diagnostics;
  std::lock_guard turn(api::traceLock());
  CrashScope lastWords("libpellucid");
  Working work("compiling", request.model);
  graph::Program program = driver::loadModel(request, messages);
  if (!driver::compileProgram(program, compile, contents, report, diagnostics))
    throw Refused{PELLUCID_INVALID_ARGUMENT, diagnostics.text()};
  if (std::string note = driver::stateNote(program, compile); !note.empty())
    say("note: " + note);
  return contents;
}

pellucid_status guarded(auto body) noexcept {
  pellucid_status status = PELLUCID_INTERNAL_ERROR;
  PlainArithmetic arithmetic;
  PlainNumbers numbers;
  try {
    try {
      if (stackIsLow(leastStackBytes))
        throw Refused{PELLUCID_INVALID_ARGUMENT,
                      "the calling thread has less than " + std::to_string(leastStackBytes >> 10) +
                          " KiB of stack left, which compiling needs: call from a thread with a "
                          "larger stack"};
      body();
      lastError.clear();
      return PELLUCID_OK;
    } catch (const Refused &refused) {
      status = refused.status;
      lastError = refused.text;
    } catch (const DiagnosticError &error) {
      status = PELLUCID_INVALID_ARGUMENT;
      lastError = error.what();
    } catch (const std::bad_alloc &) {
      status = PELLUCID_OUT_OF_MEMORY;
      lastError = "out of memory";
    } catch (const std::exception &error) {
      lastError = std::string("internal error: ") + error.what();
    } catch (...) {
      lastError = "the function that gets messages threw an exception";
    }
  } catch (...) {
    return status; // no memory for the text
  }
  return status;
}

} // namespace

pellucid_status pellucid_compile(const char *model, const char *package_path,
                                 const pellucid_compile_options *given) {
  return guarded([&] {
    pellucid_compile_options options = takeOptions(given);
    if (!package_path)
      throw Refused{PELLUCID_INVALID_ARGUMENT, "the package's path is null"};
    package::Contents contents = compileContents(model, options);
    if (package::Status status = package::writePackage(contents, package_path); !status.ok())
      throw Refused{PELLUCID_IO_ERROR, package_path + (": " + status.message())};
  });
}

pellucid_status pellucid_compile_memory(const char *model, void **data, size_t *bytes,
                                        const pellucid_compile_options *given) {
  if (data)
    *data = nullptr;
  if (bytes)
    *bytes = 0;
  return guarded([&] {
    pellucid_compile_options options = takeOptions(given);
    if (!data || !bytes)
      throw Refused{PELLUCID_INVALID_ARGUMENT, "the place for the package is null"};
    std::vector<uint8_t> package;
    if (package::Status status = packageBytes(compileContents(model, options), package);
        !status.ok())
      throw Refused{PELLUCID_INVALID_ARGUMENT, status.message()};
    // Records begin at pages, and kernels may rely on the alignment of weights in them.
    void *copy = std::aligned_alloc(4096, (package.size() + 4095) / 4096 * 4096);
    if (!copy)
      throw std::bad_alloc();
    std::memcpy(copy, package.data(), package.size());
    *data = copy;
    *bytes = package.size();
  });
}

void pellucid_compile_free(void *data) { std::free(data); }

const char *pellucid_compile_error(void) { return lastError.c_str(); }
