// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/LowerProducts.h"

#include "graph/FakeRules.h"
#include "passes/graph/KernelWriter.h"
#include "passes/graph/ProductRows.h"
#include "passes/graph/ProductText.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pellucid::passes {

using namespace graph;

namespace {

bool isProduct(const Node &node, const OperatorRegistry &registry) {
  if (!node.isCall() || node.isLaunch())
    return false;
  const Operator *op = registry.find(node.target());
  return op && op->kind == Operator::Kind::Gemm;
}

bool isConvolution(const Node &node) { return node.target() == "aten.convolution.default"; }

/// A linear layer's weight as the right operand of a product.
TensorType transposed(TensorType type) {
  std::reverse(type.shape.begin(), type.shape.end());
  std::reverse(type.strides.begin(), type.strides.end());
  return type;
}

/// Integers are multiplied by integers.
double factor(const OperatorCall &call, std::string_view name, DataType type) {
  if (auto whole = call.at(name).as<int64_t>(); whole && std::abs(*whole) > int64_t(1) << 53)
    if (!isFloat(type))
      call.fail("takes a factor of at most 2^53 for integers, got " + std::string(name) + "=" +
                std::to_string(*whole) + "; multiply the product by it");
  return isFloat(type) ? call.number(name) : std::trunc(call.number(name));
}

/// Sizes and strides by the rules of matmul: dims before the last two are a batch that broadcasts;
/// a vector is a row on the left and a column on the right, and its dim is missing in the result.
void describeSizes(GemmSpec &spec, const TensorType &left, const TensorType &right,
                   const TensorType &result, const SymbolTable &symbols) {
  bool row = left.rank() == 1, column = right.rank() == 1;
  spec.batch.assign(result.shape.begin(), result.shape.end() - (row ? 0 : 1) - (column ? 0 : 1));
  spec.m = row ? Expr(1) : left.shape[left.rank() - 2];
  spec.k = left.shape.back();
  spec.n = column ? Expr(1) : right.shape.back();
  // A missing dim has one row or column only, so that any stride but a broadcast one will do.
  auto operandOf = [&](const TensorType &type, bool isRow, bool isColumn, size_t dims) {
    TensorType batch = type;
    batch.shape.resize(type.rank() - dims);
    batch.strides.resize(type.rank() - dims);
    TextOperand operand = broadcastOperand(batch, spec.batch, symbols);
    operand.strides.push_back(isRow ? Expr(1) : type.strides[type.rank() - dims]);
    operand.strides.push_back(isColumn ? Expr(1) : type.strides.back());
    return operand;
  };
  spec.a = operandOf(left, row, false, row ? 1 : 2);
  spec.b = operandOf(right, false, column, column ? 1 : 2);
  spec.output = operandOf(result, row, column, (row ? 0 : 1) + (column ? 0 : 1));
}

} // namespace

ProductLowering::ProductLowering(LaunchEmitter &e, const DeviceModel &d)
    : emitter(e), program(e.program), registry(e.registry), device(d),
      packed(
          program, registry, [this](const TensorType &type) { return emitter.emptyLike(type); },
          [this](Value *value, const TextOperand &operand, const std::vector<Expr> &shape) {
            return denseCopy(value, operand, shape);
          }) {}

