// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LowerConvolutions.h"

#include "package/PackedMatrix.h"
#include "passes/graph/ConvolutionColumns.h"
#include "passes/graph/KernelWriter.h"
#include "passes/graph/PointwiseGroup.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;

namespace {

/// Elements that a matrix unit's operand moves by.
int64_t elementsOfVector(DataType type) { return 16 / static_cast<int64_t>(byteSize(type)); }
/// Terms that are written out one by one: windows of 7 x 7 with a channel of their own, and
/// smaller.
constexpr int64_t mostTerms = 64;

ConvolutionDims dimsOf(const LaunchEmitter &emitter, const Node &node) {
  return convolutionDims(*callOf(node, emitter.registry, emitter.program.symbols));
}

Expr productOf(const std::vector<Expr> &values) { return product(values, 0, values.size()); }

} // namespace

ConvolutionLowering::ConvolutionLowering(LaunchEmitter &e, const Node &node)
    : emitter(e), symbols(e.program.symbols), sizes(dimsOf(e, node)), where(node.location) {
  auto call = callOf(node, e.registry, symbols);
  input = call->value("input");
  weight = call->value("weight");
  if (!sizes.inputChannels.constant() || !sizes.outputChannels.constant())
    LaunchEmitter::refuse(node, "needs constant numbers of channels, got " +
                                    sizes.inputChannels.text() + " and " +
                                    sizes.outputChannels.text());
}

int64_t ConvolutionLowering::channelsOfGroup() const {
  return *sizes.inputChannels.constant() / sizes.groups;
}

bool ConvolutionLowering::isPadded() const {
  return sizes.transposed || std::any_of(sizes.padding.begin(), sizes.padding.end(),
                                         [](int64_t padding) { return padding != 0; });
}

std::vector<Expr> ConvolutionLowering::columns() const {
  std::vector<Expr> dims{sizes.batch};
  dims.insert(dims.end(), sizes.output.begin(), sizes.output.end());
  return dims;
}

Value *ConvolutionLowering::copyInto(Value *target, Access access, const TextOperand &place,
                                     Value *value, const TextOperand &from,
                                     const std::vector<Expr> &shape) {
  PointwiseSpec spec;
  spec.name = "copy_windows";
  spec.shape = shape;
  spec.inputs = {from};
  spec.outputs = {place};
  spec.results = {"in0"};
  if (roundsCopies) {
    spec.body = {{"v0", roundedToTf32("in0")}};
    spec.results = {"v0"};
  }
  return emitter.emit(writePointwise(std::move(spec), symbols), {value}, {target, access}, where);
}

Value *ConvolutionLowering::copy(Value *value, const TextOperand &from,
                                 const std::vector<Expr> &shape) {
  if (Value *arranged = emitter.weights.arrange(value, from, shape, shape, roundsCopies))
    return arranged;
  TensorType dense(value->type().dtype, shape, value->type().device);
  return copyInto(emitter.emptyLike(dense), Access::Write, {dense.dtype, dense.strides, 0}, value,
                  from, shape);
}

Value *ConvolutionLowering::zeros(const std::vector<Expr> &shape) {
  TensorType type(input->type().dtype, shape, input->type().device);
  PointwiseSpec spec;
  spec.name = "zeros";
  spec.shape = shape;
  spec.body = {{"v0", "tl.cast(0.0, " + tlName(type.dtype) + ")"}};
  spec.results = {"v0"};
  spec.outputs = {{type.dtype, type.strides, 0}};
  return emitter.emit(writePointwise(std::move(spec), symbols), {},
                      {emitter.emptyLike(type), Access::Write}, where);
}

