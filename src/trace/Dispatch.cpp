// SPDX-License-Identifier: Apache-2.0
#include "trace/Dispatch.h"

#include "trace/AtenComposites.h"
#include "trace/OperatorCall.h"
#include "trace/TensorCalls.h"
#include "trace/TorchSources.h"

#include <algorithm>
#include <cctype>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;
using Bound = std::vector<h::Value>;

namespace {

/// A stack of modes without its innermost one, until the object goes.
class Without {
public:
  explicit Without(std::vector<h::Value> &m) : modes(m), top(m.back()) { modes.pop_back(); }
  ~Without() { modes.push_back(top); }
  const h::Value &mode() const { return top; }

private:
  std::vector<h::Value> &modes;
  h::Value top;
};

/// Tensors of the user's classes, each class once, in the order of the arguments.
void collectClasses(const h::Value &value, std::vector<std::shared_ptr<SubclassTensor>> &out) {
  if (auto tensor =
          std::dynamic_pointer_cast<SubclassTensor>(value.isObject() ? value.object() : nullptr)) {
    if (std::none_of(out.begin(), out.end(),
                     [&](const auto &known) { return known->cls == tensor->cls; }))
      out.push_back(tensor);
  } else if (value.isSequence()) {
    for (const h::Value &element : value.elements())
      collectClasses(element, out);
  } else if (value.isDict()) {
    for (const auto &[key, element] : value.dictionary().items())
      collectClasses(element, out);
  }
}

std::vector<std::shared_ptr<SubclassTensor>> classesIn(const h::CallArgs &args) {
  std::vector<std::shared_ptr<SubclassTensor>> out;
  for (const h::Value &value : args.positional)
    collectClasses(value, out);
  for (const auto &[key, value] : args.keywords)
    collectClasses(value, out);
  return out;
}

h::Value keywordsOf(const h::CallArgs &args) {
  h::Dict dict;
  for (const auto &[key, value] : args.keywords)
    dict.set(h::Value(key), value);
  return h::Value::dict(std::move(dict));
}

/// A method that the user's class has: not what torch.Tensor gives to all.
const h::Value *ownMethod(const h::Class &cls, std::string_view name) {
  auto look = [&](const h::Class &one) -> const h::Value * {
    return one.module == "torch" && one.name == "Tensor" ? nullptr : one.attributes.find(name);
  };
  if (const h::Value *found = look(cls))
    return found;
  for (const auto &base : cls.mro)
    if (const h::Value *found = look(*base))
      return found;
  return nullptr;
}

bool isNotImplemented(h::Interpreter &interpreter, const h::Value &value) {
  const h::Value *known = interpreter.builtin("NotImplemented");
  return known && value.isSame(*known);
}

/// Calls `handler` with (first?, func, types, args, kwargs).
h::Value handled(h::Interpreter &interpreter, const h::Value &handler, std::vector<h::Value> first,
                 const h::Value &overload, const h::CallArgs &args,
                 const std::vector<std::shared_ptr<SubclassTensor>> &classes) {
  h::Tuple types;
  for (const auto &tensor : classes)
    types.push_back(h::Value(tensor->cls));
  first.push_back(overload);
  first.push_back(h::Value::tuple(std::move(types)));
  first.push_back(h::Value::tuple(args.positional));
  first.push_back(keywordsOf(args));
  return interpreter.call(handler, std::move(first));
}

/// register_torch_dispatch's function for the class of a mode or a tensor.
const h::Value *ruleFor(const h::Value &overload, const h::Class *cls) {
  auto *op = overload.as<h::Operator>();
  if (op && cls)
    for (const auto &[known, rule] : op->dispatchRules)
      if (known.as<h::Class>() == cls)
        return &rule;
  return nullptr;
}

[[noreturn]] void refuseMultiple(h::Interpreter &interpreter, const h::Value &overload) {
  interpreter.raise("TypeError", "Multiple dispatch failed for '" + interpreter.str(overload) +
                                     "'; all __torch_dispatch__ handlers returned NotImplemented");
}

/// The layer of Python's functions, above that of the dispatcher.
std::optional<h::Value> throughFunctions(h::Interpreter &interpreter, const h::Value &overload,
                                         const h::CallArgs &args) {
  auto &dispatch = interpreter.dispatch;
  auto classes = classesIn(args);
  if (!dispatch.functionModes.empty()) {
    Without without(dispatch.functionModes);
    h::Value handler = interpreter.getAttr(without.mode(), "__torch_function__");
    return handled(interpreter, handler, {}, overload, args, classes);
  }
  if (dispatch.functionsDisabled)
    return std::nullopt;
  for (const auto &tensor : classes) {
    bool dispatches = ownMethod(*tensor->cls, "__torch_dispatch__") != nullptr;
    bool isOwn = ownMethod(*tensor->cls, "__torch_function__") != nullptr;
    if (dispatches && !isOwn)
      continue;
    h::Value handler = interpreter.getAttr(h::Value(tensor->cls), "__torch_function__");
    h::Value result = handled(interpreter, handler, {}, overload, args, classes);
    if (!isNotImplemented(interpreter, result))
      return result;
  }
  return std::nullopt;
}

std::optional<h::Value> throughDispatch(h::Interpreter &interpreter, const h::Value &overload,
                                        const h::CallArgs &args) {
  auto &dispatch = interpreter.dispatch;
  auto classes = classesIn(args);
  if (!dispatch.modes.empty()) {
    Without without(dispatch.modes);
    auto *mode = without.mode().as<h::Instance>();
    if (const h::Value *rule = ruleFor(overload, mode ? mode->cls.get() : nullptr))
      return handled(interpreter, *rule, {without.mode()}, overload, args, classes);
    h::Value handler = interpreter.getAttr(without.mode(), "__torch_dispatch__");
    h::Value result = handled(interpreter, handler, {}, overload, args, classes);
    if (!isNotImplemented(interpreter, result))
      return result;
    return throughDispatch(interpreter, overload, args);
  }
  bool asked = false;
  for (const auto &tensor : classes) {
    if (!ownMethod(*tensor->cls, "__torch_dispatch__"))
      continue;
    asked = true;
    if (const h::Value *rule = ruleFor(overload, tensor->cls.get()))
      return handled(interpreter, *rule, {h::Value(tensor->cls)}, overload, args, classes);
    h::Value handler = interpreter.getAttr(h::Value(tensor->cls), "__torch_dispatch__");
    h::Value result = handled(interpreter, handler, {}, overload, args, classes);
    if (!isNotImplemented(interpreter, result))
      return result;
  }
  if (asked)
    refuseMultiple(interpreter, overload);
  return std::nullopt;
}

// ---- which overload a call is of
// -----------------------------------------------------------------------------

/// The argument as the schemas see it; tensors stand for their types alone.
Argument shapeOf(Graph &scratch, h::Interpreter &interpreter, Tracer &tracer,
                 const h::Value &given) {
  h::Value value = h::contentOf(h::unwrapConstexpr(given));
  if (auto *tensor = value.as<TensorObject>())
    return Argument(scratch.placeholder("x", tensor->tensor.type));
  if (!value.isSequence())
    return toArgument(tracer, interpreter, value);
  Argument::List list;
  for (const h::Value &element : value.elements())
    list.push_back(shapeOf(scratch, interpreter, tracer, element));
  return Argument(std::move(list));
}

/// `aten.add.Tensor` of `add` and the arguments, which become as PyTorch's dispatcher has them: by
/// position where they have one.
std::string resolve(Tracer &tracer, h::Interpreter &interpreter, const std::string &name,
                    h::CallArgs &args) {
  std::string packet = name.find('.') == std::string::npos ? "aten." + name : name;
  for (auto &[key, value] : args.keywords)
    if (key == "axis")
      key = "dim";
  Graph scratch;
  std::vector<Argument> positional;
  KeywordArguments keywords;
  for (const h::Value &value : args.positional)
    positional.push_back(shapeOf(scratch, interpreter, tracer, value));
  std::erase_if(args.keywords, [](const auto &keyword) {
    return keyword.second.isNone() || keyword.first == "requires_grad";
  });
  for (const auto &[key, value] : args.keywords)
    if (key != "pin_memory" && key != "layout" && key != "generator")
      keywords.emplace_back(key, shapeOf(scratch, interpreter, tracer, value));
  bool sizes = packet == "aten.split" && positional.size() > 1 && positional[1].list();
  if (sizes)
    packet = "aten.split_with_sizes";
  const Schema &schema =
      tracer.registry.resolve(packet, positional, keywords, interpreter.location()).schema;
  while (args.positional.size() < schema.arguments.size() &&
         !schema.arguments[args.positional.size()].keywordOnly) {
    const std::string &wanted = schema.arguments[args.positional.size()].name;
    auto keyword = std::find_if(args.keywords.begin(), args.keywords.end(),
                                [&](const auto &k) { return k.first == wanted; });
    if (keyword == args.keywords.end())
      break;
    args.positional.push_back(keyword->second);
    args.keywords.erase(keyword);
  }
  for (size_t i = 0; i < args.positional.size() && i < schema.arguments.size(); ++i)
    if (schema.arguments[i].type.list &&
        (args.positional[i].isInt() || args.positional[i].isSymInt()))
      args.positional[i] = h::Value::list({args.positional[i]});
  return schema.target();
}

/// What PyTorch's dispatcher writes with other operators before a mode sees it.
const h::Value *implicitFunction(h::Interpreter &interpreter, const std::string &packet) {
  interpreter.nativeModule("torch");
  auto module = interpreter.nativeModule("torch._pellucid_dispatch");
  const h::Value *table = module->globals->find("implicit");
  size_t dot = packet.find('.');
  std::string name = dot == std::string::npos ? packet : packet.substr(dot + 1);
  return table ? table->dictionary().find(std::string_view(name.substr(0, name.find('.'))))
               : nullptr;
}

/// torch.ops.aten.add and its overloads.
class AtenPacket : public h::Object {
public:
  AtenPacket(Tracer &t, std::string n) : tracer(t), full(std::move(n)) {
    space = full.substr(0, full.find('.'));
    std::string rest = full.substr(full.find('.') + 1);
    op = rest.substr(0, rest.find('.'));
    overload = rest.size() > op.size() ? rest.substr(op.size() + 1) : "";
  }
  std::string typeName() const override {
    return overload.empty() ? "OpOverloadPacket" : "OpOverload";
  }
  std::string repr() const override { return full; }
  bool isCallable() const override { return true; }