ProductLowering::Described ProductLowering::describe(const Node &node) const {
  auto call = callOf(node, registry, program.symbols);
  const std::string &name = call->op.schema.name;
  const TensorType type = node.result()->type();
  Described made;
  GemmSpec &spec = made.spec;
  if (name == "linear") {
    made.a = call->value("input");
    made.b = call->value("weight");
    made.bias = call->has("bias") ? call->value("bias") : nullptr;
  } else if (name == "addmm") {
    made.a = call->value("mat1");
    made.b = call->value("mat2");
    spec.alpha = factor(*call, "alpha", type.dtype);
    spec.beta = factor(*call, "beta", type.dtype);
    // What is multiplied by zero is not read: it may hold anything.
    made.bias = spec.beta != 0 ? call->value("self") : nullptr;
    if (!made.bias)
      spec.beta = 1;
  } else if (name == "mm" || name == "bmm" || name == "matmul") {
    made.a = call->value("self");
    made.b = call->value(name == "matmul" ? "other" : "mat2");
  } else {
    LaunchEmitter::refuse(node, "has no matrix kernel");
  }
  const TensorType &right = made.b->type();
  describeSizes(spec, made.a->type(), name == "linear" ? transposed(right) : right, type,
                program.symbols);
  spec.rows = {spec.m};
  spec.columns = {spec.n};
  spec.depth = {spec.k};
  if (made.bias)
    spec.bias.push_back(
        broadcastOperand(made.bias->type(), rowsAndColumns(spec, {spec.m}), program.symbols));
  spec.type = type.dtype;
  spec.rows = {spec.m};
  spec.columns = {spec.n};
  spec.depth = {spec.k};
  spec.accumulate = isFloat(type.dtype)        ? opMathType(type.dtype)
                    : byteSize(type.dtype) > 4 ? DataType::Int64
                                               : DataType::Int32;
  spec.tf32 = spec.rounds =
      device.sm != 0 && emitter.tf32Products && type.dtype == DataType::Float32;
  return made;
}

void ProductLowering::lower(Node &node) {
  if (isConvolution(node))
    return lowerConvolution(node);
  Described product = describe(node);
  product.spec.name = emitter.kernelName({&node}, "gemm");
  mergeBatchIntoRows(product.spec);
  if (device.sm != 0)
    takeBatchApart(product.spec);
  const TensorType type = node.result()->type();
  program.main.setInsertionPoint(&node);
  program.main.setLocation(node.location);
  Value *out = device.sm == 0 ? packed.lower(product.spec, product.a, product.b, product.bias, type)
                              : nullptr;
  if (!out)
    out = emit(product, {}, type, node.location);
  emitter.replace(node, out, {});
}

/// A product, the views of its result, and what those who read it see: the last of them.
struct ProductLowering::Seen {
  Node *maker = nullptr;
  std::vector<Node *> views;
  Value *value = nullptr;
};

/// What `value` is a view of, where nobody else reads what lies between.
static ProductLowering::Seen seenThrough(Value *value, const OperatorRegistry &registry) {
  ProductLowering::Seen seen{value->producer(), {}, value};
  while (seen.maker->isCall() && !seen.maker->isLaunch()) {
    const Operator *op = registry.find(seen.maker->target());
    if (!op || op->kind != Operator::Kind::View)
      break;
    seen.views.insert(seen.views.begin(), seen.maker);
    Value *from = seen.maker->arg(0).value();
    seen.maker = from->producer();
    if (from->users().size() != 1)
      break;
  }
  return seen;
}

/// The last product that the members alone use, of whose elements each goes to the same element of
/// what they see of it.
ProductLowering::Seen ProductLowering::productOf(const Node &root,
                                                 const std::vector<Node *> &members) const {
  const std::vector<Expr> &shape = root.result()->type().shape;
  auto isMember = [&](const Node *node) {
    return std::find(members.begin(), members.end(), node) != members.end();
  };
  Seen last;
  for (Node *member : members)
    member->forEachOperand([&](Value *value) {
      if (!value->isTensor() || isMember(value->producer()) || value->type().shape != shape ||
          shape.size() < 2 || !std::all_of(value->users().begin(), value->users().end(), isMember))
        return;
      Seen seen = seenThrough(value, registry);
      if (!isProduct(*seen.maker, registry) ||
          (!seen.views.empty() && !mayFollow(seen, root.result()->type())))
        return;
      if (!last.maker || last.maker->isBefore(seen.maker))
        last = std::move(seen);
    });
  return last;
}

/// Whether the product can store what is made of a view of it, line by line.
bool ProductLowering::mayFollow(const Seen &seen, const TensorType &stored) const {
  if (device.sm == 0 || isConvolution(*seen.maker) ||
      !seen.maker->result()->type().isContiguous(program.symbols) ||
      seen.maker->result()->users().size() != 1)
    return false;
  GemmSpec spec = describe(*seen.maker).spec;
  mergeBatchIntoRows(spec);
  takeBatchApart(spec);
  std::optional<std::vector<size_t>> order = seeAs(spec, seen.value->type());
  return isFloat(spec.accumulate) && order && stored.strides[order->back()].constant() == 1;
}

