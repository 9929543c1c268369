// SPDX-License-Identifier: Apache-2.0
#include "trace/AtenComposites.h"

#include "trace/Autocast.h"

#include "trace/OperatorCall.h"
#include "trace/ReadSizes.h"
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

#include <algorithm>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// The records, read once per interpreter.
class CompositeTable : public h::Object {
public:
  CompositeTable() = default;
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
  // An interpreter of C++ operators alone has no torch in it.
  static const CompositeTable none;
  auto module = interpreter.nativeModule("torch._pellucid_aten");
  return module ? *module->globals->at("_table").as<CompositeTable>() : none;
}

bool isNumber(const h::Value &value) {
  return value.isInt() || value.isFloat() || value.isBool() || h::isSymbolicNumber(value);
}

bool isWholeNumber(const h::Value &value) { return value.isInt() || value.isSymInt(); }

/// Whether PyTorch's parser of arguments takes the value for the type.
bool fits(const SchemaType &type, const h::Value &given) {
  h::Value value = h::contentOf(h::unwrapConstexpr(given));
  if (value.isNone())
    return type.optional;
  if (type.list) {
    if (!value.isSequence())
      return type.listSize && isWholeNumber(value);
    SchemaType element = type;
    element.list = false;
    element.optional = type.optionalElements;
    std::vector<h::Value> elements = value.elements();
    return std::all_of(elements.begin(), elements.end(),
                       [&](const h::Value &part) { return fits(element, part); });
  }
  switch (type.kind) {
  case SchemaType::Kind::Tensor:
    return value.as<TensorObject>() != nullptr;
  case SchemaType::Kind::Int:
  case SchemaType::Kind::SymInt:
    return isWholeNumber(value);
  case SchemaType::Kind::Float:
  case SchemaType::Kind::Scalar:
    return isNumber(value);
  case SchemaType::Kind::Bool:
    return value.isBool() || value.isSymBool();
  case SchemaType::Kind::Str:
    return value.isStr();
  default:
    return !value.as<TensorObject>() && !value.isSequence();
  }
}

bool takes(const Schema &schema, const h::CallArgs &args) {
  if (args.positional.size() > schema.arguments.size())
    return false;
  for (const auto &[key, value] : args.keywords)
    if (auto index = schema.indexOf(key); !index || *index < args.positional.size())
      return false;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument &argument = schema.arguments[i];
    bool placed = i < args.positional.size();
    const h::Value *given = placed ? &args.positional[i] : args.keyword(argument.name);
    if (placed && argument.keywordOnly)
      return false;
    if (given ? !fits(argument.type, *given) : !argument.defaultValue)
      return false;
  }
  return true;
}

/// A number stands for all of a list's.
h::Value spread(const SchemaType &type, h::Value value) {
  if (!type.list || !type.listSize || !isWholeNumber(value))
    return value;
  return h::Value::list(h::List(static_cast<size_t>(*type.listSize), value));
}

const AtenComposite &resolve(h::Interpreter &interpreter, const std::string &packet,
                             const h::CallArgs &args) {
  std::vector<const AtenComposite *> records = atenComposites(interpreter, packet);
  if (records.size() == 1)
    return *records.front();
  std::string schemas;
  for (const AtenComposite *record : records) {
    if (takes(record->schema, args))
      return *record;
    schemas += "\n  " + printSchema(record->schema);
  }
  interpreter.raise("TypeError", packet + "() has no overload for these arguments:" + schemas);
}

/// What torch's functions name otherwise than ATen's schemas.
void renameKeywords(const Schema &schema, h::CallArgs &args) {
  static const std::pair<const char *, const char *> names[] = {
      {"input", "self"}, {"axis", "dim"}, {"keepdims", "keepdim"}};
  for (auto &[key, value] : args.keywords)
    for (auto [torchs, atens] : names)
      if (key == torchs && !schema.indexOf(torchs) && schema.indexOf(atens))
        key = atens;
}

