// SPDX-License-Identifier: Apache-2.0
/// Where modules are found: the files and folders that dotted names stand for.
#pragma once

#include "host/InterpreterState.h"

namespace pellucid::host {

inline constexpr std::string_view packageFile = "__init__.py";

/// The path without links and dots; `path` itself where it cannot be followed.
std::string canonical(const std::string &path);
bool isFile(const std::string &path);
/// The folder that a file or folder lies in; "." for a plain name.
std::string folderOf(const std::string &path);

/// A folder without __init__.py, or a package whose __init__ nobody asked for yet: submodules can
/// be found in it, and its own names make the __init__ run.
std::shared_ptr<Module> shellFor(Interpreter &interpreter, const std::string &name,
                                 const std::string &folder);
/// Module `part` inside `folder`: a file, a package, or a plain folder; null where there is none.
/// A package's __init__ runs where `runPackage`.
std::shared_ptr<Module> findIn(Interpreter &interpreter, const std::string &folder,
                               const std::string &part, const std::string &fullName,
                               bool runPackage);
/// The same for a dotted name below `root`, whose parts are named `prefix` and what follows.
std::shared_ptr<Module> findUnder(Interpreter &interpreter, const std::string &root,
                                  const std::string &dotted, const std::string &prefix = {});
/// A file, package or native module of that absolute name, or an Opaque.
Value findModule(Interpreter &interpreter, const std::string &dotted);

} // namespace pellucid::host