ConvolutionLowering::Input ConvolutionLowering::borderedInput(bool channelsLast, int64_t channels,
                                                              bool hasBorder) {
  const TensorType &type = input->type();
  int64_t own = channelsOfGroup();
  bool isInOrder = !channelsLast || (type.strides[1].constant() == 1 && channels == own);
  if (isInOrder && !(hasBorder && isPadded()))
    return paddedInput(channelsLast, channels, false);
  // The channels' dims stand before the places or behind them.
  PointwiseSpec spec;
  spec.name = "copy_windows";
  TextOperand from{type.dtype, {type.strides[0]}, 0};
  std::string inside;
  auto addDim = [&](const Expr &size, const Expr &stride) {
    spec.shape.push_back(size);
    from.strides.push_back(stride);
  };
  auto cut = [&](const Expr &begin, const Expr &end) {
    from.windows.push_back(spec.windows.size());
    inside += (inside.empty() ? "part" : " & part") + std::to_string(spec.windows.size());
    spec.windows.push_back({spec.shape.size() - 1, begin, end});
  };
  auto addChannels = [&] {
    addDim(sizes.groups, type.strides[1] * own);
    addDim(channels, type.strides[1]);
    if (channels != own)
      cut(0, own);
  };
  spec.shape = {sizes.batch};
  if (!channelsLast)
    addChannels();
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    int64_t border = hasBorder ? sizes.padding[d] : 0;
    addDim(sizes.input[d] + 2 * border, type.strides[2 + d]);
    from.offset = from.offset - type.strides[2 + d] * border;
    if (border != 0)
      cut(border, sizes.input[d] + border);
  }
  if (channelsLast)
    addChannels();
  const std::vector<Expr> shape = spec.shape;
  TensorType dense(type.dtype, shape, type.device);
  spec.inputs = {from};
  spec.outputs = {{type.dtype, dense.strides, 0}};
  spec.results = {"in0"};
  if (!inside.empty()) {
    spec.body = {{"v0", "tl.where(" + inside + ", in0, tl.cast(0.0, " + tlName(type.dtype) + "))"}};
    spec.results = {"v0"};
  }
  if (roundsCopies) {
    spec.body.push_back({"rounded", roundedToTf32(spec.results[0])});
    spec.results = {"rounded"};
  }
  Input made;
  made.value = emitter.emit(writePointwise(std::move(spec), symbols), {input},
                            {emitter.emptyLike(dense), Access::Write}, where);
  size_t group = channelsLast ? shape.size() - 2 : 1, first = channelsLast ? 1 : 3;
  made.batch = dense.strides[0];
  made.group = dense.strides[group];
  made.channel = dense.strides[group + 1];
  auto begin = dense.strides.begin() + static_cast<std::ptrdiff_t>(first);
  made.spatial.assign(begin, begin + static_cast<std::ptrdiff_t>(sizes.spatial()));
  made.channels = channels;
  return made;
}

/// The input with its border of zeros, such that every window lies in it; without one where windows
/// beyond it are masked. Of a transposed convolution, zeros stand between its elements, too, and
/// the windows are one step apart.
ConvolutionLowering::Input ConvolutionLowering::paddedInput(bool channelsLast, int64_t channels,
                                                            bool hasBorder) {
  const TensorType &type = input->type();
  int64_t own = channelsOfGroup();
  Input made{input,
             type.strides[0],
             type.strides[1] * own,
             type.strides[1],
             {type.strides.begin() + 2, type.strides.end()},
             own};
  bool isInOrder = !channelsLast || (type.strides[1].constant() == 1 && channels == own);
  bool isBordered = hasBorder && isPadded();
  if (isInOrder && !isBordered)
    return made;

  // The size with its border, what of the input is inside of it, and where that begins.
  std::vector<Expr> padded, inside = sizes.input;
  std::vector<int64_t> apart, first, skipped;
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    int64_t reach = sizes.dilation[d] * (sizes.kernel[d] - 1);
    int64_t step = sizes.transposed ? sizes.stride[d] : 1;
    int64_t border = isBordered ? sizes.padding[d] : 0;
    int64_t begin = sizes.transposed ? reach - border : border;
    int64_t skip = begin < 0 ? (-begin + step - 1) / step : 0;
    padded.push_back(sizes.transposed ? sizes.output[d] + reach : sizes.input[d] + 2 * border);
    if (sizes.transposed)
      inside[d] = symbolic::max(
          symbolic::min(sizes.input[d] - skip,
                        symbolic::floorDiv(padded[d] - 1 - begin - skip * step, step) + 1),
          0);
    apart.push_back(step);
    first.push_back(begin + skip * step);
    skipped.push_back(skip);
  }
  std::vector<Expr> shape{sizes.batch};
  if (!channelsLast)
    shape.push_back(sizes.groups * channels);
  shape.insert(shape.end(), padded.begin(), padded.end());
  if (channelsLast)
    shape.push_back(sizes.groups * channels);
  std::vector<Expr> strides = contiguousStrides(shape);
  size_t channelDim = channelsLast ? shape.size() - 1 : 1, firstSpatial = channelsLast ? 1 : 2;

  std::vector<Expr> copied{sizes.batch, sizes.groups, own};
  TextOperand from{type.dtype, {made.batch, made.group, made.channel}, 0};
  TextOperand place{
      type.dtype, {strides[0], strides[channelDim] * channels, strides[channelDim]}, 0};
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    copied.push_back(inside[d]);
    from.strides.push_back(made.spatial[d]);
    from.offset = from.offset + made.spatial[d] * skipped[d];
    place.strides.push_back(strides[firstSpatial + d] * apart[d]);
    place.offset = place.offset + strides[firstSpatial + d] * first[d];
  }
  bool hasGaps = isBordered || channels != own;
  Value *target = hasGaps ? zeros(shape) : emitter.emptyLike({type.dtype, shape, type.device});
  made.value =
      copyInto(target, hasGaps ? Access::ReadWrite : Access::Write, place, input, from, copied);
  made.batch = strides[0];
  made.group = strides[channelDim] * channels;
  made.channel = strides[channelDim];
  made.spatial.assign(strides.begin() + static_cast<std::ptrdiff_t>(firstSpatial),
                      strides.begin() +
                          static_cast<std::ptrdiff_t>(firstSpatial + sizes.spatial()));
  made.channels = channels;
  return made;
}