  h::Value call(h::Interpreter &interpreter, h::CallArgs args) override {
    bool writes = op.size() > 1 && op.back() == '_' && op[0] != '_' &&
                  tracer.registry.overloads(space + "." + op).empty();
    bool isOurs = tracer.registry.find(full) || !tracer.registry.overloads(full).empty();
    if (!writes && isOurs)
      return callAten(tracer, interpreter, full, args);
    if (!writes) {
      const AtenComposite *composite = findAtenComposite(interpreter, full);
      return composite ? callAtenComposite(interpreter, *composite, args)
                       : callAtenPacket(interpreter, space + "." + op, std::move(args));
    }
    auto self = args.positional.empty() ? nullptr : args.positional[0].shared<TensorObject>();
    if (!self)
      interpreter.raise("TypeError", full + "() takes a tensor first");
    args.positional.erase(args.positional.begin());
    return callInPlace(*self, interpreter, op.substr(0, op.size() - 1), args);
  }

  std::optional<h::Value> getAttr(h::Interpreter &interpreter, std::string_view name) override {
    if (name == "__name__")
      return h::Value(overload.empty() ? op : op + "." + overload);
    if (name == "overloadpacket")
      return atenOverload(tracer, interpreter, space + "." + op);
    if (name == "namespace" || name == "_namespace")
      return h::Value(space);
    if (name == "_opname")
      return h::Value(op);
    if (name == "_overloadname")
      return h::Value(overload);
    if (name == "_qualified_op_name")
      return h::Value(space + "::" + op);
    if (name == "name" || name == "_name") {
      h::Value text(space + "::" + op +
                    (overload.empty() || overload == "default" ? "" : "." + overload));
      return name == "_name"
                 ? text
                 : h::nativeRaw("name", [text](h::Interpreter &, h::CallArgs) { return text; });
    }
    if (name.starts_with("_") || !overload.empty())
      return std::nullopt;
    return atenOverload(tracer, interpreter, full + "." + std::string(name));
  }

private:
  Tracer &tracer;
  std::string full, space, op, overload;
};

} // namespace

