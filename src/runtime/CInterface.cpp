// SPDX-License-Identifier: Apache-2.0
/// runtime.h over LoadedPackage: checks pointers, catches what the standard library throws, keeps
/// the last error.
#include "package/ValidateManifest.h"
#include "runtime/LoadedPackage.h"
#include "runtime/Profile.h"
#include "runtime/SystemDescription.h"
#include "support/PlainNumbers.h"

#include <pellucid/runtime.h>

#include <algorithm>
#include <cstring>
#include <new>

using namespace pellucid;
using namespace pellucid::runtime;

/// Null until the thread's first error. A pointer, because programs unload packages in destructors
/// of static objects, when the thread's objects that have destructors are gone.
static thread_local std::string *lastError = nullptr;

static void setLastError(const std::string &message) {
  struct Owner {
    ~Owner() {
      delete lastError;
      lastError = nullptr;
    }
  };
  if (!lastError) {
    static thread_local Owner owner;
    (void)owner;
    lastError = new std::string;
  }
  *lastError = message;
}

static pellucid_status report(const Result &result) noexcept {
  try {
    if (!result.ok())
      setLastError(result.message());
    else if (lastError)
      lastError->clear();
  } catch (...) {
    return result.ok() ? PELLUCID_OUT_OF_MEMORY : result.code();
  }
  return result.code();
}

/// The only exceptions left are the standard library's: no memory, or no room for a request's size.
static pellucid_status guarded(auto body) noexcept {
  // Kernels compute the same whatever the caller's thread has set, on it as on the pool's threads.
  PlainArithmetic arithmetic;
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return report(Result::error(PELLUCID_OUT_OF_MEMORY, "out of memory"));
  } catch (const std::exception &error) {
    return report(Result::error(PELLUCID_INTERNAL_ERROR, error.what()));
  } catch (...) {
    return report(Result::error(PELLUCID_INTERNAL_ERROR, "unknown exception"));
  }
}

static LoadedPackage *unwrap(pellucid_package *package) {
  return reinterpret_cast<LoadedPackage *>(package);
}
static const LoadedPackage *unwrap(const pellucid_package *package) {
  return reinterpret_cast<const LoadedPackage *>(package);
}

/// No struct of options comes near it: what says it is larger was never set.
static constexpr size_t mostOptionBytes = 4096;

/// The caller's options as ours: what its version of the struct lacks is zero.
template <typename Options> static Result takeOptions(const Options *given, Options &out) {
  std::memset(&out, 0, sizeof(out));
  if (!given)
    return {};
  if (given->struct_size < sizeof(size_t) || given->struct_size > mostOptionBytes)
    return Result::invalid("the options' struct_size is " + std::to_string(given->struct_size) +
                           ", must be sizeof the struct");
  const unsigned char *begin = reinterpret_cast<const unsigned char *>(given);
  for (size_t i = sizeof(Options); i < given->struct_size; ++i)
    if (begin[i] != 0)
      return Result::invalid(
          "the options have a field that this version of the run time does not know");
  std::memcpy(&out, given, std::min(given->struct_size, sizeof(out)));
  return {};
}

static Result takeRunOptions(const pellucid_run_options *given, pellucid_run_options &out) {
  if (Result result = takeOptions(given, out); !result.ok())
    return result;
  if (out.threads < 0)
    return Result::invalid("the option threads is " + std::to_string(out.threads) +
                           ", must not be negative");
  if (out.timeout_ms < 0)
    return Result::invalid("the option timeout_ms is " + std::to_string(out.timeout_ms) +
                           ", must not be negative");
  if (out.guard < 0 || out.guard > PELLUCID_GUARD_BEGIN)
    return Result::invalid("the option guard is " + std::to_string(out.guard) +
                           ", must be 0, PELLUCID_GUARD_END (1) or PELLUCID_GUARD_BEGIN (2)");
  if (out.allocator && (!out.allocator->allocate || !out.allocator->release))
    return Result::invalid("the allocator lacks a function");
  return {};
}

