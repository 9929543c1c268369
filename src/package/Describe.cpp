// SPDX-License-Identifier: Apache-2.0
#include "package/Describe.h"

#include "package/BytecodeText.h"
#include "package/JsonWriter.h"

#include <algorithm>

namespace pellucid::package {

namespace {
class Description {
public:
  explicit Description(const Manifest &m) : manifest(m) {}

  std::string run() {
    json.beginObject();
    json.field("name", manifest.name).field("producer", manifest.producer);
    json.field("format_version", formatVersion).field("abi_version", abiVersion);
    list("symbols", manifest.symbols);
    if (manifest.drawsRandomNumbers())
      json.field("draws_random_numbers", true);
    list("inputs", manifest.inputs);
    json.field("inputs_may_overlap", manifest.inputsMayOverlap);
    list("guards", manifest.guards);
    list("outputs", manifest.outputs);
    list("weights", manifest.weights);
    list("state", manifest.state);
    list("kernels", manifest.kernels);
    targets();
    list("programs", manifest.programs);
    json.endObject();
    return json.take() + "\n";
  }

private:
  const Manifest &manifest;
  JsonWriter json;

  template <typename T> void list(const char *key, const std::vector<T> &items) {
    json.key(key).beginArray();
    for (const T &item : items)
      add(item);
    json.endArray();
  }
  std::string text(const Bytecode &code) const { return bytecodeText(code, manifest.symbols); }
  void dims(const char *key, const std::vector<Bytecode> &shape) {
    json.key(key).beginArray();
    for (const Bytecode &dim : shape)
      json.value(text(dim));
    json.endArray();
  }

