// SPDX-License-Identifier: Apache-2.0
// Built-ins written in the kernel language. Their rules for types follow from those of the
// operations they use, as they do in Triton.
#include "frontend/Emitter.h"

namespace pellucid::frontend {

static constexpr const char *source =
#include "frontend/standard_library.py.inc"
#include "frontend/standard_library_random.py.inc"
    ;

namespace {

/// The library's own evaluator: its modules and kernels are none of the user's.
struct Library {
  host::Interpreter interpreter;
  std::shared_ptr<host::Module> module;
  Library() {
    auto file = std::make_shared<SourceFile>(std::string(standardLibraryName), source);
    module = interpreter.importSource("pellucid_standard_library", file);
  }
};

} // namespace

std::shared_ptr<host::JitFunction> standardFunction(std::string_view name) {
  // Values of an evaluator stay on one thread.
  thread_local Library library;
  const host::Value *found = library.module->globals->find(name);
  return found ? found->shared<host::JitFunction>() : nullptr;
}

} // namespace pellucid::frontend
