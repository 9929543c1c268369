// SPDX-License-Identifier: Apache-2.0
#include "trace/MemoryFormats.h"

#include "graph/FakeRules.h"
#include "trace/TensorCalls.h"

#include <algorithm>
#include <set>

namespace pellucid::trace {

using namespace graph;
namespace h = pellucid::host;

namespace {

/// How many dims a tensor of that format has.
size_t rankOf(const h::Value &format) { return format.str() == "channels_last" ? 4 : 5; }

/// The dims in the order of the memory, or those of the memory in the usual order.
h::Value order(size_t rank, bool ofMemory) {
  h::List dims;
  for (size_t i = 0; i < rank; ++i) {
    size_t dim = ofMemory ? (i == 0         ? 0
                             : i + 1 < rank ? i + 1
                                            : 1)
                          : (i == 0   ? 0
                             : i == 1 ? rank - 1
                                      : i - 1);
    dims.emplace_back(static_cast<int64_t>(dim));
  }
  return h::Value::list(std::move(dims));
}

h::Value permuted(Tracer &tracer, h::Interpreter &interpreter, const h::Value &tensor, size_t rank,
                  bool toMemory) {
  return callAten(tracer, interpreter, "permute", argsOf({tensor, order(rank, toMemory)}));
}

void checkRank(h::Interpreter &interpreter, size_t rank, const h::Value &format) {
  if (rank != rankOf(format))
    interpreter.raise("RuntimeError", "required rank " + std::to_string(rankOf(format)) +
                                          " tensor to use " + format.str() + " format");
}

h::CallArgs without(h::CallArgs args, std::string_view keyword) {
  std::erase_if(args.keywords, [&](const auto &one) { return one.first == keyword; });
  return args;
}

} // namespace

bool isChannelsLast(const h::Value &value) {
  return value.isStr() && (value.str() == "channels_last" || value.str() == "channels_last_3d");
}

bool isInFormat(h::Interpreter &, const TensorObject &self, const h::Value &format) {
  const TensorType &type = self.tensor.type;
  const SymbolTable &symbols = self.tracer.symbols();
  if (type.rank() != rankOf(format))
    return false;
  Expr expected = 1;
  for (size_t i = type.rank(); i-- > 0;) {
    size_t dim = i == 0 ? 0 : i + 1 < type.rank() ? i + 1 : 1;
    if (symbols.proveEqual(type.shape[dim], 1))
      continue;
    if (!symbols.proveEqual(type.strides[dim], expected))
      return false;
    expected = expected * type.shape[dim];
  }
  return true;
}

h::Value inFormat(TensorObject &self, h::Interpreter &interpreter, const h::Value &format,
                  bool copies) {
  size_t rank = self.tensor.type.rank();
  checkRank(interpreter, rank, format);
  if (!copies && isInFormat(interpreter, self, format))
    return selfOf(self);
  h::Value inMemory = permuted(self.tracer, interpreter, selfOf(self), rank, true);
  h::Value made = callAten(self.tracer, interpreter, "clone",
                           argsOf({inMemory}, {{"memory_format", h::Value("contiguous_format")}}));
  return permuted(self.tracer, interpreter, made, rank, false);
}

h::Value toFormat(TensorObject &self, h::Interpreter &interpreter, const h::Value &format,
                  bool isFresh) {
  const TensorType &type = self.tensor.type;
  bool suggests = suggestsChannelsLast(type, self.tracer.symbols());
  if (isChannelsLast(format))
    return suggests && type.rank() == rankOf(format) ? selfOf(self)
                                                     : inFormat(self, interpreter, format, true);
  if (suggests)
    return callAten(self.tracer, interpreter, "clone",
                    argsOf({selfOf(self)}, {{"memory_format", h::Value("contiguous_format")}}));
  return isFresh ? callAten(self.tracer, interpreter, "contiguous", argsOf({selfOf(self)}))
                 : selfOf(self);
}

static bool keepsFormat(std::string_view name, size_t rank) {
  static const std::set<std::string_view>
      ofImages = {"max_pool2d",           "max_pool2d_with_indices",
                  "avg_pool2d",           "adaptive_avg_pool2d",
                  "_adaptive_avg_pool2d", "adaptive_max_pool2d",
                  "upsample_nearest2d",   "_upsample_nearest_exact2d",
                  "upsample_bilinear2d",  "_upsample_bilinear2d_aa",
                  "upsample_bicubic2d",   "_upsample_bicubic2d_aa",
                  "pixel_shuffle",        "pixel_unshuffle",
                  "channel_shuffle",      "native_channel_shuffle",
                  "reflection_pad2d",     "replication_pad2d"},
      ofVolumes = {"max_pool3d", "max_pool3d_with_indices", "upsample_nearest3d",
                   "_upsample_nearest_exact3d", "upsample_trilinear3d"},
      ofBoth = {"group_norm", "native_group_norm", "pad", "constant_pad_nd", "roll", "lerp"};
  return ofBoth.count(name) || (rank == 4 ? ofImages : ofVolumes).count(name);
}

h::Value inFormatOf(h::Interpreter &interpreter, std::string_view name, TensorObject &self,
                    const h::Value &result) {
  const TensorType &type = self.tensor.type;
  size_t rank = type.rank();
  if ((rank != 4 && rank != 5) || type.isContiguous(self.tracer.symbols()) ||
      !keepsFormat(name, rank) || !suggestsChannelsLast(type, self.tracer.symbols()))
    return result;
  if (result.isTuple()) {
    h::Tuple all;
    for (const h::Value &element : result.tuple())
      all.push_back(inFormatOf(interpreter, name, self, element));
    return h::Value::tuple(std::move(all));
  }
  auto *made = result.as<TensorObject>();
  if (!made || made->tensor.type.rank() != rank)
    return result;
  h::Value format(rank == 4 ? "channels_last" : "channels_last_3d");
  h::Value laid = result;
  const std::vector<Expr> &shape = made->tensor.type.shape;
  bool isPixel = shape[2].constant() == 1 && shape[3].constant() == 1;
  if (isPixel && name.ends_with("adaptive_avg_pool2d"))
    // The strides of one pixel are those of its channels.
    laid = permuted(
        self.tracer, interpreter,
        callAten(self.tracer, interpreter, "view",
                 argsOf({result, h::Value::list({h::Value::integer(shape[0]), h::Value(1),
                                                 h::Value(1), h::Value::integer(shape[1])})})),
        rank, false);
  else
    laid = inFormat(*made, interpreter, format);
  laid.as<TensorObject>()->tensor.storage->stridesKnown = true;
  return laid;
}

std::optional<h::Value> callInFormat(Tracer &tracer, h::Interpreter &interpreter,
                                     const std::string &name, const h::CallArgs &args) {
  const h::Value *asked = args.keyword("memory_format");
  if (!asked || !isChannelsLast(*asked))
    return std::nullopt;
  const h::Value format = *asked;
  h::CallArgs plain = without(args, "memory_format");
  std::string packet = name.starts_with("aten.") ? name.substr(5) : name;
  packet = packet.substr(0, packet.find('.'));
  const h::Value *first = args.positional.empty() ? args.keyword("input") : &args.positional[0];
  if (!first)
    first = args.keyword("self");
  auto *self = first ? first->as<TensorObject>() : nullptr;
  if (self && (packet == "contiguous" || packet == "clone"))
    return inFormat(*self, interpreter, format, packet == "clone");
  // What they hold is the same in any order; numbers are drawn in the order of the memory.
  if (packet == "to" || packet == "_to_copy" || packet == "empty" || packet == "empty_like" ||
      packet == "zeros_like" || packet == "ones_like" || packet == "full_like") {
    h::Value result = callAten(tracer, interpreter, name, plain);
    return toFormat(*result.as<TensorObject>(), interpreter, format);
  }
  interpreter.refuse("'" + name + "' with memory_format=" + format.str() +
                     " is not supported; write .contiguous(memory_format=torch." + format.str() +
                     ") after it");
}

} // namespace pellucid::trace
