// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/WindowText.h"

#include "passes/graph/KernelWriter.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace pellucid::passes {

namespace {

constexpr size_t batchDim = 0, channelDim = 1, firstSpatial = 2;
constexpr size_t none = SIZE_MAX;

std::string both(const std::string &a, const std::string &b) {
  return a.empty() ? b : b.empty() ? a : a + " & " + b;
}

int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/// Lanes lie along one dim of the result, the channels or the last spatial one, so that they read
/// and write neighbours. Along another spatial dim each thread has a run of `run` results: an
/// element of x that several of their windows share is loaded and widened once.
class WindowWriter {
public:
  WindowWriter(const WindowSpec &s, const DeviceModel &d, const SymbolTable &t)
      : spec(s), device(d), symbols(t), writer(s.name) {
    shape = {spec.batch, spec.channels};
    shape.insert(shape.end(), spec.outputSizes.begin(), spec.outputSizes.end());
    bool byChannels = spec.x.strides[channelDim].constant() == 1 &&
                      spec.result.strides[channelDim].constant() == 1;
    laneDim = byChannels ? channelDim : shape.size() - 1;
    runDim = byChannels ? shape.size() - 1 : shape.size() > 3 ? shape.size() - 2 : none;
    chooseTile();
  }

  KernelText write() {
    declare();
    placeTile();
    placeWindows();
    addTerms();
    for (int64_t r = 0; r < run; ++r)
      storeResult(r);
    Expr grid = symbolic::ceilDiv(shape[laneDim], lanes) * symbolic::ceilDiv(allLines(), lines);
    KernelText text = writer.finish(grid, lanes);
    text.numWarps = warps;
    text.numStages = 1;
    text.origin = std::to_string(lines) + " lines of " + std::to_string(lanes) +
                  (laneDim == channelDim ? " channels" : " places") + ", runs of " +
                  std::to_string(run);
    return text;
  }

private:
  // --- the choice

  int64_t likely(const Expr &expr) const {
    constexpr int64_t usual = 64;
    if (auto value = expr.constant())
      return *value;
    symbolic::Range range = symbols.range(expr);
    return std::clamp<int64_t>(symbols.hint(expr).value_or(usual), std::max<int64_t>(1, range.min),
                               std::max<int64_t>(1, range.max));
  }

  /// Where the windows of a run of `length` results reach, from the first one's begin on.
  std::vector<int64_t> reached(int64_t length) const {
    if (runDim == none)
      return {0};
    size_t d = runDim - firstSpatial;
    std::set<int64_t> places;
    for (int64_t r = 0; r < length; ++r)
      for (int64_t k = 0; k < spec.kernel[d]; ++k)
        places.insert(r * spec.stride[d] + k * spec.dilation[d]);
    return {places.begin(), places.end()};
  }

  void chooseRun() {
    if (runDim == none)
      return;
    constexpr int64_t longest = 8;
    int64_t size = likely(shape[runDim]), taps = spec.kernel[runDim - firstSpatial], least = 0;
    for (int64_t length = 1; length <= std::min(longest, size); ++length) {
      // An element is loaded and widened; so is a factor, for all results of the run.
      int64_t cost = (size + length - 1) / length *
                     (2 * static_cast<int64_t>(reached(length).size()) + length * taps + 2 * taps);
      if (length == 1 || cost <= least) {
        least = cost;
        run = length;
      }
    }
  }

  void chooseTile() {
    chooseRun();
    // A thread moves at most 16 bytes at a time, and no more than what is aligned.
    int64_t vector = 1, size = likely(shape[laneDim]);
    if (laneDim == channelDim && spec.inputs == 1 && spec.outputs == 1)
      vector = std::gcd(spec.channels.constant().value_or(1),
                        std::max<int64_t>(1, 16 / static_cast<int64_t>(byteSize(spec.type))));
    constexpr int64_t most = 64, least = 16;
    lanes = std::max(least, vector);
    for (int64_t width = lanes; width <= std::min(most, 32 * vector); width *= 2)
      if (roundUp(size, width) <= roundUp(size, lanes) && width / 2 < size)
        lanes = width;
    // Few programs leave multiprocessors idle: smaller ones then.
    constexpr int64_t wanted = 4;
    for (warps = 4;; warps /= 2) {
      lines = std::max<int64_t>(1, 32 * warps * vector / lanes);
      int64_t programs = (likely(allLines()) + lines - 1) / lines * roundUp(size, lanes) / lanes;
      if (warps == 1 || programs >= wanted * device.processors)
        return;
    }
  }

