// SPDX-License-Identifier: Apache-2.0
#include "trace/AtenComposites.h"

#include "trace/OperatorCall.h"
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// The records, read once per interpreter.
class CompositeTable : public h::Object {
public:
  CompositeTable(h::Interpreter &interpreter, const h::Module &source) {
    for (const h::Value &record : source.globals->at("_records").list()) {
      Schema schema = parseSchema(interpreter.toStr(record.tuple().at(0), "a schema"));
      std::string target = schema.target();
      byPacket[schema.packet()].push_back(target);
      byTarget.emplace(target, AtenComposite{std::move(schema), record.tuple().at(1)});
    }
    for (const auto &[packet, reason] : source.globals->at("_refused").dictionary().items())
      refused.emplace(packet.str(), reason.str());
  }
  std::string typeName() const override { return "table of composites"; }

  std::map<std::string, AtenComposite, std::less<>> byTarget;
  std::map<std::string, std::vector<std::string>, std::less<>> byPacket;
  std::map<std::string, std::string, std::less<>> refused;
};

const CompositeTable &tableOf(h::Interpreter &interpreter) {
  auto module = interpreter.nativeModule("torch._pellucid_aten");
  return *module->globals->at("_table").as<CompositeTable>();
}

} // namespace

const AtenComposite *findAtenComposite(h::Interpreter &interpreter, std::string_view target) {
  const CompositeTable &table = tableOf(interpreter);
  auto entry = table.byTarget.find(target);
  return entry == table.byTarget.end() ? nullptr : &entry->second;
}

std::vector<const AtenComposite *> atenComposites(h::Interpreter &interpreter,
                                                  std::string_view packet) {
  const CompositeTable &table = tableOf(interpreter);
  std::vector<const AtenComposite *> found;
  if (auto entry = table.byPacket.find(packet); entry != table.byPacket.end())
    for (const std::string &target : entry->second)
      found.push_back(&table.byTarget.at(target));
  return found;
}

std::string whyNotCompiled(h::Interpreter &interpreter, const std::string &packet) {
  const CompositeTable &table = tableOf(interpreter);
  auto entry = table.refused.find(packet);
  return entry == table.refused.end() ? std::string() : entry->second;
}

h::Value callAtenComposite(h::Interpreter &interpreter, const AtenComposite &composite,
                           const h::CallArgs &args) {
  const Schema &schema = composite.schema;
  std::string name = schema.space + "::" + schema.name;
  h::CallArgs call;
  call.location = args.location;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument &argument = schema.arguments[i];
    if (i < args.positional.size() && !argument.keywordOnly)
      call.positional.push_back(args.positional[i]);
    else if (const h::Value *given = args.keyword(argument.name))
      call.positional.push_back(*given);
    else if (argument.defaultValue)
      call.positional.push_back(constantValue(*argument.defaultValue));
    else
      interpreter.raise("TypeError", name + "() needs an argument for '" + argument.name + "'");
  }
  for (const auto &[key, value] : args.keywords)
    if (!schema.indexOf(key))
      interpreter.raise("TypeError", name + "() got an unexpected keyword argument '" + key + "'");
  if (args.positional.size() > schema.arguments.size())
    interpreter.raise("TypeError", name + "() takes " + std::to_string(schema.arguments.size()) +
                                       " arguments, got " + std::to_string(args.positional.size()));
  return callComposite(interpreter, schema.name, composite.function, std::move(call));
}

void addAtenComposites(h::NativeModules &modules) {
  modules.add("torch._pellucid_aten", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource("torch_aten_source",
                                           std::make_shared<SourceFile>("<torch>", atenSource));
    module.globals->set("_table", h::Value(std::make_shared<CompositeTable>(interpreter, *source)));
  });
}

} // namespace pellucid::trace