static Result loadOptions(const pellucid_load_options *given, LoadOptions &out) {
  pellucid_load_options options;
  if (Result result = takeOptions(given, options); !result.ok())
    return result;
  out.verify = options.verify != 0;
  return options.target ? parseLoadTarget(options.target, out) : Result();
}

static pellucid_status load(const pellucid_load_options *given, pellucid_package **out,
                            auto open) noexcept {
  return guarded([&]() -> Result {
    if (!out)
      return Result::invalid("the place for the package is null");
    *out = nullptr;
    LoadOptions options;
    if (Result result = loadOptions(given, options); !result.ok())
      return result;
    std::unique_ptr<LoadedPackage> package;
    if (Result result = open(options, package); !result.ok())
      return result;
    *out = reinterpret_cast<pellucid_package *>(package.release());
    return {};
  });
}

pellucid_status pellucid_load(const char *path, pellucid_package **out) {
  return pellucid_load_with(path, nullptr, out);
}

pellucid_status pellucid_load_with(const char *path, const pellucid_load_options *options,
                                   pellucid_package **out) {
  return load(options, out, [&](const LoadOptions &o, std::unique_ptr<LoadedPackage> &package) {
    return path ? LoadedPackage::load(path, o, package) : Result::invalid("the path is null");
  });
}

pellucid_status pellucid_load_memory(const void *data, size_t bytes,
                                     const pellucid_load_options *options, pellucid_package **out) {
  return load(options, out, [&](const LoadOptions &o, std::unique_ptr<LoadedPackage> &package) {
    return data ? LoadedPackage::loadMemory({static_cast<const uint8_t *>(data), bytes}, o, package)
                : Result::invalid("the data is null");
  });
}

pellucid_status pellucid_unload(pellucid_package *package) {
  return guarded([&]() -> Result {
    delete unwrap(package);
    return {};
  });
}

const char *pellucid_describe(const pellucid_package *package) {
  const char *text = nullptr;
  guarded([&]() -> Result {
    if (!package)
      return Result::invalid("the package is null");
    text = unwrap(package)->description().c_str();
    return {};
  });
  return text;
}

size_t pellucid_input_count(const pellucid_package *package) {
  return package ? unwrap(package)->manifest().inputs.size() : 0;
}

size_t pellucid_output_count(const pellucid_package *package) {
  return package ? unwrap(package)->manifest().outputs.size() : 0;
}

size_t pellucid_state_count(const pellucid_package *package) {
  return package ? unwrap(package)->manifest().state.size() : 0;
}

const char *pellucid_state_name(const pellucid_package *package, size_t index) {
  return index < pellucid_state_count(package)
             ? unwrap(package)->manifest().state[index].name.c_str()
             : nullptr;
}

/// What every call begins with: `body(package, inputs, options)` gets them checked.
static pellucid_status call(pellucid_package *package, const DLTensor *inputs, size_t inputCount,
                            const void *outputs, size_t outputCount,
                            const pellucid_run_options *given, auto body) noexcept {
  return guarded([&]() -> Result {
    if (!package)
      return Result::invalid("the package is null");
    if (!inputs && inputCount)
      return Result::invalid("the array of inputs is null");
    if (!outputs && outputCount)
      return Result::invalid("the array of outputs is null");
    pellucid_run_options options;
    if (Result result = takeRunOptions(given, options); !result.ok())
      return result;
    return body(*unwrap(package), std::span(inputs, inputCount), options);
  });
}

pellucid_status pellucid_run(pellucid_package *package, const DLTensor *inputs, size_t input_count,
                             DLManagedTensorVersioned **outputs, size_t output_count,
                             const pellucid_run_options *given) {
  return call(package, inputs, input_count, outputs, output_count, given,
              [&](LoadedPackage &loaded, auto tensors, const pellucid_run_options &options) {
                return loaded.run(tensors, {outputs, output_count}, &options);
              });
}

pellucid_status pellucid_run_into(pellucid_package *package, const DLTensor *inputs,
                                  size_t input_count, const DLTensor *outputs, size_t output_count,
                                  const pellucid_run_options *given) {
  return call(package, inputs, input_count, outputs, output_count, given,
              [&](LoadedPackage &loaded, auto tensors, const pellucid_run_options &options) {
                return loaded.runInto(tensors, {outputs, output_count}, &options);
              });
}