static std::vector<Node *> withMaker(Node *maker, const std::vector<Node *> &members) {
  std::vector<Node *> all{maker};
  all.insert(all.end(), members.begin(), members.end());
  return all;
}

ProductLowering::Described ProductLowering::describeConvolution(const Node &node,
                                                                ConvolutionLowering &convolution,
                                                                const TensorType &stored) {
  auto call = callOf(node, registry, program.symbols);
  const TensorType &type = node.result()->type();
  bool isHalf = type.dtype == DataType::Float16 || type.dtype == DataType::BFloat16,
       truncates = emitter.tf32 && type.dtype == DataType::Float32;
  WindowProduct windows =
      convolution.asProduct(isHalf || truncates, stored.strides[1].constant() == 1);
  windows.spec.tf32 = truncates;
  Described made{std::move(windows.spec), windows.a, windows.b, nullptr};
  made.spec.output = convolution.inPlaces(broadcastOperand(type, type.shape, program.symbols),
                                          made.spec.rowsApart);
  if (call->has("bias")) {
    made.bias = call->value("bias");
    TextOperand bias{type.dtype, std::vector<Expr>(type.rank(), Expr(0)), 0};
    bias.strides[1] = made.bias->type().strides[0];
    made.spec.bias.push_back(convolution.inPlaces(bias, made.spec.rowsApart));
  }
  return made;
}

void ProductLowering::lowerConvolution(Node &node) {
  auto call = callOf(node, registry, program.symbols);
  Value *bias = call->has("bias") ? call->value("bias") : nullptr;
  const TensorType type = node.result()->type();
  program.main.setInsertionPoint(&node);
  program.main.setLocation(node.location);
  ConvolutionLowering convolution(emitter, node);
  Value *out = nullptr;
  if (device.sm != 0 && convolution.hasOwnWindows()) {
    out = convolveByWindows(node, convolution, {}, "product", type,
                            emitter.kernelName({&node}, "windows"), node.location);
  } else if (device.sm == 0) {
    out = convolveOnCpu(convolution, bias, type, node.location);
  } else if (convolution.hasFewTerms()) {
    out = convolution.asSums(bias, type);
  } else {
    Described product = describeConvolution(node, convolution, type);
    product.spec.name = emitter.kernelName({&node}, "gemm");
    out = emit(product, {}, type, node.location);
  }
  emitter.replace(node, out, {});
}

Value *ProductLowering::convolveByWindows(const Node &node, ConvolutionLowering &convolution,
                                          PointwiseGroup group, const std::string &stored,
                                          const TensorType &type, const std::string &name,
                                          const SourceLocation &where) {
  auto call = callOf(node, registry, program.symbols);
  ConvolutionLowering::Windows windows = convolution.asWindows(type);
  WindowSpec &spec = windows.spec;
  spec.name = name;
  std::vector<Value *> operands{windows.x, windows.weight};
  if (call->has("bias")) {
    Value *bias = call->value("bias");
    spec.bias = {{bias->type().dtype, std::vector<Expr>(type.rank(), Expr(0)), 0}};
    spec.bias[0].strides[1] = bias->type().strides[0];
    operands.push_back(bias);
  }
  for (Value *input : group.inputs) {
    spec.operands.push_back(broadcastOperand(input->type(), type.shape, program.symbols));
    operands.push_back(input);
  }
  spec.scalars = std::move(group.scalars);
  spec.body = std::move(group.body);
  spec.stored = stored;
  return emitter.emit(writeWindows(spec, device, program.symbols), operands,
                      {emitter.emptyLike(type), Access::Write}, where);
}