h::Value atenOverload(Tracer &tracer, h::Interpreter &interpreter, const std::string &name) {
  h::Value &known = interpreter.dispatch.overloads[name];
  if (known.isNone())
    known = h::Value(std::make_shared<AtenPacket>(tracer, name));
  return known;
}

std::optional<h::Value> dispatchCall(h::Interpreter &interpreter, const h::Value &overload,
                                     const h::CallArgs &args) {
  if (interpreter.dispatch.isIdle())
    return std::nullopt;
  if (auto result = throughFunctions(interpreter, overload, args))
    return result;
  return throughDispatch(interpreter, overload, args);
}

std::optional<h::Value> dispatchAten(Tracer &tracer, h::Interpreter &interpreter,
                                     const std::string &name, const h::CallArgs &given) {
  auto &dispatch = interpreter.dispatch;
  if (dispatch.isIdle())
    return std::nullopt;
  bool asked = !dispatch.modes.empty() || !dispatch.functionModes.empty();
  if (!asked && classesIn(given).empty())
    return std::nullopt;
  h::CallArgs args = given;
  if (const h::Value *out = args.keyword("out"); out && !out->isNone())
    interpreter.refuse("out= under a mode or with a tensor of a class of your own is not "
                       "supported; take the result and copy_() it");
  std::string target = resolve(tracer, interpreter, name, args);
  h::Value overload = atenOverload(tracer, interpreter, target);
  if (auto result = throughFunctions(interpreter, overload, args))
    return result;
  if (const h::Value *implicit = implicitFunction(interpreter, target))
    if (h::Value result = interpreter.call(*implicit, args); !isNotImplemented(interpreter, result))
      return result;
  return throughDispatch(interpreter, overload, args);
}