  // --- places

  /// Dims of the result that lines run over: all but the lanes' one, runs in place of what they
  /// are made of.
  std::vector<size_t> lineDims() const {
    std::vector<size_t> dims;
    for (size_t d = 0; d < shape.size(); ++d)
      if (d != laneDim)
        dims.push_back(d);
    return dims;
  }
  Expr steps(size_t dim) const {
    return dim == runDim ? symbolic::ceilDiv(shape[dim], run) : shape[dim];
  }
  Expr allLines() const {
    Expr all = 1;
    for (size_t d : lineDims())
      all = all * steps(d);
    return all;
  }

  void declare() {
    writer.pointer("p0");
    writer.pointer("p1");
    if (!spec.bias.empty())
      writer.pointer("bias");
    for (size_t i = 0; i < spec.operands.size(); ++i)
      writer.pointer("q" + std::to_string(i));
    writer.pointer("o0");
  }

  /// Whether places in every operand, and the numbers of lines, are 32-bit integers.
  bool isSmall() const {
    auto reaches = [&](const TextOperand &operand, const std::vector<Expr> &sizes) {
      Expr farthest = operand.offset;
      for (size_t d = 0; d < operand.strides.size(); ++d)
        farthest = farthest + sizes[d] * operand.strides[d];
      return symbols.range(farthest).max <= INT32_MAX / 2;
    };
    // Windows begin before the border and end behind it.
    std::vector<Expr> seen{spec.batch,
                           symbolic::floorDiv(spec.channels, spec.outputs) * spec.inputs};
    for (size_t d = 0; d < spec.kernel.size(); ++d)
      seen.push_back(spec.inputSizes[d] + 2 * spec.padding[d] + (run + 1) * spec.stride[d] +
                     spec.dilation[d] * spec.kernel[d]);
    std::vector<Expr> results = shape;
    for (Expr &size : results)
      size = size + run;
    return symbols.range(allLines()).max <= INT32_MAX / 2 && reaches(spec.x, seen) &&
           reaches(spec.result, results) &&
           std::all_of(spec.operands.begin(), spec.operands.end(),
                       [&](const TextOperand &operand) { return reaches(operand, results); });
  }

  void placeTile() {
    std::string type = isSmall() ? "" : ".to(tl.int64)", lane = std::to_string(lanes),
                line = std::to_string(lines);
    std::string across = writer.scalar(symbolic::ceilDiv(shape[laneDim], lanes));
    writer.line("pid = tl.program_id(0)" + type);
    writer.line("lane = pid % " + across + " * " + lane + " + tl.arange(0, " + lane + ")");
    writer.line("line = pid // " + across + " * " + line + " + tl.arange(0, " + line + ")");
    if (!symbols.isMultipleOf(shape[laneDim], lanes)) {
      writer.line("lane_there = (lane < " + writer.scalar(shape[laneDim]) + ")[None, :]");
      laneThere = "lane_there";
    }
    if (!symbols.isMultipleOf(allLines(), lines)) {
      writer.line("line_there = (line < " + writer.scalar(allLines()) + ")[:, None]");
      lineThere = "line_there";
    }
    std::vector<Expr> sizes;
    for (size_t d : lineDims())
      sizes.push_back(steps(d));
    std::vector<std::string> indices = writer.delinearize("line", sizes, sizes.size(), "idx");
    at.assign(shape.size(), "lane[None, :]");
    for (size_t i = 0; i < indices.size(); ++i)
      at[lineDims()[i]] = indices[i] + "[:, None]";
    if (runDim != none && run > 1) {
      writer.line("run = " + at[runDim] + " * " + std::to_string(run));
      at[runDim] = "run";
    }
  }