/// Of a transposed convolution the kernel is turned round, and its channels have changed places.
TextOperand ConvolutionLowering::weightOperand() const {
  const TensorType &type = weight->type();
  TextOperand operand{type.dtype, {}, 0};
  Expr outputs = sizes.outputPerGroup(), inputs = sizes.inputPerGroup();
  if (sizes.transposed)
    operand.strides = {type.strides[0] * inputs, type.strides[1]};
  else
    operand.strides = {type.strides[0] * outputs, type.strides[0]};
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    Expr stride = type.strides[2 + d];
    operand.strides.push_back(sizes.transposed ? stride * -1 : stride);
    if (sizes.transposed)
      operand.offset = operand.offset + stride * (sizes.kernel[d] - 1);
  }
  operand.strides.push_back(sizes.transposed ? type.strides[0] : type.strides[1]);
  return operand;
}

TextOperand ConvolutionLowering::inPlaces(const TextOperand &operand, bool placesAsRows) const {
  TextOperand moved{operand.dtype, {}, operand.offset};
  Expr outputs = sizes.outputPerGroup();
  if (sizes.groups > 1)
    moved.strides.push_back(operand.strides[1] * outputs);
  if (!placesAsRows)
    moved.strides.push_back(operand.strides[1]);
  moved.strides.push_back(operand.strides[0]);
  moved.strides.insert(moved.strides.end(), operand.strides.begin() + 2, operand.strides.end());
  if (placesAsRows)
    moved.strides.push_back(operand.strides[1]);
  return moved;
}

bool ConvolutionLowering::masksBorder() const {
  // Windows that are so narrow are merged, and a round sees several of them.
  constexpr int64_t fewChannels = 32;
  for (size_t d = 0; d < sizes.spatial(); ++d)
    if (sizes.padding[d] != 0 && sizes.kernel[d] == 1)
      return false;
  return !sizes.transposed && channelsOfGroup() % elementsOfVector(input->type().dtype) == 0 &&
         channelsOfGroup() >= fewChannels;
}

/// The weight over groups, rows, `shape`'s kernel dims and `channels`, with strides for dims of
/// more than one element only.
TextOperand ConvolutionLowering::inOrder(Value *&value, int64_t channels, bool forMatrixUnits) {
  TextOperand weights = weightOperand();
  std::vector<Expr> shape{sizes.groups, sizes.outputPerGroup()};
  shape.insert(shape.end(), sizes.kernel.begin(), sizes.kernel.end());
  std::vector<Expr> packed = shape;
  int64_t own = channelsOfGroup();
  shape.emplace_back(own);
  packed.emplace_back(channels);
  bool hasOneTap = std::all_of(sizes.kernel.begin(), sizes.kernel.end(),
                               [](int64_t extent) { return extent == 1; });
  bool isThere = !forMatrixUnits || (own == channels && hasOneTap) ||
                 (own == channels && weights.strides == contiguousStrides(shape));
  value = weight;
  if (!isThere) {
    value = emitter.weights.arrange(weight, weights, shape, packed, roundsCopies);
    TextOperand place{weights.dtype, contiguousStrides(packed), 0};
    if (!value)
      value = own == channels
                  ? copy(weight, weights, shape)
                  : copyInto(zeros(packed), Access::ReadWrite, place, weight, weights, shape);
    weights = place;
  }
  TextOperand made{weights.dtype, {}, weights.offset};
  for (size_t d = 0; d < weights.strides.size(); ++d) {
    bool isGroup = d == 0, isTap = d >= 2 && d + 1 < weights.strides.size();
    if (!(isGroup && sizes.groups == 1) && !(isTap && sizes.kernel[d - 2] == 1))
      made.strides.push_back(weights.strides[d]);
  }
  return made;
}

