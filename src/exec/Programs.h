// SPDX-License-Identifier: Apache-2.0
/// Programs and packages as values of a script: what torch.compile, torch.export and
/// torch._inductor stand on. Their own words are written in Python (src/exec/torch).
#pragma once

#include "eager/Session.h"
#include "host/Interpreter.h"

#include <memory>

namespace pellucid::exec {

class ScriptHooks;

/// A traced program of the script.
class ProgramObject : public host::Object {
public:
  eager::TracedModel traced;
  std::shared_ptr<eager::Compiled> compiled; ///< once it was run
  std::string typeName() const override { return "Program"; }
};

/// The tensors in a structure of dicts, lists and tuples, in order.
void collectTensors(host::Interpreter &interpreter, const host::Value &value,
                    std::vector<host::Value> &out);

/// Runs the program on tensors and gives its result in the structure that it was traced with; what
/// it wrote to its inputs and buffers is written to the script's tensors.
host::Value runProgram(eager::Session &session, host::Interpreter &interpreter,
                       ProgramObject &program, const std::vector<host::Value> &inputs);

/// (program, its weights in order, (name, sizes) of each input, its result's structure as JSON) of
/// an archive of torch.export.save. Throws DiagnosticError.
host::Value loadProgram(eager::Session &session, const std::string &path);

/// `_programs`, on which the modules of src/exec/torch stand.
void addPrograms(host::NativeModules &modules, eager::Session &session, ScriptHooks &hooks);
/// Its function `compiled`, which torch.compile calls.
host::Value makeCompiled(eager::Session &session, ScriptHooks &hooks, const host::Value &function,
                         bool fullGraph, const host::Value &dynamic);

} // namespace pellucid::exec
