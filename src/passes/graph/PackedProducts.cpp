// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/PackedProducts.h"

#include "passes/graph/ArrangedWeights.h"

#include "package/PackedMatrix.h"
#include "passes/graph/LowerToLaunches.h"

#include <algorithm>

namespace pellucid::passes {

using namespace graph;
using package::LibraryKernel;
using package::packedDepth;
using package::packedElements;
using package::productColumns;
using package::productPanel;
using package::productRows;

namespace {

bool isOne(const Expr &expr) { return expr.constant() == 1; }

bool covers(const GemmSpec &spec) {
  DataType type = spec.output.dtype;
  bool sameTypes = spec.a.dtype == type && spec.b.dtype == type;
  bool rows = isOne(spec.output.strides.back()) || isOne(spec.n);
  for (const TextOperand &bias : spec.bias) {
    sameTypes &= bias.dtype == type;
    rows &= isOne(bias.strides.back()) || isOne(spec.n);
  }
  return sameTypes && rows && package::hasMatrixKernel(type) && spec.alpha == 1 && spec.beta == 1;
}

std::vector<TextOperand *> operandsOf(GemmSpec &spec) {
  std::vector<TextOperand *> operands{&spec.a, &spec.b, &spec.output};
  for (TextOperand &bias : spec.bias)
    operands.push_back(&bias);
  return operands;
}

/// Neighbouring batch dims that every operand steps through evenly become one.
void mergeBatches(GemmSpec &spec) {
  for (size_t d = spec.batch.size(); d-- > 1;) {
    bool even = true;
    for (const TextOperand *operand : operandsOf(spec))
      even &= operand->strides[d - 1] == operand->strides[d] * spec.batch[d];
    if (!even)
      continue;
    spec.batch[d - 1] = spec.batch[d - 1] * spec.batch[d];
    spec.batch.erase(spec.batch.begin() + static_cast<std::ptrdiff_t>(d));
    for (TextOperand *operand : operandsOf(spec))
      operand->strides.erase(operand->strides.begin() + static_cast<std::ptrdiff_t>(d - 1));
  }
}

std::vector<Expr> withBatch(const GemmSpec &spec, const Expr &rows, const Expr &columns) {
  std::vector<Expr> shape = spec.batch;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

/// A matrix times a vector is a row times the transposed matrix: its columns, which lie along k,
/// are then read where they lie, and no columns are multiplied that are not there. True: a bias
/// that is one number for all has to be made as long as the row.
bool turnVector(GemmSpec &spec, Value *&a, Value *&b) {
  auto across = [](const TextOperand &operand) {
    return operand.strides[operand.strides.size() - 2];
  };
  bool mayTurn =
      isOne(spec.n) && !isOne(spec.m) && isOne(spec.a.strides.back()) && isOne(across(spec.output));
  bool isNumber = false;
  for (const TextOperand &bias : spec.bias) {
    isNumber = across(bias).constant() == 0 && spec.batch.empty();
    mayTurn &= isOne(across(bias)) || isNumber;
  }
  if (!mayTurn)
    return false;
  std::swap(spec.m, spec.n);
  std::swap(spec.a, spec.b);
  std::swap(a, b);
  for (TextOperand *operand : operandsOf(spec))
    std::swap(operand->strides.back(), operand->strides[operand->strides.size() - 2]);
  return isNumber;
}

/// Elements of a packed matrix.
Expr packedSize(DataType type, const Expr &n, const Expr &k) {
  int64_t unit = package::depthUnit(type);
  Expr depth = unit == 1 ? k : symbolic::ceilDiv(k, unit) * unit;
  return symbolic::ceilDiv(n, productColumns) * productColumns * depth;
}

LaunchOperand pointer(const char *name, Value *value, Access access) {
  return {name, Argument(value), access, false};
}
LaunchOperand optional(const char *name, Value *value) {
  return value ? pointer(name, value, Access::Read)
               : LaunchOperand{name, Argument(None()), Access::None, false};
}
LaunchOperand integer(const char *name, const Expr &value) {
  return {name, Argument(value), Access::None, false};
}

/// Right operands of products that lie in a weight, one after the other.
struct RightOperands {
  DataType dtype = DataType::Float32;
  std::shared_ptr<const std::byte> data; ///< of the first
  int64_t n = 0, k = 0, strideK = 0, strideN = 0, count = 1, batchStride = 0;

  int64_t element() const { return byteSize(dtype); }
  /// Columns that are packed at once, in whole blocks of the package's layout.
  int64_t columnsAtOnce() const {
    int64_t block = productColumns * packedDepth(dtype, k) * element();
    int64_t blocks = static_cast<int64_t>(package::pieceBytes) / std::max<int64_t>(block, 1);
    return std::max<int64_t>(blocks, 1) * productColumns;
  }
};

/// Sends the packed form of `b`, a few columns at a time: weights may be larger than what should be
/// in memory at once.
bool sendPacked(const RightOperands &b, const package::ByteSink &sink) {
  if (b.n == 0 || b.k == 0)
    return true;
  int64_t step =
      std::min(b.columnsAtOnce(), (b.n + productColumns - 1) / productColumns * productColumns);
  std::vector<uint8_t> piece;
  auto bytes = [&](int64_t elements) { return static_cast<size_t>(elements * b.element()); };
  for (int64_t i = 0; i < b.count; ++i) {
    const uint8_t *matrix =
        reinterpret_cast<const uint8_t *>(b.data.get()) + i * b.batchStride * b.element();
    for (int64_t column = 0; column < b.n; column += step) {
      int64_t columns = std::min(step, b.n - column);
      piece.resize(bytes(packedElements(b.dtype, columns, b.k)));
      const uint8_t *start = matrix + column * b.strideN * b.element();
      package::packMatrix(b.dtype, start, columns, b.k, b.strideK, b.strideN, piece.data());
      if (b.strideK == 1)
        package::letGo({start, bytes((columns - 1) * b.strideN + b.k)});
      if (!sink(piece))
        return false;
    }
    if (b.strideN == 1)
      package::letGo({matrix, bytes((b.k - 1) * b.strideK + b.n)});
  }
  return true;
}

} // namespace

Value *PackedProducts::lower(GemmSpec spec, Value *a, Value *b, Value *bias,
                             const TensorType &type) {
  if (!covers(spec))
    return nullptr;
  // Batches of none have strides that tell of no dims that lie together: their grid would be
  // another's.
  if (type.numel().constant() == 0)
    return makeEmpty(type);
  auto dense = [&](Value *&value, TextOperand &operand, const std::vector<Expr> &shape) {
    value = makeDense(value, operand, shape);
    operand.strides = contiguousStrides(shape);
  };
  if (turnVector(spec, a, b))
    dense(bias, spec.bias[0], {spec.m, spec.n});
  mergeBatches(spec);
  bool several = spec.batch.size() > 1;
  if (several && bias)
    return nullptr;
  if (several || !(isOne(spec.a.strides.back()) || isOne(spec.k)))
    dense(a, spec.a, withBatch(spec, spec.m, spec.k));
  if (several) {
    dense(b, spec.b, withBatch(spec, spec.k, spec.n));
    mergeBatches(spec);
  }
  Packed packed = packRight(spec, b);
  auto rowStep = [](const TextOperand &operand) {
    return operand.strides[operand.strides.size() - 2];
  };
  auto batchStep = [&](const TextOperand &operand) {
    return spec.batch.empty() ? Expr(0) : operand.strides[0];
  };
  LibraryKernel library{LibraryKernel::Kind::Gemm, type.dtype, bias != nullptr,
                        packed.few.constant() != 0};
  Value *out = makeEmpty(type);
  std::vector<LaunchOperand> operands{pointer("a", a, Access::Read),
                                      optional("packed", packed.value), optional("bias", bias)};
  operands.push_back(pointer("c", out, Access::Write));
  for (auto &&[name, value] : {std::pair<const char *, Expr>{"m", spec.m},
                               {"n", spec.n},
                               {"k", spec.k},
                               {"a_row", rowStep(spec.a)},
                               {"c_row", rowStep(spec.output)},
                               {"a_batch", batchStep(spec.a)},
                               {"packed_batch", packed.batchStride},
                               {"c_batch", batchStep(spec.output)},
                               {"bias_row", bias ? rowStep(spec.bias[0]) : Expr(0)},
                               {"bias_batch", bias ? batchStep(spec.bias[0]) : Expr(0)}})
    operands.push_back(integer(name, value));
  if (packed.few.constant() != 0) {
    operands.push_back(pointer("b", b, Access::Read));
    operands.push_back(integer("b_k", rowStep(spec.b)));
    operands.push_back(integer("b_n", spec.b.strides.back()));
    operands.push_back(integer("b_batch", batchStep(spec.b)));
  }
  return launch(library, std::move(operands),
                {symbolic::ceilDiv(spec.m, productRows), symbolic::ceilDiv(spec.n, productColumns),
                 spec.batch.empty() ? Expr(1) : spec.batch[0]});
}

Value *PackedProducts::convolve(const LibraryConvolution &convolution, Value *bias,
                                const TensorType &type) {
  std::vector<LaunchOperand> operands{pointer("x", convolution.x, Access::Read),
                                      pointer("weight", convolution.weight, Access::Read),
                                      optional("bias", bias),
                                      pointer("c", makeEmpty(type), Access::Write)};
  for (const auto &[name, value] : convolution.integers)
    operands.push_back({name, Argument(value), Access::None, false});
  operands.push_back(integer("bias_step", bias ? bias->type().strides.back() : Expr(0)));
  return launch({convolution.kernel, type.dtype, bias != nullptr}, std::move(operands),
                convolution.grid);
}

PackedProducts::Packed PackedProducts::packRight(const GemmSpec &spec, Value *b) {
  bool shared = spec.batch.empty() || spec.b.strides[0].constant() == 0;
  Packed packed;
  if (!shared)
    packed.batchStride = packedSize(spec.b.dtype, spec.n, spec.k);
  packed.value = packWeight(spec, b);
  if (packed.value)
    return packed;
  packed.few = symbolic::lessEqual(spec.m, productRows);
  if (auto known = program.symbols.prove(packed.few))
    packed.few = Expr(*known ? 1 : 0);
  if (packed.few.constant() != 1)
    packed.value = packAtRunTime(spec, b, 1 - packed.few);
  return packed;
}

Value *PackedProducts::packWeight(const GemmSpec &spec, const Value *b) {
  std::string name;
  const Weight *weight = weightBehind(program, registry, b, name);
  if (!weight || weight->dtype != spec.b.dtype)
    return nullptr;
  std::vector<int64_t> sizes;
  bool shared = spec.batch.empty() || spec.b.strides[0].constant() == 0;
  for (const Expr &expr :
       {b->type().offset, spec.n, spec.k, spec.b.strides[spec.b.strides.size() - 2],
        spec.b.strides.back(), shared ? Expr(1) : spec.batch[0],
        shared ? Expr(0) : spec.b.strides[0]}) {
    if (!expr.constant())
      return nullptr;
    sizes.push_back(*expr.constant());
  }
  Value *&known = packedWeights[{weight->data.get(), sizes}];
  if (known)
    return known;
  int64_t offset = sizes[0], n = sizes[1], k = sizes[2], strideK = sizes[3], strideN = sizes[4],
          count = sizes[5];
  int64_t element = byteSize(weight->dtype), matrix = packedElements(weight->dtype, n, k);
  Weight packed;
  packed.dtype = weight->dtype;
  int64_t depth = package::packedDepth(weight->dtype, k);
  packed.shape = {count,
                  (n + productColumns - 1) / productColumns * (productColumns / productPanel),
                  depth, productPanel};
  packed.bytes = static_cast<uint64_t>(count * matrix * element);
  RightOperands operands{weight->dtype,
                         {weight->data, weight->data.get() + offset * element},
                         n,
                         k,
                         strideK,
                         strideN,
                         count,
                         sizes[6]};
  packed.made = [operands](const package::ByteSink &sink) { return sendPacked(operands, sink); };
  std::string fresh = name + ".packed";
  for (int i = 1; program.weights.count(fresh); ++i)
    fresh = name + ".packed" + std::to_string(i);
  std::vector<Expr> shape(packed.shape.begin(), packed.shape.end());
  TensorType type(packed.dtype, shape, b->type().device);
  program.weights[fresh] = std::move(packed);
  InputSpec input;
  input.kind = InputSpec::Kind::ConstantTensor;
  input.name = fresh;
  program.inputs.push_back(std::move(input));
  return known = program.main.placeholder("packed", type);
}

Value *PackedProducts::packAtRunTime(const GemmSpec &spec, Value *b, const Expr &wanted) {
  bool shared = spec.batch.empty() || spec.b.strides[0].constant() == 0;
  Expr count = shared ? Expr(1) : spec.batch[0];
  // Nothing where it is not wanted; of the strides, which are those of one matrix, nothing is
  // taken.
  Value *packed = makeEmpty(TensorType(
      spec.b.dtype, {count * wanted, packedSize(spec.b.dtype, spec.n, spec.k)}, b->type().device));
  std::vector<LaunchOperand> operands{pointer("b", b, Access::Read),
                                      pointer("packed", packed, Access::Write),
                                      integer("n", spec.n),
                                      integer("k", spec.k),
                                      integer("b_k", spec.b.strides[spec.b.strides.size() - 2]),
                                      integer("b_n", spec.b.strides.back()),
                                      integer("b_batch", shared ? Expr(0) : spec.b.strides[0])};
  return launch({LibraryKernel::Kind::Pack, spec.b.dtype}, std::move(operands),
                {symbolic::ceilDiv(spec.n, productColumns) * wanted, count, 1});
}

Value *PackedProducts::launch(const LibraryKernel &library, std::vector<LaunchOperand> operands,
                              const Expr (&grid)[3]) {
  Launch launch;
  LaunchVariant variant;
  variant.kernel = kernelFor(library, operands);
  std::copy(std::begin(grid), std::end(grid), variant.grid);
  launch.variants.push_back(std::move(variant));
  launch.operands = std::move(operands);
  return program.main.launch(std::move(launch), std::string(library.kindName()))->result();
}

uint32_t PackedProducts::kernelFor(const LibraryKernel &library,
                                   const std::vector<LaunchOperand> &operands) {
  if (auto known = kernels.find(library); known != kernels.end())
    return known->second;
  KernelDef def;
  def.library = library;
  def.name = toString(library);
  def.sourcePath = "<library " + def.name + ">";
  std::replace(def.name.begin(), def.name.end(), ' ', '_');
  def.symbol = program.uniqueSymbol(def.name);
  for (const LaunchOperand &operand : operands) {
    KernelParameter parameter;
    parameter.name = operand.name;
    bool isPointer = operand.access != Access::None || operand.value.isNone();
    parameter.kind = isPointer ? KernelParameter::Kind::Pointer : KernelParameter::Kind::Scalar;
    parameter.dtype = isPointer ? library.type : DataType::Int64;
    parameter.access = operand.access;
    def.parameters.push_back(std::move(parameter));
  }
  program.kernels.push_back(std::move(def));
  return kernels[library] = static_cast<uint32_t>(program.kernels.size() - 1);
}

void eraseUnusedWeights(Program &program) {
  std::vector<Node *> placeholders = program.main.placeholders();
  std::vector<InputSpec> kept;
  for (size_t i = 0; i < placeholders.size(); ++i) {
    InputSpec &spec = program.inputs[i];
    bool isWeight = spec.kind == InputSpec::Kind::Parameter ||
                    spec.kind == InputSpec::Kind::Buffer ||
                    spec.kind == InputSpec::Kind::ConstantTensor;
    if (!isWeight || !placeholders[i]->resultCount() || !placeholders[i]->result()->isUnused()) {
      kept.push_back(std::move(spec));
      continue;
    }
    program.weights.erase(spec.name);
    program.main.erase(placeholders[i]);
  }
  program.inputs = std::move(kept);
}

} // namespace pellucid::passes