WindowProduct ConvolutionLowering::asProduct(bool forMatrixUnits, bool placesAsRows) {
  int64_t own = channelsOfGroup(), taps = 1;
  for (int64_t extent : sizes.kernel)
    taps *= extent;
  roundsCopies = forMatrixUnits && input->type().dtype == DataType::Float32;
  int64_t vector = elementsOfVector(input->type().dtype);
  // Windows of one element, one after the other: the product of two matrices as they lie.
  bool isPlain =
      taps == 1 && !isPadded() &&
      std::all_of(sizes.stride.begin(), sizes.stride.end(), [](int64_t s) { return s == 1; }) &&
      input->type().strides.back().constant() == 1 &&
      symbols.isMultipleOf(productOf(sizes.output), vector);
  bool channelsLast = forMatrixUnits && !isPlain;
  int64_t channels = channelsLast ? (own + vector - 1) / vector * vector : own;
  bool isMasked = channelsLast && placesAsRows && masksBorder();
  Input from = sizes.transposed ? paddedInput(channelsLast, channels)
                                : borderedInput(channelsLast, channels, !isMasked);

  WindowProduct made;
  GemmSpec &spec = made.spec;
  spec.type = spec.a.dtype = spec.b.dtype = input->type().dtype;
  spec.accumulate = opMathType(spec.type);
  std::vector<Expr> along, places{from.batch};
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    places.push_back(from.spatial[d] * (sizes.transposed ? 1 : sizes.stride[d]));
    if (sizes.kernel[d] == 1)
      continue;
    spec.depth.push_back(sizes.kernel[d]);
    along.push_back(from.spatial[d] * sizes.dilation[d]);
  }
  spec.depth.push_back(channels);
  along.push_back(from.channel);
  Value *weights = nullptr;
  TextOperand factors = inOrder(weights, channels, forMatrixUnits);
  auto add = [](TextOperand &operand, const std::vector<Expr> &strides) {
    operand.strides.insert(operand.strides.end(), strides.begin(), strides.end());
  };
  TextOperand &windows = placesAsRows ? spec.a : spec.b;
  size_t batch = sizes.groups > 1 ? 1 : 0;
  if (sizes.groups > 1) {
    spec.batch = {sizes.groups};
    windows.strides.push_back(from.group);
  }
  if (placesAsRows) {
    spec.rows = columns();
    spec.rowsApart = true;
    spec.columns = {sizes.outputPerGroup()};
    add(windows, places);
    add(windows, along);
    // Rows of the weight are columns of the product.
    spec.b = factors;
    auto first = spec.b.strides.begin() + static_cast<std::ptrdiff_t>(batch);
    std::rotate(first, first + 1, spec.b.strides.end());
    made.a = from.value;
    made.b = weights;
  } else {
    spec.rows = {sizes.outputPerGroup()};
    spec.columns = columns();
    add(windows, along);
    add(windows, places);
    spec.a = factors;
    made.a = weights;
    made.b = from.value;
  }
  spec.m = productOf(spec.rows);
  spec.n = productOf(spec.columns);
  isMasked ? addBorders(spec, from) : mergeDepth(spec);
  spec.k = productOf(spec.depth);
  return made;
}

void ConvolutionLowering::addBorders(GemmSpec &spec, const Input &from) const {
  size_t depth = 0;
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    if (sizes.padding[d] != 0)
      spec.borders.push_back(
          {1 + d, depth, sizes.stride[d], sizes.dilation[d], sizes.padding[d], sizes.input[d]});
    spec.a.offset = spec.a.offset - from.spatial[d] * sizes.padding[d];
    depth += sizes.kernel[d] > 1;
  }
}