static Result prepare(const LoadedPackage &package, std::span<const DLTensor> inputs,
                      std::span<const DLTensor> outputs, Instance *instance, pellucid_call **out) {
  if (!out)
    return Result::invalid("the place for the call is null");
  std::unique_ptr<PreparedCall> prepared;
  Result result = package.prepareCall(inputs, outputs, prepared, instance);
  *out = reinterpret_cast<pellucid_call *>(prepared.release());
  return result;
}

pellucid_status pellucid_call_create(pellucid_package *package, const DLTensor *inputs,
                                     size_t input_count, const DLTensor *outputs,
                                     size_t output_count, pellucid_call **out) {
  if (out)
    *out = nullptr;
  return call(package, inputs, input_count, outputs, output_count, nullptr,
              [&](LoadedPackage &loaded, auto tensors, const pellucid_run_options &) -> Result {
                return prepare(loaded, tensors, {outputs, output_count}, nullptr, out);
              });
}

pellucid_status pellucid_call_run(pellucid_call *prepared, const pellucid_run_options *given) {
  return guarded([&]() -> Result {
    if (!prepared)
      return Result::invalid("the call is null");
    pellucid_run_options options;
    if (Result result = takeRunOptions(given, options); !result.ok())
      return result;
    return reinterpret_cast<PreparedCall *>(prepared)->run(options);
  });
}

void pellucid_call_destroy(pellucid_call *prepared) {
  delete reinterpret_cast<PreparedCall *>(prepared);
}

static Instance *unwrap(pellucid_instance *instance) {
  return reinterpret_cast<Instance *>(instance);
}

static Result instanceOptions(const pellucid_instance_options *given, InstanceOptions &out) {
  pellucid_instance_options options;
  if (Result result = takeOptions(given, options); !result.ok())
    return result;
  out.device = options.device;
  out.restore = options.restore_on_failure != 0;
  return {};
}

pellucid_status pellucid_instance_create(pellucid_package *package,
                                         const pellucid_instance_options *given,
                                         pellucid_instance **out) {
  return guarded([&]() -> Result {
    if (!out)
      return Result::invalid("the place for the instance is null");
    *out = nullptr;
    if (!package)
      return Result::invalid("the package is null");
    InstanceOptions options;
    if (Result result = instanceOptions(given, options); !result.ok())
      return result;
    std::unique_ptr<Instance> made;
    Result result = unwrap(package)->makeInstance(options, made);
    *out = reinterpret_cast<pellucid_instance *>(made.release());
    return result;
  });
}

void pellucid_instance_destroy(pellucid_instance *instance) { delete unwrap(instance); }

/// `body(instance)` of an instance that is there.
static pellucid_status withInstance(pellucid_instance *instance, auto body) noexcept {
  return guarded([&]() -> Result {
    return instance ? body(*unwrap(instance)) : Result::invalid("the instance is null");
  });
}

/// As `call`, with the instance's package.
static pellucid_status instanceCall(pellucid_instance *instance, const DLTensor *inputs,
                                    size_t inputCount, const void *outputs, size_t outputCount,
                                    const pellucid_run_options *given, auto body) noexcept {
  if (!instance)
    return report(Result::invalid("the instance is null"));
  auto *package = reinterpret_cast<pellucid_package *>(
      const_cast<LoadedPackage *>(&unwrap(instance)->package()));
  return call(package, inputs, inputCount, outputs, outputCount, given, body);
}

pellucid_status pellucid_instance_run(pellucid_instance *instance, const DLTensor *inputs,
                                      size_t input_count, DLManagedTensorVersioned **outputs,
                                      size_t output_count, const pellucid_run_options *given) {
  return instanceCall(
      instance, inputs, input_count, outputs, output_count, given,
      [&](LoadedPackage &loaded, auto tensors, const pellucid_run_options &options) {
        return loaded.run(tensors, {outputs, output_count}, &options, unwrap(instance));
      });
}