/// The packed kernels take rows that are added, and no columns.
Value *ProductLowering::convolveOnCpu(ConvolutionLowering &convolution, Value *bias,
                                      const TensorType &type, const SourceLocation &where) {
  // The kernels write dense places; a result with its channels innermost is copied into its order.
  TensorType dense(type.dtype, type.shape, type.device);
  if (auto kernel = convolution.asLibraryKernel(dense)) {
    Value *out = packed.convolve(*kernel, bias, dense);
    return dense.strides == type.strides ? out : copyInto(out, type, where);
  }
  auto launch = [&](const LibraryConvolution &kernel, Value *added, const TensorType &made) {
    return packed.convolve(kernel, added, made);
  };
  if (Value *out = convolution.byPhases(launch, bias, type))
    return out;
  if (convolution.hasFewTerms())
    return convolution.asSums(bias, type);
  WindowProduct windows = convolution.withCopiedWindows();
  Described product{std::move(windows.spec), windows.a, windows.b, nullptr};
  product.spec.name = "gemm_convolution";
  product.spec.output = {
      type.dtype,
      {type.strides[0], type.strides[1] * product.spec.m, type.strides[1], type.strides.back()},
      0};
  Value *out = packed.lower(product.spec, product.a, product.b, nullptr, type);
  if (!out)
    out = emit(product, {}, type, where);
  return bias ? addChannels(out, bias, where) : out;
}

Value *ProductLowering::copyInto(Value *value, const TensorType &type,
                                 const SourceLocation &where) {
  PointwiseSpec spec;
  spec.name = "copy";
  spec.shape = type.shape;
  spec.inputs = {broadcastOperand(value->type(), type.shape, program.symbols)};
  spec.outputs = {broadcastOperand(type, type.shape, program.symbols)};
  spec.results = {"in0"};
  return emitter.emit(writePointwise(std::move(spec), program.symbols), {value},
                      {emitter.emptyLike(type), Access::Write}, where);
}

Value *ProductLowering::addChannels(Value *value, Value *bias, const SourceLocation &where) {
  const TensorType type = value->type();
  PointwiseSpec spec;
  spec.name = "add_channels";
  spec.shape = type.shape;
  spec.inputs.push_back(broadcastOperand(type, type.shape, program.symbols));
  spec.inputs.push_back({type.dtype, std::vector<Expr>(type.rank(), Expr(0)), 0});
  spec.inputs[1].strides[1] = bias->type().strides[0];
  std::string wide = tlName(opMathType(type.dtype));
  spec.body = {
      {"v0", "tl.cast(in0.to(" + wide + ") + in1.to(" + wide + "), " + tlName(type.dtype) + ")"}};
  spec.results = {"v0"};
  spec.outputs = {spec.inputs[0]};
  return emitter.emit(writePointwise(std::move(spec), program.symbols), {value, bias},
                      {emitter.emptyLike(type), Access::Write}, where);
}

bool ProductLowering::lowerConsumers(Node &root, const std::vector<Node *> &members) {
  if (device.sm == 0)
    return false;
  Seen seen = productOf(root, members);
  Node *maker = seen.maker;
  if (!maker)
    return false;
  PointwiseGroup group;
  group.divisionFails = false;
  group.names[seen.value] = "product";
  for (const Node *member : members)
    addToGroup(group, *member, registry, program.symbols);
  if (group.usesIndex)
    return false;
  program.main.setInsertionPoint(&root);
  program.main.setLocation(root.location);
  std::optional<ConvolutionLowering> convolution;
  if (isConvolution(*maker)) {
    convolution.emplace(emitter, *maker);
    bool hasWindows = convolution->hasOwnWindows();
    if (hasWindows ? group.hasChecks : convolution->hasFewTerms())
      return false;
    if (hasWindows) {
      std::string stored = group.names.at(root.result());
      std::vector<Node *> named = withMaker(maker, members);
      Value *out =
          convolveByWindows(*maker, *convolution, std::move(group), stored, root.result()->type(),
                            emitter.kernelName(named, "windows"), root.location);
      replaceConsumers(root, *maker, named, out);
      return true;
    }
  }
  Described product = convolution ? describeConvolution(*maker, *convolution, root.result()->type())
                                  : describe(*maker);
  const TensorType type = root.result()->type();
  // A vector's missing dim would have to be found again in the others' strides.
  if (!convolution && seen.views.empty() && product.spec.batch.size() + 2 != type.rank())
    return false;
  std::vector<size_t> order;
  if (!seen.views.empty()) {
    mergeBatchIntoRows(product.spec);
    takeBatchApart(product.spec);
    order = *seeAs(product.spec, seen.value->type());
  }
  auto placed = [&](const TensorType &operand) {
    TextOperand made = broadcastOperand(operand, type.shape, program.symbols);
    if (convolution)
      return convolution->inPlaces(made, product.spec.rowsApart);
    if (order.empty())
      return made;
    TextOperand sorted{made.dtype, {}, made.offset};
    for (size_t d : order)
      sorted.strides.push_back(made.strides[d]);
    return sorted;
  };
  product.spec.output = placed(type);
  for (const Value *input : group.inputs)
    product.spec.inputs.push_back(placed(input->type()));
  const std::vector<Value *> inputs = group.inputs;
  std::string result = group.names.at(root.result());
  addConsumers(product.spec, std::move(group), result);
  if (!convolution && order.empty()) {
    mergeBatchIntoRows(product.spec);
    takeBatchApart(product.spec);
  }
  std::vector<Node *> named = withMaker(maker, members), replaced = withMaker(maker, seen.views);
  replaced.insert(replaced.end(), members.begin(), members.end());
  product.spec.name = emitter.kernelName(named, "gemm");
  replaceConsumers(root, *maker, replaced, emit(product, inputs, type, root.location));
  return true;
}