/// Neighbouring windows' dims that lie evenly in both operands are one, where the last of them
/// alone would not fill a round.
void ConvolutionLowering::mergeDepth(GemmSpec &spec) {
  constexpr int64_t round = 64;
  size_t left = spec.batch.size() + (spec.rowsApart ? spec.rows.size() : 1),
         right = spec.batch.size();
  while (spec.depth.size() > 1 && *spec.depth.back().constant() % round != 0) {
    size_t last = spec.depth.size() - 1;
    auto isEven = [&](const TextOperand &operand, size_t first) {
      return operand.strides[first + last - 1] == operand.strides[first + last] * spec.depth[last];
    };
    if (!isEven(spec.a, left) || !isEven(spec.b, right))
      return;
    auto drop = [&](std::vector<Expr> &list, size_t place) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
    };
    spec.depth[last] = spec.depth[last - 1] * spec.depth[last];
    drop(spec.depth, last - 1);
    drop(spec.a.strides, left + last - 1);
    drop(spec.b.strides, right + last - 1);
  }
}

WindowProduct ConvolutionLowering::withCopiedWindows() {
  int64_t own = channelsOfGroup();
  Input from = paddedInput(false, own);
  WindowProduct made;
  GemmSpec &spec = made.spec;
  spec.type = spec.a.dtype = spec.b.dtype = input->type().dtype;
  spec.accumulate = opMathType(spec.type);
  spec.batch = {sizes.batch, sizes.groups};
  spec.m = sizes.outputPerGroup();
  spec.n = productOf(sizes.output);
  std::vector<Expr> terms{Expr(own)};
  TextOperand windows{spec.type, {from.batch, from.group, from.channel}, 0};
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    terms.emplace_back(sizes.kernel[d]);
    windows.strides.push_back(from.spatial[d] * sizes.dilation[d]);
  }
  spec.k = productOf(terms);
  std::vector<Expr> shape{sizes.batch, sizes.groups};
  shape.insert(shape.end(), terms.begin(), terms.end());
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    shape.push_back(sizes.output[d]);
    windows.strides.push_back(from.spatial[d] * (sizes.transposed ? 1 : sizes.stride[d]));
  }
  std::vector<Expr> matrices{sizes.batch, sizes.groups, spec.k, spec.n};
  made.b = copy(from.value, windows, shape);
  spec.b.strides = contiguousStrides(matrices);

  // Rows of the weight: channels, then the kernel.
  TextOperand a = weightOperand();
  std::rotate(a.strides.begin() + 2, a.strides.end() - 1, a.strides.end());
  std::vector<Expr> rows{sizes.groups, spec.m};
  rows.insert(rows.end(), terms.begin(), terms.end());
  made.a = a.offset.constant() == 0 && a.strides == contiguousStrides(rows) ? weight
                                                                            : copy(weight, a, rows);
  spec.a.strides = {0, spec.m * spec.k, spec.k, 1};
  spec.rows = {spec.m};
  spec.columns = {spec.n};
  spec.depth = {spec.k};
  return made;
}

Value *ConvolutionLowering::rowsOfTerms() {
  TextOperand from = weightOperand();
  // Channels, then the kernel.
  std::rotate(from.strides.begin() + 2, from.strides.end() - 1, from.strides.end());
  std::vector<Expr> shape{sizes.groups, sizes.outputPerGroup(), channelsOfGroup()};
  for (int64_t extent : sizes.kernel)
    shape.emplace_back(extent);
  bool isThere = from.offset.constant() == 0 && from.strides == contiguousStrides(shape);
  return isThere ? weight : copy(weight, from, shape);
}

Value *ConvolutionLowering::rowsOfPhases(const std::vector<int64_t> &extents) {
  const TensorType &type = weight->type();
  Expr inputs = sizes.inputPerGroup(), outputs = sizes.outputPerGroup();
  TextOperand from{type.dtype, {type.strides[0] * inputs, type.strides[1], type.strides[0]}, 0};
  std::vector<Expr> own{sizes.groups, outputs, inputs}, whole = own;
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    from.strides.push_back(type.strides[2 + d]);
    own.emplace_back(sizes.kernel[d]);
    whole.emplace_back(extents[d] * sizes.stride[d]);
  }
  Value *value = weight;
  if (own != whole) {
    TextOperand place{type.dtype, contiguousStrides(whole), 0};
    value = emitter.weights.arrange(weight, from, own, whole);
    if (!value)
      value = copyInto(zeros(whole), Access::ReadWrite, place, weight, from, own);
    from = place;
  }
  // Element `phase + step * j` of the kernel meets the window's element `extent - 1 - j`.
  TextOperand turned{type.dtype, {from.strides[0], from.strides[1]}, from.offset};
  std::vector<Expr> shape{sizes.groups, outputs};
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    shape.emplace_back(sizes.stride[d]);
    turned.strides.push_back(from.strides[3 + d]);
  }
  shape.push_back(inputs);
  turned.strides.push_back(from.strides[2]);
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    Expr step = from.strides[3 + d] * sizes.stride[d];
    shape.emplace_back(extents[d]);
    turned.strides.push_back(step * -1);
    turned.offset = turned.offset + step * (extents[d] - 1);
  }
  return copy(value, turned, shape);
}

