// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ReductionRules.h"

#include "graph/FakeRules.h"

namespace pellucid::passes {

using namespace graph;

namespace {

std::string extremeOf(DataType type, bool highest) {
  if (isFloat(type))
    return highest ? "float('inf')" : "float('-inf')";
  if (type == DataType::Bool)
    return highest ? "1" : "0";
  unsigned bits = 8 * byteSize(type);
  if (!info(type).isSigned)
    return highest ? std::to_string(~uint64_t(0) >> (64 - bits)) : "0";
  int64_t top = static_cast<int64_t>(~uint64_t(0) >> (65 - bits));
  return std::to_string(highest ? top : -top - 1);
}

/// The largest or smallest; NaN when any is NaN.
void extremum(ReductionRule &rule, DataType range, bool smallest) {
  std::string name = smallest ? "min" : "max";
  // Truth values of bytes are 0 and 1.
  if (rule.identity == "inf" || rule.identity == "-inf")
    rule.identity = extremeOf(range, smallest);
  rule.step = {"acc = tl." + name + "imum(acc, v, propagate_nan=tl.PropagateNan.ALL)"};
  rule.across = {"acc = tl." + name + "(acc, axis=AXIS)"};
  if (!isFloat(range))
    return;
  // Of two lanes as of two elements: asked by itself, whether any is NaN would take another
  // exchange of all lanes.
  const std::string combine = smallest ? "smaller" : "larger";
  rule.across = {"acc = tl.reduce(acc, AXIS, " + combine + ")"};
  rule.helper = "@triton.jit\ndef " + combine + "(a, b):\n    return tl." + name +
                "imum(a, b, propagate_nan=tl.PropagateNan.ALL)\n\n\n";
}

/// Where the first of the largest or smallest stands; the first NaN when there is one.
void position(ReductionRule &rule, DataType range, bool smallest) {
  std::string order = smallest ? "<" : ">", name = smallest ? "min" : "max";
  rule.identity = extremeOf(range, smallest);
  rule.start = {"place = tl.full(SHAPE, -1, tl.int64)"};
  rule.step = {"better = inside & ((place < 0) | (v " + order +
                   " acc) | ((v != v) & (acc == acc)))",
               "acc = tl.where(better, v, acc)", "place = tl.where(better, at, place)"};
  rule.across = {"best = tl." + name + "(tl.where(place >= 0, acc, " + rule.identity +
                     "), axis=AXIS)",
                 "chosen = ((place >= 0) & (acc == RAISED(best))).to(tl.int32)"};
  if (isFloat(range)) {
    rule.across.insert(rule.across.begin(), "wrong = ((acc != acc) & (place >= 0)).to(tl.int32)");
    rule.across.push_back("broken = tl.max(wrong, axis=AXIS)");
    rule.across.push_back("chosen = tl.where(RAISED(broken) > 0, wrong, chosen)");
    rule.across.push_back("best = tl.where(broken > 0, float('nan'), best)");
  }
  rule.across.push_back(
      "place = tl.min(tl.where(chosen > 0, place.to(tl.int64), 9223372036854775807), axis=AXIS)");
  rule.across.push_back("acc = best");
  rule.finish = "place";
  rule.keepsPlace = true;
  // Numbers are compared with the one that is wanted once it is known, instead of each with the
  // last and its place. A wanted NaN is none that is equal to itself.
  bool mayBeNan = isFloat(range);
  std::string best = mayBeNan ? "tl.reduce(v, AXIS, further)" : "tl." + name + "(v, axis=AXIS)";
  rule.whole = {"acc = " + best,
                mayBeNan ? "chosen = inside & tl.where(RAISED(acc) == RAISED(acc), v == "
                           "RAISED(acc), v != v)"
                         : "chosen = inside & (v == RAISED(acc))",
                "place = tl.min(tl.where(chosen, at, 2147483647), axis=AXIS).to(tl.int64)"};
  if (mayBeNan)
    rule.helper = "@triton.jit\ndef further(a, b):\n    return tl." + name +
                  "imum(a, b, propagate_nan=tl.PropagateNan.ALL)\n\n\n";
}

} // namespace

ReductionRule reductionRule(const OperatorCall &call, DataType from, DataType result) {
  const ReductionBody &body = call.op.reduction;
  ReductionRule rule;
  switch (body.accumulate) {
  case ReductionBody::Accumulate::OpMath:
    rule.accumulate = isFloat(result)                             ? opMathType(result)
                      : isInteger(from) || from == DataType::Bool ? DataType::Int64
                                                                  : result;
    break;
  case ReductionBody::Accumulate::ResultType:
    rule.accumulate = result;
    break;
  case ReductionBody::Accumulate::Same:
    rule.accumulate = opMathType(from);
    break;
  }
  rule.identity = body.identity;
  // Truth values are counted in integers.
  bool truth = rule.accumulate == DataType::Bool;
  DataType range = rule.accumulate;
  if (truth)
    rule.accumulate = DataType::Int32;
  switch (body.combine) {
  case ReductionBody::Combine::Sum:
    rule.step = {"acc = acc + v"};
    rule.across = {"acc = tl.sum(acc, axis=AXIS)"};
    break;
  case ReductionBody::Combine::Prod:
    rule.step = {"acc = acc * v"};
    rule.across = {"acc = tl.reduce(acc, AXIS, multiply)"};
    rule.helper = "@triton.jit\ndef multiply(a, b):\n    return a * b\n\n\n";
    break;
  case ReductionBody::Combine::Max:
    extremum(rule, range, false);
    break;
  case ReductionBody::Combine::Min:
    extremum(rule, range, true);
    break;
  case ReductionBody::Combine::ArgMax:
    position(rule, range, false);
    break;
  case ReductionBody::Combine::ArgMin:
    position(rule, range, true);
    break;
  }
  if (rule.identity == "-inf" || rule.identity == "inf")
    rule.identity = "float('" + rule.identity + "')";
  return rule;
}

ReductionRule spreadRule(DataType accumulate) {
  ReductionRule rule;
  std::string type = tlName(accumulate);
  rule.accumulate = accumulate;
  rule.identity = "0";
  rule.keepsSpread = true;
  rule.start = {"spread = tl.zeros(SHAPE, " + type + ")", "count = tl.zeros(SHAPE, " + type + ")"};
  rule.step = {"count = count + inside.to(" + type + ")", "delta = v - acc",
               "acc = acc + tl.where(inside, delta / count, 0)",
               "spread = spread + tl.where(inside, delta * (v - acc), 0)"};
  rule.merge = {
      "both = count + in2",        "share = in2 / tl.maximum(both, 1)",
      "delta = v - acc",           "spread = spread + in1 + delta * delta * count * share",
      "acc = acc + delta * share", "count = both"};
  rule.across = {"both = tl.sum(count, axis=AXIS)",
                 "middle = tl.sum(acc * count, axis=AXIS) / tl.maximum(both, 1)",
                 "apart = acc - RAISED(middle)",
                 "spread = tl.sum(spread + count * apart * apart, axis=AXIS)",
                 "acc = middle",
                 "count = both"};
  rule.finish = "spread";
  return rule;
}

std::string reductionMap(const std::string &map, const std::string &to) {
  std::string out;
  for (size_t i = 0; i < map.size(); ++i) {
    auto isWord = [&](size_t at) {
      return at < map.size() && (isalnum(static_cast<unsigned char>(map[at])) || map[at] == '_');
    };
    bool alone =
        map[i] == 'x' && !(i > 0 && (isWord(i - 1) || map[i - 1] == '.')) && !isWord(i + 1);
    out += alone ? to : std::string(1, map[i]);
  }
  return out;
}

} // namespace pellucid::passes