  /// `x`: a tile of pointers to where the windows begin; `from0`, …: these places along the spatial
  /// dims.
  void placeWindows() {
    std::vector<std::string> places{at[batchDim], at[channelDim]};
    if (spec.outputs > 1)
      places[channelDim] += " // " + std::to_string(spec.outputs);
    if (spec.inputs > 1)
      places[channelDim] += " * " + std::to_string(spec.inputs);
    if (spec.outputs > 1 || spec.inputs > 1) {
      writer.line("channel = " + places[channelDim]);
      places[channelDim] = "channel";
    }
    for (size_t d = 0; d < spec.kernel.size(); ++d) {
      std::string name = "from" + std::to_string(d);
      writer.line(name + " = " + at[firstSpatial + d] + " * " + std::to_string(spec.stride[d]) +
                  " - " + std::to_string(spec.padding[d]));
      places.push_back(name);
    }
    writer.line("tile = tl.zeros([" + std::to_string(lines) + ", " + std::to_string(lanes) +
                "], tl.int32)");
    writer.line("x = p0 + (" + writer.address(spec.x, places) + " + tile)");
    TextOperand factors{spec.type, std::vector<Expr>(shape.size(), Expr(0)), spec.weight.offset};
    factors.strides[channelDim] = spec.weight.strides[0];
    writer.line("w = p1 + (" + writer.address(factors, at) + ")");
    // The places along the run that are inside are the same for all taps.
    for (int64_t place : reached(run))
      if (runDim != none)
        if (std::string inside = insideText(runDim - firstSpatial, place); !inside.empty())
          writer.line("inside" + std::to_string(place) + " = " + inside);
    std::string type = tlName(spec.accumulate);
    for (int64_t r = 0; r < run; ++r)
      writer.line("acc" + std::to_string(r) + " = tl.zeros([" + std::to_string(lines) + ", " +
                  std::to_string(lanes) + "], " + type + ")");
  }

  /// Whether the place `further` from the window's begin along spatial dim d is inside of x; empty:
  /// it always is.
  std::string insideText(size_t d, int64_t further) {
    bool isRun = firstSpatial + d == runDim;
    bool isCut = isRun && !symbols.isMultipleOf(shape[runDim], run);
    if (spec.padding[d] == 0 && !isCut)
      return "";
    std::string place = "(from" + std::to_string(d) + " + " + std::to_string(further) + ")";
    return "(" + place + " >= 0) & (" + place + " < " + writer.scalar(spec.inputSizes[d]) + ")";
  }

  // --- the sum

  /// Loops over the channels of a group and the kernel's dims that have no run.
  void addTerms() {
    struct Loop {
      std::string name;
      int64_t extent;
    };
    std::vector<Loop> loops{{"i", spec.inputs}};
    TextOperand further{spec.type, {spec.x.strides[channelDim]}, 0},
        factor{spec.type, {spec.weight.strides[1]}, 0};
    std::string there = both(lineThere, laneThere);
    std::vector<std::string> conditions;
    for (size_t d = 0; d < spec.kernel.size(); ++d) {
      if (firstSpatial + d == runDim)
        continue;
      loops.push_back({"k" + std::to_string(d), spec.kernel[d]});
      further.strides.push_back(spec.x.strides[firstSpatial + d] * spec.dilation[d]);
      factor.strides.push_back(spec.weight.strides[2 + d]);
    }
    std::vector<std::string> names;
    size_t opened = 0;
    for (const Loop &loop : loops) {
      names.push_back(loop.extent == 1 ? "" : loop.name);
      if (loop.extent == 1)
        continue;
      writer.open("for " + loop.name + " in range(" + std::to_string(loop.extent) + "):");
      ++opened;
    }
    for (size_t d = 0; d < spec.kernel.size(); ++d)
      if (firstSpatial + d != runDim && spec.padding[d] != 0) {
        std::string name = "place" + std::to_string(d);
        std::string tap = spec.kernel[d] == 1 ? ""
                                              : " + k" + std::to_string(d) + " * " +
                                                    std::to_string(spec.dilation[d]);
        writer.line(name + " = from" + std::to_string(d) + tap);
        there = both(there, "(" + name + " >= 0) & (" + name + " < " +
                                writer.scalar(spec.inputSizes[d]) + ")");
      }
    if (!there.empty()) {
      writer.line("there = " + there);
      there = "there";
    }
    writer.line("row = x + (" + writer.address(further, names) + ")");
    writer.line("factors = w + (" + writer.address(factor, names) + ")");
    addRun(there);
    for (size_t i = 0; i < opened; ++i)
      writer.close();
  }

