// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pellucid::host {

class Interpreter;

/// Methods of numbers, ranges, slices and texts that few programs call.
void addValueMethods(Interpreter &);

} // namespace pellucid::host
