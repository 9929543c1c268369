// SPDX-License-Identifier: Apache-2.0
#include "PackageFile.h"

#include "CommandLine.h"

#include "DeviceMemory.h"
#include "runtime/DlpackTypes.h"
#include "support/Diagnostics.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace pellucid::cli {

namespace {

pellucid_load_options optionsFor(const char *target) {
  pellucid_load_options options{};
  options.struct_size = sizeof options;
  // Which compute capability is taken is the device's affair.
  options.target = target && isCudaTarget(target) ? "cuda" : target;
  return options;
}

} // namespace

std::vector<DLTensor> borrowTensors(const std::vector<Array> &arrays) {
  std::vector<DLTensor> out;
  for (const Array &array : arrays) {
    DLTensor tensor{};
    tensor.data = array.bytes->data();
    tensor.byte_offset = static_cast<uint64_t>(array.offset) * byteSize(array.dtype);
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(array.shape.size());
    tensor.dtype = runtime::toDlpack(array.dtype);
    // DLPack's pointers are not const, but nobody writes through them.
    tensor.shape = const_cast<int64_t *>(array.shape.data());
    tensor.strides = const_cast<int64_t *>(array.strides.data());
    out.push_back(tensor);
  }
  return out;
}

PackageFile::PackageFile(const std::string &path, const char *target, bool verify) : file(path) {
  pellucid_load_options options = optionsFor(target);
  options.verify = verify;
  if (pellucid_load_with(path.c_str(), &options, &package) != PELLUCID_OK)
    fail(path, pellucid_last_error());
  describe(target);
}

PackageFile::PackageFile(std::vector<uint8_t> bytes, const std::string &name, const char *target)
    : file(name), inMemory(std::move(bytes)) {
  pellucid_load_options options = optionsFor(target);
  if (pellucid_load_memory(inMemory.data(), inMemory.size(), &options, &package) != PELLUCID_OK)
    fail(file, pellucid_last_error());
  describe(target);
}

void PackageFile::describe(const char *target) {
  described = nlohmann::json::parse(pellucid_describe(package));
  // Code that computes nothing has no target.
  const nlohmann::json &targets = described.at("targets"), &programs = described.at("programs");
  onCuda = target && isCudaTarget(target);
  onCuda |=
      !targets.empty() && std::all_of(targets.begin(), targets.end(),
                                      [](const nlohmann::json &t) { return isCudaTarget(t); });
  onCuda |= targets.empty() && !programs.empty() &&
            std::all_of(programs.begin(), programs.end(), [](const nlohmann::json &program) {
              return isCudaTarget(program.at("device"));
            });
}

PackageFile::~PackageFile() { (void)pellucid_unload(package); }

size_t PackageFile::inputNamed(const std::string &name, const std::string &asTyped) const {
  std::string names;
  const nlohmann::json &inputs = described.at("inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].at("name") == name)
      return i;
    names += (names.empty() ? "'" : ", '") + inputs[i].at("name").get<std::string>() + "'";
  }
  fail(asTyped,
       "the package has no input '" + name + "'; it has " + (names.empty() ? "none" : names));
}

InstanceOf::InstanceOf(const PackageFile &package) {
  pellucid_instance_options options{};
  options.struct_size = sizeof options;
  options.device = {package.runsOnCuda() ? kDLCUDA : kDLCPU, 0};
  if (pellucid_instance_create(package.handle(), &options, &instance) != PELLUCID_OK)
    fail(package.path(), pellucid_last_error());
}

void InstanceOf::load(const std::string &path) {
  if (pellucid_instance_load(instance, path.c_str()) != PELLUCID_OK)
    fail("--state " + path, pellucid_last_error());
}

void InstanceOf::save(const std::string &path) {
  if (pellucid_instance_save(instance, path.c_str()) != PELLUCID_OK)
    fail("--state " + path, pellucid_last_error());
}

