// SPDX-License-Identifier: Apache-2.0
/// The text of a program, or of one of its kernels, after a stage of the compiler.
#pragma once

#include "package/Package.h"

#include <functional>
#include <optional>
#include <string>

namespace pellucid::cli {

/// The records and the manifest of a package, wherever they are.
struct IrSource {
  const package::Manifest &manifest;
  std::function<std::optional<std::string>(const std::string &)> record;
};

/// For --help: the stages and how they are spelled.
std::string irStages();

/// The text that `--ir stage` asks for. `target`: whose code, empty for the package's first. Throws
/// DiagnosticError when there is no such stage, kernel or target.
std::string irText(const IrSource &source, const std::string &stage, const std::string &target);

} // namespace pellucid::cli
