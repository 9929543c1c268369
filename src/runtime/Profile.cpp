// SPDX-License-Identifier: Apache-2.0
#include "runtime/Profile.h"

#include "package/JsonWriter.h"
#include "symbolic/Bytecode.h"

#include <algorithm>
#include <unistd.h>

namespace pellucid::runtime {

using package::JsonWriter;

void Profile::append(const std::string &event) {
  if (!events.empty())
    events += ",\n";
  events += event;
}

void Profile::add(Executor &executor, std::span<const ProfiledStep> steps, uint64_t track,
                  const std::string &trackName) {
  std::lock_guard lock(mutex);
  if (std::find(namedTracks.begin(), namedTracks.end(), track) == namedTracks.end()) {
    namedTracks.push_back(track);
    JsonWriter json;
    json.beginObject()
        .field("name", "thread_name")
        .field("ph", "M")
        .field("pid", getpid())
        .field("tid", track);
    json.key("args").beginObject().field("name", trackName).endObject().endObject();
    append(json.text());
  }
  for (const ProfiledStep &step : steps) {
    double begin = executor.microsecondsOf(step.begin), end = executor.microsecondsOf(step.end);
    JsonWriter json;
    json.beginObject().field("name", step.name).field("cat", step.category).field("ph", "X");
    json.field("ts", begin).field("dur", end - begin).field("pid", getpid()).field("tid", track);
    json.key("args").json(step.arguments).endObject();
    append(json.text());
  }
}

const std::string &Profile::json() {
  std::lock_guard lock(mutex);
  text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + events + "]}\n";
  return text;
}

static void addShape(JsonWriter &json, std::span<const package::Bytecode> dims,
                     const Frame &frame) {
  json.beginArray();
  for (const package::Bytecode &dim : dims) {
    int64_t size = 0;
    bool known = symbolic::evaluateBytecode(dim, frame.symbols, size) == symbolic::EvalStatus::Ok;
    known ? json.value(size) : json.null();
  }
  json.endArray();
}

static void addShape(JsonWriter &json, const std::vector<int64_t> &shape) {
  json.beginArray();
  for (int64_t dim : shape)
    json.value(dim);
  json.endArray();
}

static void addShape(JsonWriter &json, const ProgramPlan &plan, const package::Place &place,
                     const Frame &frame) {
  const package::Manifest &manifest = plan.manifest;
  switch (place.kind) {
  case package::PlaceKind::Input:
    return addShape(json, manifest.inputs[place.index].shape, frame);
  case package::PlaceKind::Output:
    return addShape(json, manifest.outputs[place.index].shape, frame);
  case package::PlaceKind::Buffer:
    return addShape(json, plan.program.buffers[place.index].shape, frame);
  case package::PlaceKind::Weight:
    return addShape(json, manifest.weights[place.index].shape);
  case package::PlaceKind::State:
    return addShape(json, manifest.state[place.index].shape);
  }
}

static void addKnown(JsonWriter &json, const char *name, Value value, const Numbers &numbers) {
  if (numbers.isKnown(value) && numbers[value] >= 0)
    json.field(name, numbers[value]);
}

std::string launchArguments(const ProgramPlan &plan, const LaunchPlan &step,
                            const PreparedLaunch &prepared, const Frame &frame) {
  const package::LaunchVariant &variant =
      step.launch->variants[prepared.variant - step.variants.data()];
  const package::Kernel &kernel = *prepared.variant->kernel;
  JsonWriter json;
  json.beginObject()
      .field("kernel", kernel.name)
      .field("target", toString(prepared.variant->executable->target));
  json.key("grid").beginArray();
  for (uint32_t size : prepared.grid)
    json.value(size);
  json.endArray().key("shapes").beginObject();
  for (size_t i = 0; i < variant.arguments.size(); ++i)
    if (auto *pointer = std::get_if<package::PointerArgument>(&variant.arguments[i])) {
      json.key(kernel.parameters[i].name);
      addShape(json, plan, pointer->place, frame);
    }
  json.endObject();
  addKnown(json, "bytes", step.bytes, frame.numbers);
  addKnown(json, "flops", step.flops, frame.numbers);
  json.endObject();
  return json.take();
}

} // namespace pellucid::runtime
