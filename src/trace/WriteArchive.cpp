// SPDX-License-Identifier: Apache-2.0
#include "trace/WriteArchive.h"

#include "archive/RecordWriter.h"
#include "graph/ProgramText.h"
#include "package/Crc32.h"
#include "package/JsonWriter.h"
#include "support/Diagnostics.h"
#include "trace/PrintArchiveGraph.h"

#include <filesystem>

namespace pellucid::trace {

using namespace graph;
using package::JsonWriter;

namespace {

/// Weights, or constants: a table of names, and their bytes, tied ones once.
class Payload {
public:
  Payload(archive::RecordWriter &r, std::string f, std::string p)
      : records(r), folder(std::move(f)), prefix(std::move(p)) {
    json.beginObject().key("config").beginObject();
  }

  void add(const std::string &name, const Weight &weight, bool isParameter) {
    auto [record, isNew] = byMemory.try_emplace({weight.data.get(), weight.bytes, weight.dtype},
                                                prefix + std::to_string(byMemory.size()));
    if (isNew)
      records.add(folder + record->second,
                  {reinterpret_cast<const uint8_t *>(weight.data.get()), weight.bytes});
    json.key(name).beginObject().field("path_name", record->second);
    json.field("is_param", isParameter).field("use_pickle", false).key("tensor_meta");
    json.json(printTensorMeta(weight.dtype, weight.shape)).endObject();
  }

  void finish(const std::string &config) {
    json.endObject().endObject();
    records.add(folder + config, json.text());
  }

private:
  archive::RecordWriter &records;
  std::string folder, prefix;
  JsonWriter json;
  std::map<std::tuple<const std::byte *, uint64_t, DataType>, std::string> byMemory;
};

void writePayloads(const Program &program, archive::RecordWriter &records,
                   const std::string &path) {
  Payload weights(records, "data/weights/", "weight_"),
      constants(records, "data/constants/", "tensor_");
  for (const InputSpec &spec : program.inputs) {
    if (spec.kind == InputSpec::Kind::UserInput || spec.kind == InputSpec::Kind::ConstantInput)
      continue;
    auto weight = program.weights.find(spec.name);
    if (weight == program.weights.end() || (!weight->second.data && weight->second.bytes))
      throw DiagnosticError(SourceLocation(path),
                            "weight '" + spec.name + "' has no data to carry");
    bool isParameter = spec.kind == InputSpec::Kind::Parameter;
    bool isWeight = isParameter || (spec.kind == InputSpec::Kind::Buffer && spec.persistent);
    (isWeight ? weights : constants).add(spec.name, weight->second, isParameter);
  }
  weights.finish("model_weights_config.json");
  constants.finish("model_constants_config.json");
}

} // namespace

std::string programRecordHead(std::string_view graphJson) {
  std::span bytes(reinterpret_cast<const uint8_t *>(graphJson.data()), graphJson.size());
  return "graph " + std::to_string(package::crc32(bytes)) + "\n";
}

void writeArchive(const Program &program, const OperatorRegistry &registry,
                  const std::string &path) {
  std::string graphJson = printArchiveGraph(program, registry);
  OutputFile file(path);
  archive::RecordWriter records(file, std::filesystem::path(path).stem().string());
  writePayloads(program, records, path);
  records.add("models/model.json", graphJson);
  records.add("data/sample_inputs/model.pt", std::string_view());
  records.add(std::string(programRecord), programRecordHead(graphJson) + printProgram(program));
  records.add("archive_format", std::string_view("pt2"));
  records.add("archive_version", std::string_view("0"));
  records.add(".data/version", std::string_view("6\n"));
  records.add("byteorder", std::string_view("little"));
  records.finish();
  if (!file.commit())
    throw DiagnosticError(SourceLocation(path), file.error());
}

} // namespace pellucid::trace