std::vector<Array> PackageFile::run(const std::vector<Array> &inputs,
                                    const pellucid_run_options *options,
                                    pellucid_instance *instance) const {
  std::optional<InstanceOf> made;
  if (!instance && hasState())
    instance = made.emplace(*this);
  std::vector<DLTensor> in = borrowTensors(inputs);
  std::vector<DLManagedTensorVersioned *> out(pellucid_output_count(package));
  std::optional<DeviceMemory> device;
  if (onCuda)
    device.emplace().upload(inputs, in);
  pellucid_status status =
      instance
          ? pellucid_instance_run(instance, in.data(), in.size(), out.data(), out.size(), options)
          : pellucid_run(package, in.data(), in.size(), out.data(), out.size(), options);
  if (status != PELLUCID_OK)
    fail(file, pellucid_last_error());
  // What a call writes to its inputs lies on the device still.
  for (size_t i = 0; device && i < inputs.size(); ++i)
    if (described.at("inputs")[i].value("mutated", false) && !inputs[i].bytes->empty())
      device->read(inputs[i].bytes->data(), static_cast<const char *>(in[i].data),
                   inputs[i].bytes->size());
  std::vector<Array> results;
  for (DLManagedTensorVersioned *managed : out) {
    const DLTensor &tensor = managed->dl_tensor;
    Array array = makeArray(*runtime::fromDlpack(tensor.dtype),
                            std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim));
    const char *data = static_cast<char *>(tensor.data) + tensor.byte_offset;
    // A package without code is of no device, and its results lie where the run time made them.
    bool isOnDevice = tensor.device.device_type == kDLCUDA && !array.bytes->empty();
    if (isOnDevice && !device)
      device.emplace();
    if (isOnDevice)
      device->read(array.bytes->data(), data, array.bytes->size());
    else if (!array.bytes->empty())
      std::memcpy(array.bytes->data(), data, array.bytes->size());
    if (managed->deleter)
      managed->deleter(managed);
    results.push_back(std::move(array));
  }
  return results;
}

std::string stateFile(const std::string &folder, const std::string &name) {
  if (name.find('/') != std::string::npos)
    fail(name, "cannot be the name of a file");
  return folder + "/" + name + ".npy";
}

std::vector<Array> readInputs(const PackageFile &package, std::vector<std::string> arguments,
                              const std::string &state) {
  const nlohmann::json &inputs = package.description().at("inputs");
  for (const nlohmann::json &input : inputs) {
    std::string name = input.at("name");
    bool isGiven = std::any_of(arguments.begin(), arguments.end(), [&](const std::string &text) {
      return text.starts_with(name + "=");
    });
    if (!state.empty() && input.value("mutated", false) && !isGiven)
      arguments.push_back(name + "=@" + stateFile(state, name));
  }
  std::vector<std::optional<Array>> given(inputs.size());
  for (const std::string &text : arguments) {
    std::string error;
    auto parsed = parseNamedValue(text, error);
    if (!parsed)
      fail(text, error);
    size_t index = package.inputNamed(parsed->name, text);
    const auto *tensor = std::get_if<TensorArgument>(&parsed->value);
    if (!tensor)
      fail(text, "an input is a tensor; write " + parsed->name + "=@FILE.npy");
    if (given[index])
      fail(text, "input '" + parsed->name + "' is given twice");
    given[index] = readArray(*tensor);
    DataType type = given[index]->dtype;
    std::string wanted = inputs[index].at("dtype");
    if (auto known = dataTypeNamed(wanted); known && isFloat(*known) &&
                                            byteSize(*known) == byteSize(type) &&
                                            (type == DataType::UInt8 || type == DataType::UInt16))
      fail(text, "the file holds " + std::string(info(type).cli) + ", the package takes " + wanted +
                     "; write " + parsed->name + "=@FILE.npy:" + wanted + " if these are its bits");
  }
  std::vector<Array> out;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i])
      fail("--input", "input '" + inputs[i].at("name").get<std::string>() +
                          "' is missing; give it as --input " +
                          inputs[i].at("name").get<std::string>() + "=@FILE.npy");
    out.push_back(std::move(*given[i]));
  }
  return out;
}

} // namespace pellucid::cli