  void add(const Symbol &symbol) {
    if (symbol.isOfRun())
      return;
    json.beginObject().field("name", symbol.name).field("min", symbol.min).key("max");
    symbol.max == INT64_MAX ? json.null() : json.value(symbol.max);
    json.field("divisor", symbol.divisor);
    if (symbol.isOfStep())
      json.field("read_by_a_step", true);
    json.endObject();
  }
  void add(const Input &input) {
    json.beginObject().field("name", input.name).field("dtype", info(input.dtype).cli);
    dims("shape", input.shape);
    if (!input.contiguous)
      dims("strides", input.strides);
    json.field("mutated", input.mutated).endObject();
  }
  void add(const Guard &guard) { json.value(guard.text); }
  void add(const Output &output) {
    json.beginObject().field("name", output.name).field("dtype", info(output.dtype).cli);
    dims("shape", output.shape);
    if (output.aliasOfInput >= 0)
      json.field("alias_of", manifest.inputs[size_t(output.aliasOfInput)].name);
    json.endObject();
  }
  void add(const Weight &weight) {
    json.beginObject().field("name", weight.name).field("dtype", info(weight.dtype).cli);
    json.key("shape").beginArray();
    for (int64_t dim : weight.shape)
      json.value(dim);
    json.endArray().field("bytes", weight.bytes).field("record", weight.record).endObject();
  }
  void add(const Message &message) {
    json.beginObject().field("kind", message.kind == MessageKind::Assert ? "assert" : "print");
    json.field("text", message.text)
        .field("file", message.file)
        .field("line", message.line)
        .endObject();
  }
  void add(const FoldedConstant &constant) {
    json.beginObject().field("name", constant.name).field("value", constant.value).endObject();
  }
  void add(const KernelParameter &parameter) {
    json.beginObject().field("name", parameter.name);
    json.field("type", (parameter.pointer ? "*" : "") + std::string(info(parameter.dtype).triton));
    json.field("offset", parameter.offset).field("divisor", parameter.divisor);
    if (parameter.pointer)
      json.field("read", parameter.read).field("written", parameter.written);
    json.endObject();
  }
  void add(const Executable &executable) {
    static constexpr const char *formats[] = {"image", "ptx", "cubin", "ttir", "generation-ptx"};
    json.beginObject().field("target", toString(executable.target));
    json.field("format", formats[size_t(executable.format)]).field("record", executable.record);
    json.field("entry", executable.entry).field("scratch_bytes", executable.scratchBytes);
    json.field("shared_bytes", executable.sharedBytes).field("num_warps", executable.numWarps);
    json.field("num_ctas", executable.numCtas)
        .field("dependent_launch", executable.dependentLaunch);
    if (!executable.tensorMaps.empty())
      list("tensor_maps", executable.tensorMaps);
    list("messages", executable.messages);
    json.endObject();
  }
  void add(const TensorMap &map) {
    json.beginObject().field("parameter", map.parameter).field("element_bytes", map.elementBytes);
    json.field("swizzle_bytes", map.swizzleBytes).field("rounds_to_tf32", map.roundsToTf32);
    list("dims", map.dims);
    json.endObject();
  }
  void add(const TensorMap::Dim &dim) {
    json.beginObject().field("size", dim.size).field("stride", dim.stride);
    json.field("box", dim.box);
    if (dim.sizeParameter >= 0)
      json.field("size_parameter", dim.sizeParameter);
    if (dim.strideParameter >= 0)
      json.field("stride_parameter", dim.strideParameter);
    json.endObject();
  }
  void add(const Kernel &kernel) {
    json.beginObject().field("name", kernel.name).field("file", kernel.sourceFile);
    json.field("line", kernel.sourceLine)
        .field("numerics", kernel.numerics)
        .field("ordered", kernel.ordered);
    list("parameters", kernel.parameters);
    list("constants", kernel.constants);
    list("executables", kernel.executables);
    json.endObject();
  }
  void targets() {
    std::vector<std::string> names;
    for (const Kernel &kernel : manifest.kernels)
      for (const Executable &executable : kernel.executables)
        if (std::string name = toString(executable.target);
            std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(std::move(name));
    json.key("targets").beginArray();
    for (const std::string &name : names)
      json.value(name);
    json.endArray();
  }
  std::string text(const Place &place, const Program &program) const {
    static constexpr const char *kinds[] = {"input ",  "output ", "weight ",
                                            "buffer ", "state ",  "window "};
    std::string name;
    switch (place.kind) {
    case PlaceKind::Input:
      name = manifest.inputs[place.index].name;
      break;
    case PlaceKind::Output:
      name = manifest.outputs[place.index].name;
      break;
    case PlaceKind::Weight:
      name = manifest.weights[place.index].name;
      break;
    case PlaceKind::Buffer:
      name = program.buffers[place.index].name;
      break;
    case PlaceKind::State:
      name = manifest.state[place.index].name;
      break;
    case PlaceKind::Window:
      name = std::to_string(place.index);
      break;
    }
    name.insert(0, kinds[size_t(place.kind)]);
    return place.byteOffset.empty() ? name : name + " + " + text(place.byteOffset);
  }
  std::string text(const Argument &argument, const Program &program) const {
    if (auto *pointer = std::get_if<PointerArgument>(&argument))
      return text(pointer->place, program);
    if (auto *value = std::get_if<ValueArgument>(&argument))
      return text(value->value);
    return "bits " + std::to_string(std::get<ImmediateArgument>(argument).bits);
  }
  void add(const LaunchVariant &variant, const Program &program) {
    const Kernel &kernel = manifest.kernels[variant.kernel];
    json.beginObject().field("kernel", kernel.name);
    if (!variant.guard.empty())
      json.field("guard", text(variant.guard));
    json.key("grid").beginArray();
    for (const Bytecode &size : variant.grid)
      json.value(size.empty() ? "1" : text(size));
    json.endArray().key("arguments").beginObject();
    for (size_t i = 0; i < variant.arguments.size(); ++i)
      json.field(kernel.parameters[i].name, text(variant.arguments[i], program));
    json.endObject().endObject();
  }
  void add(const Launch &launch, const Program &program) {
    json.beginObject().field("label", launch.label).key("variants").beginArray();
    for (const LaunchVariant &variant : launch.variants)
      add(variant, program);
    json.endArray().endObject();
  }
  void add(const Copy &copy, const Program &program) {
    json.beginObject()
        .field("copy", text(copy.source, program))
        .field("to", text(copy.destination, program));
    json.field("bytes", text(copy.bytes)).endObject();
  }
  void add(const Fill &fill, const Program &program) {
    json.beginObject()
        .field("fill", text(fill.destination, program))
        .field("pattern", fill.pattern);
    json.field("bytes", text(fill.bytes)).endObject();
  }
  void add(const Buffer &buffer) {
    json.beginObject().field("name", buffer.name).field("dtype", info(buffer.dtype).cli);
    dims("shape", buffer.shape);
    json.field("bytes", text(buffer.bytes)).field("slot", buffer.slot).endObject();
  }
  /// Where sizes are read and checked; `at` counts the program's steps.
  void sizes(const Program &program) {
    if (!manifest.readsSizes())
      return;
    json.key("sizes").beginArray();
    for (size_t at = 0; at < program.steps.size(); ++at) {
      if (auto *read = std::get_if<ReadSize>(&program.steps[at])) {
        json.beginObject().field("read", manifest.symbols[read->symbol].name);
        json.field("at", uint64_t(at)).field("from", text(read->from, program));
        if (!read->most.empty())
          json.field("most", text(read->most));
        json.field("text", read->text).endObject();
      } else if (auto *check = std::get_if<CheckSizes>(&program.steps[at])) {
        json.beginObject().field("check", text(check->condition)).field("at", uint64_t(at));
        json.field("text", check->text).endObject();
      }
    }
    json.endArray();
  }
  /// Which of the steps are done when; `at` counts the program's steps.
  void control(const Program &program) {
    bool any = std::any_of(program.steps.begin(), program.steps.end(), [](const Step &step) {
      return std::holds_alternative<Branch>(step) || std::holds_alternative<Loop>(step);
    });
    if (!any)
      return;
    json.key("control").beginArray();
    uint32_t window = 0;
    for (size_t at = 0; at < program.steps.size(); ++at) {
      if (auto *branch = std::get_if<Branch>(&program.steps[at])) {
        json.beginObject().field("branch", branch->label).field("at", uint64_t(at));
        json.field("if", branch->condition.empty() ? text(branch->predicate, program)
                                                   : text(branch->condition));
        json.field("true_steps", branch->whenTrue)
            .field("false_steps", branch->whenFalse)
            .endObject();
      } else if (auto *loop = std::get_if<Loop>(&program.steps[at])) {
        json.beginObject().field("loop", loop->label).field("at", uint64_t(at));
        loop->turns.empty() ? json.field("while", text(loop->predicate, program))
                            : json.field("turns", text(loop->turns));
        json.field("condition_steps", loop->conditionSteps).field("body_steps", loop->bodySteps);
        json.key("windows").beginArray();
        for (const Carry &carry : loop->carries) {
          add(window, "reads", carry.first, "then", text(carry.second, program), program);
          add(window + 1, "writes", carry.second, "then", text(carry.first, program), program);
          window += 2;
        }
        for (const Slice &slice : loop->slices)
          add(window++, "at", slice.first, "step", text(slice.step), program);
        json.endArray().endObject();
      }
    }
    json.endArray();
  }
  void add(uint32_t window, const char *key, const Place &place, const char *next,
           const std::string &then, const Program &program) {
    json.beginObject().field("window", window).field(key, text(place, program));
    json.field(next, then).endObject();
  }
  void add(const Program &program) {
    json.beginObject().field("device", program.device == Target::Kind::Cpu ? "cpu" : "cuda");
    json.key("launches").beginArray();
    for (const Step &step : program.steps)
      if (auto *launch = std::get_if<Launch>(&step))
        add(*launch, program);
    json.endArray().key("transfers").beginArray();
    for (const Step &step : program.steps) {
      if (auto *copy = std::get_if<Copy>(&step))
        add(*copy, program);
      if (auto *fill = std::get_if<Fill>(&step))
        add(*fill, program);
    }
    json.endArray();
    control(program);
    sizes(program);
    list("buffers", program.buffers);
    json.endObject();
  }
};
} // namespace

std::string describe(const Manifest &manifest) { return Description(manifest).run(); }

} // namespace pellucid::package