/// Tensors have one layout, and what is drawn comes from the run's own generator.
void checkWhatNoBodyReads(h::Interpreter &interpreter, const std::string &name,
                          const h::CallArgs &args) {
  if (const h::Value *generator = args.keyword("generator"); generator && !generator->isNone())
    interpreter.refuse("'" + name +
                       "' with a generator: a program draws from the seed and offset "
                       "of its run; leave generator out");
  const h::Value *layout = args.keyword("layout");
  if (layout && !layout->isNone() && !(layout->isStr() && layout->str() == "strided"))
    interpreter.refuse("tensors have the strided layout, got " + interpreter.str(*layout));
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
  if (!interpreter.dispatch.autocast.empty())
    if (auto cast = autocastArguments(interpreter, composite.schema.packet(), args)) {
      AutocastHandled handled(interpreter);
      return callAtenComposite(interpreter, composite, *cast);
    }
  if (!interpreter.dispatch.isIdle())
    if (auto result = interpreter.dispatch.intercept(
            interpreter, interpreter.dispatch.overloadNamed(interpreter, composite.schema.target()),
            args))
      return *result;
  const Schema &schema = composite.schema;
  std::string name = schema.space + "::" + schema.name;
  checkWhatNoBodyReads(interpreter, name, args);
  h::CallArgs call;
  call.location = args.location;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument &argument = schema.arguments[i];
    if (i < args.positional.size() && !argument.keywordOnly)
      call.positional.push_back(spread(argument.type, args.positional[i]));
    else if (const h::Value *given = args.keyword(argument.name))
      call.positional.push_back(spread(argument.type, *given));
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

h::Value callAtenPacket(h::Interpreter &interpreter, const std::string &packet, h::CallArgs args) {
  const auto &composites = atenComposites(interpreter, packet);
  // What draws has no composite: it is the function of torch's that has its name.
  std::optional<h::Value> drawing;
  if (composites.empty()) {
    std::string name = packet.substr(packet.find('.') + 1);
    drawing = interpreter.findAttr(h::Value(interpreter.nativeModule("torch")), name);
    if (!drawing || !drawing->isObject() || !drawing->object()->isCallable() ||
        drawing->as<h::Opaque>())
      interpreter.refuse("'" + packet + "' is not supported yet");
  } else {
    renameKeywords(composites.front()->schema, args);
  }
  auto out = std::find_if(args.keywords.begin(), args.keywords.end(),
                          [](const auto &keyword) { return keyword.first == "out"; });
  h::Value destination;
  if (out != args.keywords.end()) {
    destination = out->second;
    args.keywords.erase(out);
  }
  const AtenComposite *composite = drawing ? nullptr : &resolve(interpreter, packet, args);
  h::Value result = composite ? callAtenComposite(interpreter, *composite, args)
                              : interpreter.call(*drawing, std::move(args));
  if (destination.isNone())
    return result;
  auto *tensor = destination.as<TensorObject>();
  if (!tensor || !result.as<TensorObject>())
    interpreter.refuse("'out' must be one tensor, got " + h::typeName(destination));
  return tensor->assign(interpreter, result, composite ? composite->schema.name : packet);
}

void addAtenComposites(h::NativeModules &modules) {
  modules.add("torch._pellucid_aten", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource("torch_aten_source",
                                           std::make_shared<SourceFile>("<torch>", atenSource));
    addSizeReads(*source);
    for (const char *name :
         {"_mask_indices", "_mask_over", "_values_for", "_index_masks", "_index_put_masks",
          "_complex_operators", "_complex_operator", "_complex_call", "_Complex",
          "_convolution_same", "_convolution_of_integers", "_transposed_of_integers",
          "_any_convolution_of_integers", "_split_by_values"})
      module.globals->set(name, *source->globals->find(name));
    module.globals->set("_table", h::Value(std::make_shared<CompositeTable>(interpreter, *source)));
  });
  auto addPart = [&modules](const std::string &part, const char *text) {
    modules.add("torch." + part, [part, text](h::Interpreter &interpreter, h::Module &module) {
      auto source = interpreter.importSource(
          "torch_" + part + "_source", std::make_shared<SourceFile>("<torch." + part + ">", text));
      for (const auto &[name, value] : source->globals->items())
        if (!name.starts_with("_") && !value.as<h::Module>())
          module.globals->set(name, value);
    });
  };
  addPart("fft", fftSource);
  addPart("masked", maskedSource);
}

} // namespace pellucid::trace