void ProductLowering::replaceConsumers(Node &root, const Node &maker,
                                       const std::vector<Node *> &replaced, Value *out) {
  for (const Node *user : maker.result()->users())
    emitter.note(maker, *user, true, "computed before the product stores it");
  emitter.replace(root, out, replaced);
}

void ProductLowering::addConsumers(GemmSpec &spec, PointwiseGroup group,
                                   const std::string &result) {
  spec.scalars = std::move(group.scalars);
  spec.body = std::move(group.body);
  spec.result = result;
}

/// Programs go through several tiles of it, and few of these are cut.
bool ProductLowering::multipliesWell(const GemmSpec &spec) const {
  constexpr double leastUsed = 0.85;
  const ProductTile tile =
      chooseProductTiles(spec, device, isFloat(spec.accumulate), program.symbols).front().tile;
  if (!tile.programs)
    return false;
  int64_t columns = *spec.n.constant(), tiles = (columns + tile.n - 1) / tile.n;
  return static_cast<double>(columns) >= leastUsed * static_cast<double>(tiles * tile.n);
}

Value *ProductLowering::emit(const Described &product, const std::vector<Value *> &inputs,
                             const TensorType &type, const SourceLocation &where) {
  const GemmSpec &spec = product.spec;
  if (auto other = withColumnsInBatch(spec); other && multipliesWell(*other))
    return emit({std::move(*other), product.a, product.b, product.bias}, inputs, type, where);
  if (Value *out = emitAsSums(product, inputs, type, where))
    return out;
  if (auto other = withAlignedRows(product, where))
    return emit(*other, inputs, type, where);
  std::vector<ProductChoice> choices =
      chooseProductTiles(spec, device, isFloat(spec.accumulate), program.symbols);
  if (choices.front().tile.splits > 1)
    return emitParts(product, choices.front().tile, inputs, type, where);
  std::vector<Value *> operands{product.a, product.b};
  if (product.bias)
    operands.push_back(product.bias);
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  std::vector<LaunchEmitter::TextVariant> variants;
  for (const ProductChoice &choice : choices)
    variants.push_back(
        {writeProduct(spec, choice.tile, choice.mostRows, program.symbols), choice.guard});
  return emitter
      .emit(std::move(variants), operands, {{emitter.emptyLike(type), Access::Write}}, where)
      ->result();
}

