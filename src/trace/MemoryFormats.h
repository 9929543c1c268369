// SPDX-License-Identifier: Apache-2.0
/// torch.channels_last and torch.channels_last_3d: tensors whose channels lie innermost. Such a
/// tensor is a contiguous one of another order, seen in the usual order.
#pragma once

#include "trace/TensorObject.h"

namespace pellucid::trace {

/// Whether `value` names one of them.
bool isChannelsLast(const host::Value &value);
/// x.is_contiguous(memory_format=format)
bool isInFormat(host::Interpreter &, const TensorObject &, const host::Value &format);
/// x.contiguous(memory_format=format); `copies`: also of what lies so already.
host::Value inFormat(TensorObject &, host::Interpreter &, const host::Value &format,
                     bool copies = false);
/// What x.to(memory_format=format) makes of `self`, x in the wanted type and place. A tensor whose
/// strides suggest the format is returned as it is, also a part of a larger one; [n, 1, h, w] is
/// laid out anew, though is_contiguous() holds of it. `isFresh`: another tensor than x, which has
/// to be contiguous where that was asked for.
host::Value toFormat(TensorObject &, host::Interpreter &, const host::Value &format,
                     bool isFresh = false);
/// What the composite `name` gives for `self` lies as PyTorch has it: some keep channels innermost.
host::Value inFormatOf(host::Interpreter &, std::string_view name, TensorObject &self,
                       const host::Value &result);
/// A call of ATen with memory_format=channels_last; nullopt where none is asked for.
std::optional<host::Value> callInFormat(Tracer &, host::Interpreter &, const std::string &name,
                                        const host::CallArgs &args);

} // namespace pellucid::trace