std::optional<LibraryConvolution> ConvolutionLowering::asLibraryKernel(const TensorType &result) {
  if (sizes.transposed)
    return std::nullopt;
  auto made = planned({sizes.output, sizes.kernel, sizes.stride, sizes.padding, sizes.dilation,
                       *sizes.outputPerGroup().constant()},
                      result);
  if (made)
    made->weight = rowsOfTerms();
  return made;
}

/// Without the weight.
std::optional<LibraryConvolution> ConvolutionLowering::planned(const Plan &plan,
                                                               const TensorType &result) {
  constexpr size_t dims = 3;
  DataType type = input->type().dtype;
  int64_t taps = 1, own = channelsOfGroup();
  for (int64_t extent : plan.kernel)
    taps *= extent;
  bool isDepthwise = own == 1;
  if (!package::hasMatrixKernel(type) || plan.kernel.size() > dims || own == 0 ||
      plan.outputs == 0 || taps == 0 || (!isDepthwise && taps > package::windowTerms))
    return std::nullopt;
  LibraryConvolution made;
  made.kernel = isDepthwise ? package::LibraryKernel::Kind::Depthwise
                            : package::LibraryKernel::Kind::Convolve;
  made.x = input;
  const TensorType &given = input->type();
  std::vector<Expr> from = given.strides;
  if (from.back().constant() != 1 && sizes.input.back().constant() != 1) {
    made.x = copy(input, {type, from, 0}, given.shape);
    from = contiguousStrides(given.shape);
  }
  ConvolutionColumns columns =
      divideColumns({type, plan.outputs, sizes.batch * sizes.groups, plan.output, plan.kernel,
                     plan.stride, plan.dilation});
  auto add = [&](const std::string &name, const Expr &value) {
    made.integers.emplace_back(name, value);
  };
  add("m", plan.outputs);
  add("n", productOf(plan.output));
  add("k", taps * own);
  add("channels", own);
  add("groups", sizes.groups);
  add("rows_at_once", columns.rows);
  add("columns_at_once", columns.atOnce);
  add("by_lines", columns.byLines ? 1 : 0);
  // Missing dims are the outer ones.
  size_t missing = dims - plan.kernel.size();
  auto addDims = [&](const std::string &name, int64_t otherwise, const auto &values) {
    for (size_t d = 0; d < dims; ++d)
      add(name + std::to_string(d), d < missing ? Expr(otherwise) : Expr(values[d - missing]));
  };
  addDims("input", 1, sizes.input);
  addDims("output", 1, plan.output);
  addDims("kernel", 1, plan.kernel);
  addDims("stride", 1, plan.stride);
  addDims("padding", 0, plan.padding);
  addDims("dilation", 1, plan.dilation);
  auto stepOf = [&](size_t d) { return d < missing ? Expr(0) : from[2 + d - missing]; };
  add("x_batch", from[0]);
  add("x_channel", from[1]);
  add("x_plane", stepOf(0));
  add("x_line", stepOf(1));
  add("c_batch", result.strides[0]);
  add("c_channel", result.strides[1]);
  Expr planes = missing > 0 ? Expr(1) : plan.output[0];
  made.grid[0] = isDepthwise ? Expr(plan.outputs) * sizes.groups
                             : Expr((plan.outputs + columns.rows - 1) / columns.rows);
  made.grid[1] = isDepthwise ? sizes.batch : columns.blocks;
  made.grid[2] = isDepthwise ? planes : sizes.batch * sizes.groups;
  return made;
}