/// Rows that do not begin at vectors are loaded element by element in every round; of large
/// products they are copied first, along k, with zeros up to whole vectors behind them. So is what
/// does not lie along k where tf32 is multiplied: its units read nothing else.
std::optional<ProductLowering::Described>
ProductLowering::withAlignedRows(const Described &product, const SourceLocation &where) {
  constexpr int64_t least = 256;
  const GemmSpec &spec = product.spec;
  const int64_t vector = 16 / static_cast<int64_t>(byteSize(spec.a.dtype));
  auto isLarge = [](const Expr &size) { return size.constantOr(0) >= least; };
  if (!device.hasWarpgroups || byteSize(spec.a.dtype) > 4 || byteSize(spec.a.dtype) < 2 ||
      !isFloat(spec.a.dtype) || !spec.batch.empty() || spec.rowsApart || !spec.borders.empty() ||
      spec.depth.size() != 1 || spec.columns.size() != 1 || spec.a.strides.size() != 2 ||
      spec.b.strides.size() != 2 || !isLarge(spec.m) || !isLarge(spec.n) || !isLarge(spec.k))
    return std::nullopt;
  auto isOdd = [&](const TextOperand &operand, size_t alongK) {
    if (spec.rounds && operand.strides[alongK].constant() != 1)
      return true;
    for (size_t d : {0, 1})
      if (operand.strides[d].constant() == 1) {
        auto other = operand.strides[1 - d].constant();
        return other && *other % vector != 0;
      }
    return false;
  };
  const bool copiesA = isOdd(spec.a, 1), copiesB = isOdd(spec.b, 0);
  if (!copiesA && !copiesB)
    return std::nullopt;
  int64_t depth = (*spec.k.constant() + vector - 1) / vector * vector;
  auto copied = [&](Value *value, const TextOperand &operand, const Expr &rows, size_t alongRows) {
    TextOperand along{operand.dtype,
                      {operand.strides[alongRows], operand.strides[1 - alongRows]},
                      operand.offset};
    if (Value *weight = emitter.weights.arrange(value, along, {rows, spec.k}, {rows, depth}))
      return weight;
    PointwiseSpec copy;
    copy.name = "copy_rows";
    copy.shape = {rows, depth};
    copy.inputs = {along};
    copy.inputs[0].windows = {0};
    copy.windows = {{1, 0, spec.k}};
    copy.body = {{"v0", "tl.where(part0, in0, 0).to(" + tlName(operand.dtype) + ")"}};
    copy.results = {"v0"};
    TensorType dense(operand.dtype, copy.shape, value->type().device);
    copy.outputs = {broadcastOperand(dense, copy.shape, program.symbols)};
    return emitter.emit(writePointwise(std::move(copy), program.symbols), {value},
                        {emitter.emptyLike(dense), Access::Write}, where);
  };
  Described made = product;
  // Zeros behind the rows of one meet what is behind those of the other: both have them.
  const bool isLonger = spec.k.constant() != depth;
  if (copiesA || isLonger) {
    made.a = copied(product.a, spec.a, spec.m, 0);
    made.spec.a = {spec.a.dtype, {depth, 1}, 0};
  }
  if (copiesB || isLonger) {
    made.b = copied(product.b, spec.b, spec.n, 1);
    made.spec.b = {spec.b.dtype, {1, depth}, 0};
  }
  made.spec.k = depth;
  made.spec.depth = {depth};
  return made;
}

/// Of f32 and f64 and a single row or column: threads would multiply most of each tile for nothing,
/// and the matrix is read once at the memory's rate by what adds up rows.
Value *ProductLowering::emitAsSums(const Described &product, const std::vector<Value *> &inputs,
                                   const TensorType &type, const SourceLocation &where) {
  const GemmSpec &spec = product.spec;
  bool isRow = spec.m.constant() == 1, isColumn = spec.n.constant() == 1;
  size_t batch = spec.batch.size();
  if (device.sm == 0 || isRow == isColumn || program.symbols.range(spec.k).min < 1 ||
      product.bias || !inputs.empty() || !spec.body.empty() || spec.alpha != 1 || spec.rowsApart ||
      !spec.borders.empty() || spec.depth.size() != 1 || spec.columns.size() != 1 ||
      !isFloat(spec.accumulate) || spec.a.dtype != spec.accumulate ||
      spec.a.strides.size() != batch + 2 || spec.b.strides.size() != batch + 2 ||
      !(type.strides == contiguousStrides(type.shape)))
    return nullptr;
  ReductionSpec sums;
  sums.name = spec.name;
  sums.kept = spec.batch;
  sums.kept.push_back(isColumn ? spec.m : spec.n);
  sums.reduced = {spec.k};
  // a lies by rows and k, b by k and columns.
  TextOperand a = spec.a, b = spec.b;
  if (isRow)
    a.strides[batch] = 0;
  b.strides[batch] = isColumn ? Expr(0) : spec.b.strides[batch + 1];
  b.strides[batch + 1] = spec.b.strides[batch];
  sums.inputs = {a, b};
  sums.value = "in0 * in1";
  sums.rule.identity = "0";
  sums.rule.step = {"acc = acc + v"};
  sums.rule.across = {"acc = tl.sum(acc, axis=AXIS)"};
  sums.rule.accumulate = spec.accumulate;
  sums.type = spec.type;
  sums.output = {spec.type, contiguousStrides(sums.kept), 0};
  TensorType made(spec.type, type.shape, type.device);
  return emitReduction(emitter, std::move(sums), {product.a, product.b}, {made}, where, false)[0];
}