pellucid_status pellucid_instance_run_into(pellucid_instance *instance, const DLTensor *inputs,
                                           size_t input_count, const DLTensor *outputs,
                                           size_t output_count, const pellucid_run_options *given) {
  return instanceCall(
      instance, inputs, input_count, outputs, output_count, given,
      [&](LoadedPackage &loaded, auto tensors, const pellucid_run_options &options) {
        return loaded.runInto(tensors, {outputs, output_count}, &options, unwrap(instance));
      });
}

pellucid_status pellucid_instance_call_create(pellucid_instance *instance, const DLTensor *inputs,
                                              size_t input_count, const DLTensor *outputs,
                                              size_t output_count, pellucid_call **out) {
  if (out)
    *out = nullptr;
  return instanceCall(
      instance, inputs, input_count, outputs, output_count, nullptr,
      [&](LoadedPackage &loaded, auto tensors, const pellucid_run_options &) -> Result {
        return prepare(loaded, tensors, {outputs, output_count}, unwrap(instance), out);
      });
}

pellucid_status pellucid_instance_reset(pellucid_instance *instance) {
  return withInstance(instance, [](Instance &held) { return held.reset(); });
}

pellucid_status pellucid_instance_load(pellucid_instance *instance, const char *path) {
  return withInstance(instance, [&](Instance &held) {
    return path ? held.load(path) : Result::invalid("the path is null");
  });
}

pellucid_status pellucid_instance_save(pellucid_instance *instance, const char *path) {
  return withInstance(instance, [&](Instance &held) {
    return path ? held.save(path) : Result::invalid("the path is null");
  });
}

pellucid_status pellucid_instance_state(pellucid_instance *instance, size_t index, DLTensor *out) {
  return withInstance(instance, [&](Instance &held) {
    return out ? held.tensor(index, *out) : Result::invalid("the place for the tensor is null");
  });
}

static Result copyShapes(const std::vector<std::vector<int64_t>> &all, int32_t *ranks,
                         int64_t *shapes, size_t room) {
  if (room != all.size())
    return Result::invalid("room for " + std::to_string(room) + " outputs given, the package has " +
                           std::to_string(all.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    if (!shapes && !all[i].empty())
      return Result::invalid("the array of shapes is null");
    ranks[i] = static_cast<int32_t>(all[i].size());
    std::copy(all[i].begin(), all[i].end(), shapes + i * package::maxRank);
  }
  return {};
}

pellucid_status pellucid_output_shapes(pellucid_package *package, const DLTensor *inputs,
                                       size_t input_count, int32_t *ranks, int64_t *shapes,
                                       size_t output_count) {
  return call(package, inputs, input_count, ranks, output_count, nullptr,
              [&](LoadedPackage &loaded, auto tensors, const pellucid_run_options &) -> Result {
                std::vector<std::vector<int64_t>> all;
                if (Result result = loaded.outputShapes(tensors, all); !result.ok())
                  return result;
                return copyShapes(all, ranks, shapes, output_count);
              });
}

const char *pellucid_last_error(void) { return lastError ? lastError->c_str() : ""; }

pellucid_status pellucid_profile_create(pellucid_profile **out) {
  return guarded([&]() -> Result {
    if (!out)
      return Result::invalid("the place for the profile is null");
    *out = reinterpret_cast<pellucid_profile *>(new Profile);
    return {};
  });
}

void pellucid_profile_destroy(pellucid_profile *profile) {
  delete reinterpret_cast<Profile *>(profile);
}

const char *pellucid_profile_json(pellucid_profile *profile) {
  const char *text = nullptr;
  guarded([&]() -> Result {
    if (!profile)
      return Result::invalid("the profile is null");
    text = reinterpret_cast<Profile *>(profile)->json().c_str();
    return {};
  });
  return text;
}

const char *pellucid_describe_system(void) {
  const char *text = nullptr;
  guarded([&]() -> Result {
    text = describeSystem().c_str();
    return {};
  });
  return text;
}

const char *pellucid_version(void) { return PELLUCID_VERSION; }

void pellucid_package_versions(uint32_t *format_version, uint32_t *abi_version) {
  if (format_version)
    *format_version = package::formatVersion;
  if (abi_version)
    *abi_version = package::abiVersion;
}