std::optional<h::Value> dispatchInPlace(TensorObject &self, h::Interpreter &interpreter,
                                        const std::string &method, const h::CallArgs &given) {
  auto &dispatch = interpreter.dispatch;
  if (dispatch.isIdle())
    return std::nullopt;
  h::CallArgs args = given;
  args.positional.insert(args.positional.begin(), selfOf(self));
  bool asked = !dispatch.modes.empty() || !dispatch.functionModes.empty();
  if (!asked && classesIn(args).empty())
    return std::nullopt;
  h::CallArgs resolved = args;
  std::string overload = "default", packet = "aten." + method;
  if (!self.tracer.registry.overloads(packet).empty() && method != "copy" && method != "zero")
    overload = resolve(self.tracer, interpreter, packet, resolved).substr(packet.size() + 1);
  else
    resolved = args;
  return dispatchCall(interpreter, atenOverload(self.tracer, interpreter, packet + "_." + overload),
                      resolved);
}

// ---- tensors of the user's classes
// -----------------------------------------------------------------------------

std::optional<h::Value> SubclassTensor::getAttr(h::Interpreter &interpreter,
                                                std::string_view name) {
  if (name == "__class__")
    return h::Value(cls);
  if (const h::Value *own = attributes.find(name))
    return *own;
  h::Value self(shared_from_this());
  const h::Value *method = ownMethod(*cls, name);
  if (!method)
    return TensorObject::getAttr(interpreter, name);
  if (auto *descriptor = method->as<h::Descriptor>()) {
    if (descriptor->form == h::Descriptor::Form::Static)
      return descriptor->function;
    if (descriptor->form == h::Descriptor::Form::Class)
      return h::Value(std::make_shared<h::BoundMethod>(h::Value(cls), descriptor->function));
    return interpreter.call(descriptor->function, {self});
  }
  if (method->as<h::Function>() || method->as<h::NativeFunction>())
    return h::Value(std::make_shared<h::BoundMethod>(self, *method));
  return *method;
}

bool SubclassTensor::setAttr(h::Interpreter &interpreter, std::string_view name,
                             const h::Value &value) {
  if (name == "grad" || name == "requires_grad" || name == "data")
    return TensorObject::setAttr(interpreter, name, value);
  attributes.set(name, value);
  return true;
}

