// SPDX-License-Identifier: Apache-2.0
// A `@triton_op` or `@custom_op` as a value of the host program.
#include "host/InterpreterState.h"
#include "host/OperatorLibrary.h"

#include <algorithm>

namespace pellucid::host {

std::string Operator::nodeName() const {
  std::string out = name;
  if (size_t colons = out.find("::"); colons != std::string::npos)
    out.replace(colons, 2, ".");
  return out + "." + overload;
}

Value Operator::call(Interpreter &interpreter, CallArgs args) {
  if (!interpreter.dispatch.isIdle())
    if (auto result = interpreter.dispatch.intercept(interpreter, Value(shared_from_this()), args))
      return *result;
  if (!autogradKernel.isNone() && !belowAutograd) {
    // It ends in a call of the operator below autograd, as under _AutoDispatchBelowAutograd.
    struct Below {
      bool &flag;
      explicit Below(bool &f) : flag(f) { flag = true; }
      ~Below() { flag = false; }
    } below(belowAutograd);
    return interpreter.call(autogradKernel, std::move(args));
  }
  return interpreter.hooks().callOperator(
      interpreter, std::static_pointer_cast<Operator>(shared_from_this()), std::move(args));
}

Value Operator::kernelFor(const std::string &device) const {
  const Value *any = nullptr;
  for (auto entry = kernels.rbegin(); entry != kernels.rend(); ++entry) {
    if (entry->first == device && !disabledKernels.count(device))
      return entry->second;
    if (entry->first.empty() && !any)
      any = &entry->second;
  }
  return any ? *any : function;
}

bool Operator::hasKernelFor(const std::string &device) const {
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const auto &k) { return k.first == device || k.first.empty(); });
}

bool Operator::lacksKernelFor(Interpreter &interpreter, const std::string &device) const {
  if (deviceTypes.isNone())
    return false;
  if (hasKernelFor(device))
    return false;
  if (deviceTypes.isStr())
    return deviceTypes.str() != device;
  for (const Value &one : interpreter.iterate(deviceTypes))
    if (one.isStr() && one.str() == device)
      return false;
  return true;
}

Value registration(const std::shared_ptr<Operator> &op, std::string name, Registration keep,
                   size_t functionIndex) {
  return nativeRaw(name, [=](Interpreter &interpreter, CallArgs args) {
    Value function;
    if (args.positional.size() > functionIndex)
      function = args.positional[functionIndex];
    for (std::string_view key : {"func", "fn", "backward"})
      if (const Value *given = args.keyword(key))
        function = *given;
    if (!function.isNone()) {
      keep(interpreter, *op, args, function);
      return function;
    }
    return nativeRaw(name, [=](Interpreter &inner, CallArgs decorated) {
      Value target = decorated.positional.at(0);
      keep(inner, *op, args, target);
      return target;
    });
  });
}

void checkDeviceType(Interpreter &interpreter, const std::string &name) {
  static const std::set<std::string> known = {
      "cpu", "cuda", "xpu", "mps", "meta", "hpu", "mtia", "xla", "ipu", "vulkan", "privateuseone"};
  if (!known.count(name))
    interpreter.raise("RuntimeError",
                      "Expected a device type such as cpu, cuda, xpu or mps, got '" + name + "'");
}

