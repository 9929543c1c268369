// SPDX-License-Identifier: Apache-2.0
// torch.ops.
#include "trace/AtenComposites.h"
#include "trace/Dispatch.h"
#include "trace/OperatorCall.h"

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// torch.ops.aten.batch_norm, which is written with other operators.
class CompositePacket : public h::Object {
public:
  CompositePacket(std::string p, std::string o) : packet(std::move(p)), overload(std::move(o)) {}
  std::string typeName() const override { return "torch.ops." + packet; }
  bool isCallable() const override { return true; }
  h::Value call(h::Interpreter &interpreter, h::CallArgs args) override {
    if (overload.empty())
      return callAtenPacket(interpreter, packet, std::move(args));
    std::string target = packet + "." + overload;
    const AtenComposite *composite = findAtenComposite(interpreter, target);
    if (!composite)
      interpreter.raise("AttributeError", "there is no overload 'torch.ops." + target + "'");
    return callAtenComposite(interpreter, *composite, args);
  }
  std::optional<h::Value> getAttr(h::Interpreter &, std::string_view name) override {
    if (!overload.empty())
      return std::nullopt;
    return h::Value(std::make_shared<CompositePacket>(packet, std::string(name)));
  }

private:
  std::string packet, overload;
};

/// torch.ops and torch.ops.ns: operators of the user by name, and the built-in ones.
class OperatorSpaces : public h::Object {
public:
  OperatorSpaces(Tracer &t, std::string s) : tracer(t), space(std::move(s)) {}
  std::string typeName() const override {
    return space.empty() ? "torch.ops" : "torch.ops." + space;
  }
  std::optional<h::Value> getAttr(h::Interpreter &interpreter, std::string_view name) override {
    if (space.empty() && name == "load_library")
      return h::native("torch.ops.load_library", "path",
                       [](h::Interpreter &i, std::vector<h::Value> &a) -> h::Value {
                         i.raise("OSError",
                                 "Could not load this library: " + i.str(a[0]) +
                                     " (libraries of compiled code are not loaded here)");
                       });
    if (space.empty())
      return h::Value(std::make_shared<OperatorSpaces>(tracer, std::string(name)));
    if (space == "inductor" && name == "_reinterpret_tensor")
      return h::native("torch.ops.inductor._reinterpret_tensor",
                       "self, size, stride, offset_increment=0",
                       [](h::Interpreter &i, std::vector<h::Value> &a) {
                         h::Value offset = i.call(i.getAttr(a[0], "storage_offset"));
                         return i.call(i.getAttr(a[0], "as_strided"),
                                       {a[1], a[2], i.binary(h::BinaryOp::Add, offset, a[3])});
                       });
    // Generated files name it whether they plan one pool for all buffers or not.
    if (space == "inductor" && name == "_alloc_from_pool")
      return h::nativeRaw(
          "torch.ops.inductor._alloc_from_pool", [](h::Interpreter &i, h::CallArgs args) {
            auto guards = i.nativeModule("torch._C._dynamo.guards");
            return i.call(i.getAttr(h::Value(guards), "_alloc_from_pool"), std::move(args));
          });
    std::string full = space + "::" + std::string(name);
    if (auto entry = interpreter.operators.find(full); entry != interpreter.operators.end())
      return h::Value(entry->second);
    if (!tracer.registry.overloads(space + "." + std::string(name)).empty())
      return atenOverload(tracer, interpreter, space + "." + std::string(name));
    // torch.ops.aten.add_: what writes is said by its name.
    if (name.size() > 1 && name.ends_with("_") &&
        !tracer.registry.overloads(space + "." + std::string(name.substr(0, name.size() - 1)))
             .empty())
      return atenOverload(tracer, interpreter, space + "." + std::string(name));
    if (!atenComposites(interpreter, space + "." + std::string(name)).empty())
      return h::Value(std::make_shared<CompositePacket>(space + "." + std::string(name), ""));
    interpreter.raise("AttributeError", "no operator '" + full + "' is declared");
  }

private:
  Tracer &tracer;
  std::string space;
};

} // namespace

void addTorchOps(h::NativeModules &modules, Tracer &tracer) {
  modules.add("torch", [&tracer](h::Interpreter &, h::Module &module) {
    module.globals->set("ops", h::Value(std::make_shared<OperatorSpaces>(tracer, "")));
  });
}

} // namespace pellucid::trace