Value *ConvolutionLowering::byPhases(const LaunchLibrary &launch, Value *bias,
                                     const TensorType &type) {
  constexpr int64_t mostPhases = 16;
  auto isOne = [](int64_t value) { return value == 1; };
  if (!sizes.transposed || !std::all_of(sizes.dilation.begin(), sizes.dilation.end(), isOne))
    return nullptr;
  int64_t phases = 1;
  for (int64_t step : sizes.stride)
    phases = std::min(phases * step, mostPhases + 1);
  if (phases > mostPhases)
    return nullptr;
  // Place y lies in phase (y + padding) % stride; its window ends at (y + padding) / stride.
  // Windows that end before the first place are left out.
  Plan plan;
  plan.outputs = *sizes.outputPerGroup().constant() * phases;
  Expr channels = sizes.outputPerGroup() * sizes.groups;
  std::vector<Expr> shape{sizes.batch, channels * phases};
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    int64_t extent = (sizes.kernel[d] + sizes.stride[d] - 1) / sizes.stride[d];
    plan.kernel.push_back(extent);
    plan.stride.push_back(1);
    plan.padding.push_back(extent - 1 - sizes.padding[d] / sizes.stride[d]);
    plan.dilation.push_back(1);
    int64_t skipped = sizes.padding[d] % sizes.stride[d];
    plan.output.push_back(symbolic::floorDiv(sizes.output[d] + (skipped - 1), sizes.stride[d]) + 1);
    shape.push_back(plan.output.back());
  }
  TensorType apart(type.dtype, shape, type.device);
  auto kernel = planned(plan, apart);
  if (!kernel)
    return nullptr;
  kernel->weight = rowsOfPhases(plan.kernel);
  if (bias && phases > 1)
    bias = copy(bias, {type.dtype, {bias->type().strides[0], 0}, 0}, {channels, phases});
  Value *out = launch(*kernel, bias, apart);
  return phases == 1 && type.strides == apart.strides ? out : together(out, phases, type);
}

/// Puts the phases, which are `value`'s channels, side by side.
Value *ConvolutionLowering::together(Value *value, int64_t phases, const TensorType &type) {
  const TensorType apart = value->type();
  Value *out = emitter.emptyLike(type);
  for (int64_t phase = 0; phase < phases; ++phase) {
    std::vector<Expr> shape{type.shape[0], type.shape[1]};
    TextOperand from{
        type.dtype, {apart.strides[0], apart.strides[1] * phases}, apart.strides[1] * phase},
        place{type.dtype, {type.strides[0], type.strides[1]}, 0};
    int64_t rest = phase;
    std::vector<int64_t> own(sizes.spatial());
    for (size_t d = sizes.spatial(); d-- > 0; rest /= sizes.stride[d])
      own[d] = rest % sizes.stride[d];
    for (size_t d = 0; d < sizes.spatial(); ++d) {
      int64_t step = sizes.stride[d], behind = sizes.padding[d] % step - own[d];
      int64_t begin = behind > 0 ? (behind + step - 1) / step : 0, first = begin * step - behind;
      shape.push_back(
          symbolic::max(symbolic::floorDiv(type.shape[2 + d] - first + (step - 1), step), 0));
      from.strides.push_back(apart.strides[2 + d]);
      from.offset = from.offset + apart.strides[2 + d] * begin;
      place.strides.push_back(type.strides[2 + d] * step);
      place.offset = place.offset + type.strides[2 + d] * first;
    }
    out = copyInto(out, phases == 1 ? Access::Write : Access::ReadWrite, place, value, from, shape);
  }
  return out;
}

bool ConvolutionLowering::hasFewTerms() const {
  int64_t terms = channelsOfGroup();
  for (int64_t extent : sizes.kernel)
    terms = std::min(terms * extent, mostTerms + 1);
  return sizes.groups > 1 && terms <= mostTerms;
}

bool ConvolutionLowering::hasOwnWindows() const {
  // What the template writes out: the kernel along one dim.
  return !sizes.transposed && sizes.groups > 1 && (hasFewTerms() || channelsOfGroup() == 1) &&
         std::all_of(sizes.kernel.begin(), sizes.kernel.end(),
                     [](int64_t extent) { return extent <= mostTerms; });
}