namespace {

using Bound = std::vector<Value>;

/// The function goes to one device, several, or with None to all.
void keepKernel(Interpreter &interpreter, Operator &op, const CallArgs &args, const Value &f) {
  Value devices = args.positional.empty() ? Value() : args.positional[0];
  if (const Value *given = args.keyword("device_types"))
    devices = *given;
  if (devices.isNone()) {
    op.kernels.emplace_back("", f);
    return;
  }
  for (const Value &d :
       devices.isStr() ? std::vector<Value>{devices} : interpreter.iterate(devices)) {
    checkDeviceType(interpreter, interpreter.toStr(d, "device_types"));
    op.kernels.emplace_back(d.str(), f);
  }
}

void keepDispatchRule(Interpreter &interpreter, Operator &op, const CallArgs &args,
                      const Value &f) {
  const Value *cls = args.keyword("torch_dispatch_class");
  if (!cls && !args.positional.empty())
    cls = &args.positional[0];
  // A class of PyTorch's own that is not here: nothing is an instance of it.
  if (cls && cls->as<Opaque>())
    return;
  if (!cls || !cls->as<Class>())
    interpreter.raise("TypeError", "register_torch_dispatch() takes the class of a mode or of a "
                                   "tensor, got " +
                                       (cls ? typeName(*cls) : "nothing"));
  std::erase_if(op.dispatchRules, [&](const auto &rule) {
    return rule.first.template as<Class>() == cls->as<Class>();
  });
  op.dispatchRules.emplace_back(*cls, f);
}

/// `with op.set_kernel_enabled("cpu", False):` for as long as the block runs.
Value kernelSwitch(const std::shared_ptr<Operator> &op) {
  return native("set_kernel_enabled", "device_type, enabled=True", [op](Interpreter &i, Bound &a) {
    std::string device = i.toStr(a[0], "device_type");
    checkDeviceType(i, device);
    bool enabled = i.truth(a[1]);
    auto before = std::make_shared<bool>(false);
    return makeContext(
        [op, device, enabled, before] {
          *before = op->disabledKernels.count(device) != 0;
          enabled ? void(op->disabledKernels.erase(device))
                  : void(op->disabledKernels.insert(device));
        },
        [op, device, before] {
          *before ? void(op->disabledKernels.insert(device))
                  : void(op->disabledKernels.erase(device));
        });
  });
}

std::optional<Value> registrationNamed(const std::shared_ptr<Operator> &self,
                                       std::string_view attribute) {
  if (attribute == "register_fake" || attribute == "register_abstract" ||
      attribute == "impl_abstract")
    return registration(
        self, "register_fake",
        [](Interpreter &, Operator &op, const CallArgs &, Value f) { op.fake = f; }, 0);
  if (attribute == "register_kernel")
    return registration(self, "register_kernel", keepKernel, 1);
  if (attribute == "register_autograd")
    return registration(
        self, "register_autograd",
        [](Interpreter &, Operator &op, const CallArgs &args, Value f) {
          op.backward = f;
          if (const Value *setup = args.keyword("setup_context"))
            op.setupContext = *setup;
        },
        0);
  if (attribute == "register_vmap")
    return registration(
        self, "register_vmap",
        [](Interpreter &, Operator &op, const CallArgs &, Value f) { op.vmap = f; }, 0);
  if (attribute == "register_torch_dispatch")
    return registration(self, "register_torch_dispatch", keepDispatchRule, 1);
  return std::nullopt;
}

} // namespace

std::optional<Value> Operator::getAttr(Interpreter &interpreter, std::string_view attribute) {
  auto self = std::static_pointer_cast<Operator>(shared_from_this());
  if (attribute == overload || attribute == "default" || attribute == "_opoverload" ||
      attribute == "overloadpacket")
    return Value(self);
  if (auto registered = registrationNamed(self, attribute))
    return registered;
  if (attribute == "register_autocast")
    return native("register_autocast", "device_type, cast_inputs",
                  [self](Interpreter &i, Bound &a) {
                    std::string device = i.toStr(a[0], "device_type");
                    auto *type = a[1].as<DType>();
                    if (!type || type->family != DType::Family::Torch)
                      i.raise("TypeError", "register_autocast() casts to a torch dtype, got " +
                                               host::typeName(a[1]));
                    self->autocast[device] = a[1];
                    return Value();
                  });
  if (attribute == "register_effect")
    return nativeRaw("register_effect", [](Interpreter &i, CallArgs) -> Value {
      i.refuse("register_effect() orders operators that have effects beside their results; here "
               "operators only give and write tensors, so leave it out");
    });
  if (attribute == "set_kernel_enabled")
    return kernelSwitch(self);
  if (attribute == "overloads")
    return nativeRaw("overloads", [self](Interpreter &i, CallArgs) {
      List names;
      for (const auto &[key, op] : i.operators)
        if (op->name == self->name)
          names.emplace_back(op->overload);
      return Value::list(std::move(names));
    });
  // torch.ops.ns.op.ov: another overload of the name.
  if (auto other = interpreter.operators.find(name + "." + std::string(attribute));
      other != interpreter.operators.end())
    return Value(other->second);
  if (attribute == "__name__" || attribute == "_opname")
    return Value(name.substr(name.find("::") == std::string::npos ? 0 : name.find("::") + 2) +
                 (attribute == "__name__" && overload != "default" ? "." + overload : ""));
  if (attribute == "_qualname" || attribute == "_qualified_op_name")
    return Value(name);
  if (attribute == "_name" || attribute == "name")
    return attribute == "_name" || overload == "default"
               ? std::optional(Value(name + (overload == "default" ? "" : "." + overload)))
               : std::optional(Value(name + "." + overload));
  if (attribute == "_overloadname")
    return Value(overload);
  if (attribute == "namespace" || attribute == "_namespace")
    return Value(name.substr(0, name.find("::")));
  if (attribute == "tags")
    return tags.isNone() ? Value::list({}) : tags;
  if (attribute == "_init_fn")
    return function;
  return interpreter.findAttr(function, attribute);
}

} // namespace pellucid::host