namespace {

std::shared_ptr<h::Class> subclassOf(h::Interpreter &interpreter, const h::Value &given) {
  auto cls = given.shared<h::Class>();
  auto tensor = interpreter.nativeModule("torch")->globals->find("Tensor");
  if (!cls || !tensor || !cls->isSubclassOf(*tensor->as<h::Class>()))
    interpreter.raise("TypeError", "cls must be a type that derives from torch.Tensor, got " +
                                       h::typeName(given));
  interpreter.dispatch.hasSubclasses = true;
  return cls;
}

/// A tensor of a shape and a type, without memory: its class answers for it.
h::Value makeWrapper(Tracer &tracer, h::Interpreter &interpreter, Bound &a) {
  auto cls = subclassOf(interpreter, a[0]);
  if (!ownMethod(*cls, "__torch_dispatch__"))
    interpreter.raise("RuntimeError", cls->name + " must define __torch_dispatch__");
  std::vector<Expr> sizes;
  for (const h::Value &size : interpreter.iterate(a[1]))
    sizes.push_back(interpreter.toExpr(size, "a size"));
  if (!a[6].isNone() && !(a[6].isStr() && a[6].str() == "strided"))
    interpreter.refuse("tensors have the strided layout, got " + interpreter.str(a[6]));
  if (!a[10].isNone())
    interpreter.refuse("a class that answers for its sizes (dispatch_sizes_strides_policy) is not "
                       "supported; leave it out");
  auto *dtype = a[5].as<h::DType>();
  TensorType type(dtype ? dtype->type : DataType::Float32, sizes);
  if (!a[2].isNone()) {
    type.strides.clear();
    for (const h::Value &stride : interpreter.iterate(a[2]))
      type.strides.push_back(interpreter.toExpr(stride, "a stride"));
  }
  TracedTensor tensor = tracer.unbound(type, {});
  tensor.storage->unreadable =
      "a tensor of class '" + cls->name +
      "' has no memory of its own; its __torch_dispatch__ hands on the tensors that it holds";
  h::Value made(std::static_pointer_cast<h::Object>(
      std::make_shared<SubclassTensor>(tracer, std::move(tensor), cls)));
  if (interpreter.truth(a[9]))
    interpreter.setAttr(made, "requires_grad", h::Value(true));
  return made;
}

} // namespace

h::Value asSubclass(Tracer &tracer, h::Interpreter &interpreter, const h::Value &data,
                    const h::Value &given) {
  auto *tensor = data.as<TensorObject>();
  if (!tensor)
    interpreter.raise("TypeError", "expected a tensor, got " + h::typeName(data));
  auto cls = subclassOf(interpreter, given);
  return h::Value(std::static_pointer_cast<h::Object>(
      std::make_shared<SubclassTensor>(tracer, tensor->tensor, cls)));
}

namespace {

/// What torch.Tensor.__torch_function__ does: calls the function, and results are of the class.
h::Value plainFunction(Tracer &tracer, h::Interpreter &interpreter, h::CallArgs args) {
  static const h::Signature signature("cls, func, types, args=(), kwargs=None");
  Bound a = signature.bind(interpreter, "__torch_function__", args);
  h::CallArgs call;
  call.positional = a[3].elements();
  if (a[4].isDict())
    for (const auto &[key, value] : a[4].dictionary().items())
      call.keywords.emplace_back(key.str(), value);
  auto &dispatch = interpreter.dispatch;
  struct Disabled {
    bool &flag, before;
    explicit Disabled(bool &f) : flag(f), before(f) { flag = true; }
    ~Disabled() { flag = before; }
  } disabled(dispatch.functionsDisabled);
  h::Value result = interpreter.call(a[1], std::move(call));
  auto *plain = result.as<TensorObject>();
  bool converts =
      plain && !plain->userClass() && a[0].as<h::Class>() && a[0].as<h::Class>()->name != "Tensor";
  return converts ? asSubclass(tracer, interpreter, result, a[0]) : result;
}

h::Value classMethod(h::Value function) {
  return h::Value(std::make_shared<h::Descriptor>(h::Descriptor::Form::Class, std::move(function)));
}
h::Value staticMethod(h::Value function) {
  return h::Value(
      std::make_shared<h::Descriptor>(h::Descriptor::Form::Static, std::move(function)));
}

void fillTensorClass(h::Class &cls, Tracer &tracer) {
  cls.attributes.set(
      "_make_wrapper_subclass",
      staticMethod(
          h::native("_make_wrapper_subclass",
                    "cls, size, strides=None, storage_offset=None, memory_format=None, "
                    "dtype=None, layout=None, device=None, pin_memory=False, "
                    "requires_grad=False, dispatch_sizes_strides_policy=None",
                    [&tracer](h::Interpreter &i, Bound &a) { return makeWrapper(tracer, i, a); })));
  cls.attributes.set("_make_subclass",
                     staticMethod(h::native("_make_subclass", "cls, data, require_grad=False",
                                            [&tracer](h::Interpreter &i, Bound &a) {
                                              return asSubclass(tracer, i, a[1], a[0]);
                                            })));
  cls.attributes.set("__torch_function__",
                     classMethod(h::nativeRaw("__torch_function__",
                                              [&tracer](h::Interpreter &i, h::CallArgs args) {
                                                return plainFunction(tracer, i, std::move(args));
                                              })));
}

} // namespace

