// SPDX-License-Identifier: Apache-2.0
// torch.cond and torch._higher_order_ops: nested structures are opened in control.py, leaves are
// recorded here.
#include "trace/EagerRecorder.h"
#include "trace/ReadSizes.h"
#include "trace/RecordControl.h"
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

namespace pellucid::trace {

using graph::ControlKind;
namespace h = pellucid::host;

namespace {

ControlKind kindNamed(const std::string &name) {
  if (name == "cond")
    return ControlKind::Cond;
  if (name == "while_loop")
    return ControlKind::WhileLoop;
  return name == "scan" ? ControlKind::Scan : ControlKind::AssociativeScan;
}

/// _record_control(kind, name, whats, functions, predicate, carried, scanned, additional, reverse)
/// None in a script whose functions need values: they are called turn by turn then.
h::Value recordCall(Tracer &tracer, h::Interpreter &interpreter, std::vector<h::Value> &a) {
  ControlCall call;
  call.kind = kindNamed(a[0].str());
  call.name = a[1].str();
  for (size_t i = 0; i < a[3].elements().size(); ++i) {
    h::Value function = a[3].elements()[i];
    call.regions.push_back(
        {a[2].elements()[i].str(), [&interpreter, function](std::vector<h::Value> leaves) {
           h::Value results =
               interpreter.call(function, {h::Value::list(h::List(leaves.begin(), leaves.end()))});
           return std::vector<h::Value>(results.elements().begin(), results.elements().end());
         }});
  }
  call.predicate = a[4];
  call.carried = a[5].elements();
  call.scanned = a[6].elements();
  call.additional = a[7].elements();
  call.reverse = a[8].boolean();
  try {
    std::vector<h::Value> results = recordControl(tracer, interpreter, call);
    return h::Value::list(h::List(results.begin(), results.end()));
  } catch (const RegionNeedsValue &) {
    if (&tracer.graph() != &tracer.program.main) // what is around it is run by its values too
      throw;
    return h::Value();
  }
}

/// The source imports torch, which has a name of it: torch comes first whatever a file begins with.
h::Value controlName(h::Interpreter &interpreter, const std::string &name) {
  interpreter.nativeModule("torch");
  return *interpreter.nativeModule("torch._pellucid_control")->globals->find(name);
}

/// What torch's own functions ask of values: in scripts alone, where it is raised as PyTorch does.
h::Value checkOperand(Tracer &tracer, h::Interpreter &interpreter, TensorObject &tensor,
                      ValueCheck check) {
  if (!isEager(tracer))
    return h::Value();
  check.where = usersLocation(interpreter);
  check.value = tracer.valueOf(tensor.tensor, check.where);
  tracer.recorder->check(std::move(check), tensor.tensor);
  return h::Value();
}

/// Elements are integers in low … high - 1, or `ignored`.
h::Value checkRange(Tracer &tracer, h::Interpreter &interpreter, std::vector<h::Value> &a) {
  auto *tensor = a[0].as<TensorObject>();
  if (!tensor || isFloat(tensor->tensor.type.dtype) || !a[1].isInt() || !a[2].isInt())
    return h::Value();
  ValueCheck check;
  check.low = interpreter.toInt64(a[1], "low");
  check.high = interpreter.toInt64(a[2], "high");
  check.type = a[3].str();
  check.text = a[4].str();
  if (!a[5].isNone())
    check.except = interpreter.toInt64(a[5], "ignored");
  return checkOperand(tracer, interpreter, *tensor, std::move(check));
}

/// No element is false or 0.
h::Value checkAll(Tracer &tracer, h::Interpreter &interpreter, std::vector<h::Value> &a) {
  auto *tensor = a[0].as<TensorObject>();
  if (!tensor)
    return h::Value();
  ValueCheck check;
  check.isNonzero = true;
  check.type = a[1].str();
  check.text = a[2].str();
  return checkOperand(tracer, interpreter, *tensor, std::move(check));
}

} // namespace

void addTorchControl(h::NativeModules &modules, Tracer &tracer) {
  modules.add("torch._pellucid_control", [&tracer](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource("torch_control_source",
                                           std::make_shared<SourceFile>("<torch>", controlSource));
    source->globals->set(
        "_record_control",
        h::native("_record_control",
                  "kind, name, whats, functions, predicate, carried, scanned, additional, reverse",
                  [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                    return recordCall(tracer, inner, a);
                  }));
    source->globals->set(
        "_values_are_known",
        h::native("_values_are_known", "", [&tracer](h::Interpreter &, std::vector<h::Value> &) {
          return h::Value(isEager(tracer));
        }));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch", [&tracer](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("cond", controlName(interpreter, "cond"));
    module.globals->set(
        "_is_script",
        h::native("_is_script", "", [&tracer](h::Interpreter &, std::vector<h::Value> &) {
          return h::Value(isEager(tracer));
        }));
    module.globals->set("_check_range",
                        h::native("_check_range", "tensor, low, high, kind, text, ignored=None",
                                  [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
                                    return checkRange(tracer, i, a);
                                  }));
    module.globals->set("_check_all",
                        h::native("_check_all", "holds, kind, text",
                                  [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
                                    return checkAll(tracer, i, a);
                                  }));
  });
  for (std::string name : {"cond", "while_loop", "map", "scan", "associative_scan"}) {
    auto set = [name](h::Interpreter &interpreter, h::Module &module) {
      module.globals->set(name, controlName(interpreter, name));
    };
    modules.add("torch._higher_order_ops", set);
    modules.add("torch._higher_order_ops." + name, set);
    if (name == "cond" || name == "map")
      modules.add("functorch.experimental.control_flow", set);
  }
}

} // namespace pellucid::trace