ConvolutionLowering::Windows ConvolutionLowering::asWindows(const TensorType &result) {
  const TensorType &type = input->type();
  Windows made{{}, input, weight};
  WindowSpec &spec = made.spec;
  spec.type = type.dtype;
  spec.accumulate = opMathType(type.dtype);
  spec.batch = sizes.batch;
  spec.channels = sizes.outputChannels;
  spec.inputs = channelsOfGroup();
  spec.outputs = *sizes.outputPerGroup().constant();
  spec.inputSizes = sizes.input;
  spec.outputSizes = sizes.output;
  spec.kernel = sizes.kernel;
  spec.stride = sizes.stride;
  spec.padding = sizes.padding;
  spec.dilation = sizes.dilation;
  spec.x = {type.dtype, type.strides, 0};
  spec.weight = {type.dtype, weight->type().strides, 0};
  spec.result = {result.dtype, result.strides, 0};
  // Lanes that lie along the channels read factors side by side.
  if (type.strides[1].constant() == 1 && result.strides[1].constant() == 1 &&
      spec.weight.strides[0].constant() != 1) {
    const std::vector<Expr> &shape = weight->type().shape;
    std::vector<Expr> turned(shape.begin() + 1, shape.end()), strides(shape.size(), Expr(1));
    turned.push_back(shape[0]);
    TextOperand from{type.dtype, {spec.weight.strides.begin() + 1, spec.weight.strides.end()}, 0};
    from.strides.push_back(spec.weight.strides[0]);
    made.weight = copy(weight, from, turned);
    std::vector<Expr> dense = contiguousStrides(turned);
    std::copy(dense.begin(), dense.end() - 1, strides.begin() + 1);
    spec.weight.strides = strides;
  }
  return made;
}

Value *ConvolutionLowering::asSums(Value *bias, const TensorType &type) {
  Input from = paddedInput(false, channelsOfGroup());
  TextOperand windows{type.dtype, {from.batch, from.group, 0}, 0}, weights = weightOperand(),
                                                                   result{type.dtype, {}, 0};
  std::vector<Expr> shape{sizes.batch, sizes.groups, sizes.outputPerGroup()};
  shape.insert(shape.end(), sizes.output.begin(), sizes.output.end());
  TextOperand factors{type.dtype, {0, weights.strides[0], weights.strides[1]}, weights.offset};
  result.strides = {type.strides[0], type.strides[1] * sizes.outputPerGroup(), type.strides[1]};
  for (size_t d = 0; d < sizes.spatial(); ++d) {
    windows.strides.push_back(from.spatial[d] * (sizes.transposed ? 1 : sizes.stride[d]));
    factors.strides.emplace_back(0);
    result.strides.push_back(type.strides[2 + d]);
  }
  PointwiseSpec spec;
  spec.name = "convolution_sums";
  spec.shape = shape;
  std::vector<Value *> operands;
  std::string wide = tlName(opMathType(type.dtype)), sum;
  auto input = [&](Value *value, const TextOperand &operand) {
    spec.inputs.push_back(operand);
    operands.push_back(value);
    return "in" + std::to_string(operands.size() - 1) + ".to(" + wide + ")";
  };
  std::vector<int64_t> at(sizes.spatial() + 1, 0); // a channel, then a place in the kernel
  auto extent = [&](size_t d) { return d == 0 ? channelsOfGroup() : sizes.kernel[d - 1]; };
  for (bool isMore = true; isMore;) {
    TextOperand one = windows, factor = factors;
    one.offset = from.channel * at[0];
    factor.offset = factor.offset + weights.strides.back() * at[0];
    for (size_t d = 0; d < sizes.spatial(); ++d) {
      one.offset = one.offset + from.spatial[d] * (sizes.dilation[d] * at[d + 1]);
      factor.offset = factor.offset + weights.strides[2 + d] * at[d + 1];
    }
    std::string term = input(from.value, one) + " * " + input(weight, factor);
    spec.body.push_back(
        {"s" + std::to_string(operands.size()), sum.empty() ? term : sum + " + " + term});
    sum = spec.body.back().name;
    isMore = false;
    for (size_t d = at.size(); d-- > 0 && !isMore;) {
      isMore = ++at[d] < extent(d);
      if (!isMore)
        at[d] = 0;
    }
  }
  if (bias) {
    Expr stride = bias->type().strides[0];
    TextOperand operand{type.dtype, {0, stride * sizes.outputPerGroup(), stride}, 0};
    operand.strides.resize(shape.size(), Expr(0));
    spec.body.push_back({"biased", sum + " + " + input(bias, operand)});
    sum = "biased";
  }
  spec.body.push_back({"result", "tl.cast(" + sum + ", " + tlName(type.dtype) + ")"});
  spec.results = {"result"};
  spec.outputs = {result};
  return emitter.emit(writePointwise(std::move(spec), symbols), operands,
                      {emitter.emptyLike(type), Access::Write}, where);
}

} // namespace pellucid::passes
