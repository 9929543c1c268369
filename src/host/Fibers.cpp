// SPDX-License-Identifier: Apache-2.0
/// Threads of a script: functions that run on stacks of their own and take turns where they wait.
/// Who waits for whom is in threading.py.
#include "host/InterpreterState.h"

namespace pellucid::host {

namespace {

/// The fibers that run, each started by the one before it.
using Leave = std::function<bool(const Value &)>;
std::vector<const Leave *> &running() {
  static thread_local std::vector<const Leave *> fibers;
  return fibers;
}

Value newFiber(Interpreter &interpreter, std::vector<Value> &a) {
  Iterator::Producer produce = [&interpreter, function = a[0]](const Leave &leave) {
    running().push_back(&leave);
    struct Pop {
      const Leave *mine;
      ~Pop() { std::erase(running(), mine); }
    } pop{&leave};
    interpreter.call(function);
  };
  return Value(std::make_shared<Iterator>("thread", std::move(produce)));
}

/// Leaves the fiber that runs, until its turn comes again.
Value leaveFiber(Interpreter &interpreter, std::vector<Value> &) {
  if (running().empty())
    interpreter.raise("RuntimeError", "the main thread has nobody to go on");
  const Leave *mine = running().back();
  running().pop_back();
  bool goesOn = (*mine)(Value());
  running().push_back(mine);
  if (!goesOn) { // the script ends
    Value exit = makeException(interpreter, interpreter.builtinClass("SystemExit"), {});
    exit.as<Instance>()->attributes.set("code", Value());
    throw RaisedError(Diagnostic(Severity::Error, interpreter.location(), "SystemExit"), exit);
  }
  return Value();
}

} // namespace

void addFibers(NativeModules &modules) {
  modules.add("_fibers", [](Interpreter &, Module &m) {
    m.globals->set("fiber", native("fiber", "function", newFiber));
    m.globals->set("leave", native("leave", "", leaveFiber));
    // How time.sleep() lets others go on, once there are any.
    m.globals->set("others", Value::list({}));
    m.globals->set("in_fiber", native("in_fiber", "", [](Interpreter &, std::vector<Value> &) {
                     return Value(!running().empty());
                   }));
  });
}

} // namespace pellucid::host