  /// Of one place of the loops: the terms along the run.
  void addRun(const std::string &there) {
    std::string wide = ".to(" + tlName(spec.accumulate) + ")";
    size_t d = runDim == none ? 0 : runDim - firstSpatial;
    int64_t taps = runDim == none ? 1 : spec.kernel[d];
    Expr along = runDim == none ? Expr(0) : spec.x.strides[runDim];
    Expr alongWeight = runDim == none ? Expr(0) : spec.weight.strides[2 + d];
    for (int64_t place : reached(run)) {
      bool isAsked = runDim != none && !insideText(d, place).empty();
      std::string mask = both(there, isAsked ? "inside" + std::to_string(place) : "");
      writer.line("x" + std::to_string(place) + " = tl.load(row + " + writer.scalar(along * place) +
                  (mask.empty() ? "" : ", mask=" + mask + ", other=0.0") + ")" + wide);
    }
    bool perLane = laneDim == channelDim;
    // Factors that are one for all channels have no tile.
    std::string mask = spec.weight.strides[0].constant() == 0 ? ""
                       : perLane                              ? laneThere
                                                              : lineThere;
    for (int64_t k = 0; k < taps; ++k) {
      writer.line("f = tl.load(factors + " + writer.scalar(alongWeight * k) +
                  (mask.empty() ? "" : ", mask=" + mask + ", other=0.0") + ")" + wide);
      for (int64_t r = 0; r < run; ++r) {
        int64_t place = runDim == none ? 0 : r * spec.stride[d] + k * spec.dilation[d];
        std::string acc = "acc" + std::to_string(r);
        writer.line(acc + " += x" + std::to_string(place) + " * f");
      }
    }
  }

  // --- the result

  /// The elements of `operand` that stand at the results number `r` of the runs.
  std::string loadInput(const TextOperand &operand, const std::string &pointer, int64_t r,
                        const std::string &lineMask) {
    bool alongLane = operand.strides[laneDim].constant() != 0, alongLine = false;
    for (size_t d : lineDims())
      alongLine |= operand.strides[d].constant() != 0;
    std::string mask = both(alongLine ? lineMask : "", alongLane ? laneThere : "");
    return "tl.load(" + pointer + " + (" + writer.address(operand, at) + ")" + onRun(operand, r) +
           (mask.empty() ? "" : ", mask=" + mask) + ")";
  }
  std::string onRun(const TextOperand &operand, int64_t r) {
    if (runDim == none || r == 0 || operand.strides[runDim].constant() == 0)
      return "";
    return " + " + writer.scalar(operand.strides[runDim] * r);
  }

  void storeResult(int64_t r) {
    std::string number = std::to_string(r), line = lineThere;
    if (runDim != none && !symbols.isMultipleOf(shape[runDim], run)) {
      std::string name = "there" + number;
      writer.line(name + " = " +
                  both(line, "(" + at[runDim] + " + " + number + " < " +
                                 writer.scalar(shape[runDim]) + ")"));
      line = name;
    }
    std::map<std::string, std::string> names{{"product", "product_" + number}};
    std::string sum = "acc" + number;
    if (!spec.bias.empty())
      sum +=
          " + " + loadInput(spec.bias[0], "bias", r, line) + ".to(" + tlName(spec.accumulate) + ")";
    writer.line("product_" + number + " = tl.cast(" + sum + ", " + tlName(spec.type) + ")");
    for (size_t i = 0; i < spec.operands.size(); ++i) {
      std::string name = "in" + std::to_string(i);
      names[name] = name + "_" + number;
      writer.line(names[name] + " = " +
                  loadInput(spec.operands[i], "q" + std::to_string(i), r, line));
    }
    for (const TextStatement &statement : spec.body)
      names[statement.name] = statement.name + "_" + number;
    std::vector<TextStatement> body;
    for (const TextStatement &statement : spec.body)
      body.push_back({names[statement.name], renameIdentifiers(statement.text, names)});
    writer.body(r == 0 ? spec.scalars : std::vector<TextScalar>{}, body);
    std::string value = "tl.broadcast_to(" + names.at(spec.stored) + ", [" + std::to_string(lines) +
                        ", " + std::to_string(lanes) + "])";
    writer.line(storeText("o0", "(" + writer.address(spec.result, at) + ")" + onRun(spec.result, r),
                          value, spec.result.dtype, both(line, laneThere)));
  }

  const WindowSpec &spec;
  const DeviceModel &device;
  const SymbolTable &symbols;
  KernelWriter writer;
  std::vector<Expr> shape;
  size_t laneDim = 0, runDim = none;
  int64_t run = 1, lanes = 16, lines = 8;
  int32_t warps = 4;
  std::string laneThere, lineThere;
  std::vector<std::string> at; ///< the result's index along each dim, of the first of a run
};

} // namespace

KernelText writeWindows(const WindowSpec &spec, const DeviceModel &device,
                        const SymbolTable &symbols) {
  return WindowWriter(spec, device, symbols).write();
}

} // namespace pellucid::passes