/// Programs for parts of k store partial sums; then one launch adds them up, always in the same
/// order, and does what the product itself would have done before its store.
Value *ProductLowering::emitParts(const Described &product, const ProductTile &tile,
                                  const std::vector<Value *> &inputs, const TensorType &type,
                                  const SourceLocation &where) {
  const GemmSpec &spec = product.spec;
  GemmSpec partial = spec;
  partial.bias.clear();
  partial.inputs.clear();
  partial.scalars.clear();
  partial.body.clear();
  std::vector<Expr> shape = rowsAndColumns(spec, {spec.m}), all = shape;
  all.insert(all.begin(), Expr(tile.splits));
  TensorType sums(spec.accumulate, all, type.device);
  Value *parts =
      emitter.emit(writeProduct(partial, tile, INT64_MAX, program.symbols), {product.a, product.b},
                   {emitter.emptyLike(sums), Access::Write}, where);

  PointwiseSpec finish;
  finish.name = spec.name + "_parts";
  finish.shape = rowsAndColumns(spec, spec.rows);
  finish.scalars = spec.scalars;
  finish.inputs = spec.inputs;
  std::vector<Value *> operands = inputs;
  auto input = [&](Value *value, TextOperand operand) {
    finish.inputs.push_back(std::move(operand));
    operands.push_back(value);
    return "in" + std::to_string(operands.size() - 1);
  };
  auto ofRows = [&](const TextOperand &operand) {
    return spec.rowsApart ? operand : withRows(operand, spec);
  };
  std::string sum;
  for (int64_t part = 0; part < tile.splits; ++part) {
    std::string one = input(parts, withRows({spec.accumulate, contiguousStrides(shape),
                                             passes::product(shape, 0, shape.size()) * part},
                                            spec));
    sum = sum.empty() ? one : "(" + sum + " + " + one + ")";
  }
  if (spec.alpha != 1)
    sum = "(" + sum + " * " + tlNumber(spec.alpha) + ")";
  if (product.bias)
    sum += " + " + input(product.bias, ofRows(spec.bias[0])) + ".to(" + tlName(spec.accumulate) +
           ")" + (spec.beta != 1 ? " * " + tlNumber(spec.beta) : "");
  finish.body.push_back({"product", "tl.cast(" + sum + ", " + tlName(spec.type) + ")"});
  finish.body.insert(finish.body.end(), spec.body.begin(), spec.body.end());
  finish.results = {spec.result};
  finish.outputs = {ofRows(spec.output)};
  // The parts are one operand.
  std::vector<Value *> distinct;
  for (Value *operand : operands) {
    auto known = std::find(distinct.begin(), distinct.end(), operand);
    finish.pointers.push_back(static_cast<size_t>(known - distinct.begin()));
    if (known == distinct.end())
      distinct.push_back(operand);
  }
  operands = distinct;
  return emitter.emit(writePointwise(std::move(finish), program.symbols), operands,
                      {emitter.emptyLike(type), Access::Write}, where);
}

Value *ProductLowering::denseCopy(Value *value, const TextOperand &operand,
                                  const std::vector<Expr> &shape) {
  PointwiseSpec spec;
  spec.name = "copy_operand";
  spec.shape = shape;
  spec.inputs = {operand};
  spec.results = {"in0"};
  TensorType dense(value->type().dtype, shape, value->type().device);
  spec.outputs = {broadcastOperand(dense, shape, program.symbols)};
  SourceLocation where = program.main.insertionPoint()->location;
  return emitter.emit(writePointwise(std::move(spec), program.symbols), {value},
                      {emitter.emptyLike(dense), Access::Write}, where);
}

} // namespace pellucid::passes