namespace {

/// Why the call is refused or raises; None where it is taken.
h::Value refusalOf(h::Interpreter &interpreter, Bound &a) {
  try {
    interpreter.call(a[0]);
    return {};
  } catch (const DiagnosticError &error) {
    return h::Value(error.diagnostic.message);
  }
}

h::Value inferSchema(h::Interpreter &interpreter, Bound &a) {
  h::Operator op;
  op.name = a[2].isNone() ? "prototype::function" : interpreter.toStr(a[2], "op_name");
  op.overload = "default";
  op.function = a[0];
  op.mutatesArgs = a[1];
  auto *function = a[0].as<h::Function>();
  op.location = function ? function->location() : interpreter.location();
  std::string text = printSchema(schemaOf(interpreter, op), true);
  // infer_schema() writes floats as Python does.
  for (size_t at = 0; (at = text.find('.', at)) != std::string::npos; ++at)
    if (at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])) && at + 1 < text.size() &&
        (text[at + 1] == ',' || text[at + 1] == ')'))
      text.insert(at + 1, "0");
  // … and numbers what is written by the parameter's place.
  size_t place = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    place += text.compare(at, 2, ", ") == 0 && text.compare(at + 2, 3, "*, ") != 0;
    if (text.compare(at, 7, "Tensor(") == 0 && text.compare(at + 8, 2, "!)") == 0)
      text.replace(at + 7, 1, "a" + std::to_string(place));
  }
  return h::Value(a[2].isNone() ? text : a[2].str() + text);
}

void fillOperators(h::Interpreter &interpreter, h::Module &module) {
  interpreter.nativeModule("torch");
  auto source = interpreter.importSource("torch_operators_source",
                                         std::make_shared<SourceFile>("<torch>", operatorSource));
  source->globals->set("_vmap_rule_of",
                       h::native("_vmap_rule_of", "op", [](h::Interpreter &, Bound &a) {
                         auto *op = a[0].as<h::Operator>();
                         return op ? op->vmap : h::Value();
                       }));
  source->globals->set("_is_operator",
                       h::native("_is_operator", "op", [](h::Interpreter &, Bound &a) {
                         return h::Value(a[0].as<h::Operator>() || a[0].as<AtenPacket>());
                       }));
  source->globals->set("_is_users", h::native("_is_users", "op", [](h::Interpreter &, Bound &a) {
                         return h::Value(a[0].as<h::Operator>() != nullptr);
                       }));
  // The body of a triton_op is its fake.
  source->globals->set("_fake_of", h::native("_fake_of", "op", [](h::Interpreter &, Bound &a) {
                         auto *op = a[0].as<h::Operator>();
                         bool isBody =
                             op && op->fake.isNone() && op->form == h::Operator::Form::Triton;
                         return !op ? h::Value() : isBody ? op->function : op->fake;
                       }));
  source->globals->set(
      "_share_memory", h::native("_share_memory", "a, b", [](h::Interpreter &, Bound &a) {
        auto *one = a[0].as<TensorObject>(), *other = a[1].as<TensorObject>();
        return h::Value(one && other && one->tensor.storage == other->tensor.storage);
      }));
  source->globals->set("_refusal_of", h::native("_refusal_of", "call", refusalOf));
  for (const char *name : {"vmap", "opcheck", "OpCheckError"})
    module.globals->set(name, *source->globals->find(name));
}

/// `names` of torch._pellucid_operators are the module's, when they are asked for.
void lend(h::Module &module, const std::set<std::string> &names) {
  auto next = module.fallback;
  module.fallback = [next, names](h::Interpreter &interpreter,
                                  std::string_view name) -> std::optional<h::Value> {
    if (!names.count(std::string(name)))
      return next ? next(interpreter, name) : std::nullopt;
    return *interpreter.nativeModule("torch._pellucid_operators")->globals->find(name);
  };
}

} // namespace

void addDispatch(h::NativeModules &modules, Tracer &tracer) {
  modules.add("torch._pellucid_operators", fillOperators);
  for (const char *name : {"torch", "torch.func", "torch._functorch.vmap"})
    modules.add(name, [](h::Interpreter &, h::Module &module) { lend(module, {"vmap"}); });
  for (const char *name : {"torch.library", "torch.testing._internal.optests"})
    modules.add(name, [](h::Interpreter &, h::Module &module) {
      lend(module, {"opcheck", "OpCheckError"});
      module.globals->set("infer_schema",
                          h::native("torch.library.infer_schema",
                                    "prototype_function, *, mutates_args, op_name=None, tags=()",
                                    inferSchema));
    });
  modules.add("torch", [&tracer](h::Interpreter &interpreter, h::Module &module) {
    if (const h::Value *cls = module.globals->find("Tensor"); cls && cls->as<h::Class>())
      fillTensorClass(*cls->as<h::Class>(), tracer);
    interpreter.dispatch.overloadNamed = [&tracer](h::Interpreter &i, const std::string &name) {
      return atenOverload(tracer, i, name);
    };
    interpreter.dispatch.intercept = [](h::Interpreter &i, const h::Value &overload,
                                        const h::CallArgs &args) {
      return dispatchCall(i, overload, args);
    };
  });
  modules.add("torch._pellucid_dispatch", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource("torch_dispatch_source",
                                           std::make_shared<SourceFile>("<torch>", dispatchSource));
    auto stack = [](const char *name, bool pushes, bool ofFunctions) {
      return h::native(name, pushes ? "mode" : "",
                       [pushes, ofFunctions](h::Interpreter &i, Bound &a) {
                         auto &modes = ofFunctions ? i.dispatch.functionModes : i.dispatch.modes;
                         if (pushes)
                           modes.push_back(a[0]);
                         else if (!modes.empty())
                           modes.pop_back();
                         return h::Value();
                       });
    };
    source->globals->set("_push", stack("_push", true, false));
    source->globals->set("_pop", stack("_pop", false, false));
    source->globals->set("_push_function", stack("_push_function", true, true));
    source->globals->set("_pop_function", stack("_pop_function", false, true));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  auto share = [&](const char *module, std::vector<const char *> names) {
    modules.add(module, [names](h::Interpreter &interpreter, h::Module &target) {
      interpreter.nativeModule("torch");
      auto source = interpreter.nativeModule("torch._pellucid_dispatch");
      for (const char *name : names)
        target.globals->set(name, *source->globals->find(name));
    });
  };
  share("torch.utils._python_dispatch",
        {"TorchDispatchMode", "is_traceable_wrapper_subclass", "return_and_correct_aliasing"});
  share("torch.overrides", {"TorchFunctionMode"});
  modules.add("torch.utils.flop_counter", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_flops_source",
        std::make_shared<SourceFile>("<torch.utils.flop_counter>", flopSource));
    for (const char *name : {"_register_for_operator", "_formula_of"})
      source->globals->set(name, *module.globals->find(name));
    for (const auto &[name, value] : source->globals->items())
      if (!name.starts_with("_"))
        module.globals->set(name, value);
  });
}

} // namespace pellucid::trace
