// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/KernelText.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pellucid::passes {

using symbolic::Expr;
using symbolic::SymbolTable;

std::string tlName(DataType type) {
  switch (type) {
  case DataType::Bool:
    return "tl.int1";
  case DataType::Float8E4M3FN:
    return "tl.float8e4nv";
  case DataType::Float8E5M2:
    return "tl.float8e5";
  case DataType::Float8E4M3FNUZ:
    return "tl.float8e4b8";
  case DataType::Float8E5M2FNUZ:
    return "tl.float8e5b16";
  default:
    return "tl." + std::string(info(type).torch);
  }
}

std::string tlNumber(double value) {
  if (std::isnan(value))
    return "float('nan')";
  if (std::isinf(value))
    return value > 0 ? "float('inf')" : "float('-inf')";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  std::string result = text;
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

namespace {

/// Collects the lines, the pointer parameters and the scalar parameters of one kernel.
class Writer {
public:
  explicit Writer(std::string n) : name(std::move(n)) {}

  std::string pointer(const std::string &wanted) {
    pointerNames.push_back(wanted);
    return wanted;
  }
  /// A literal for a constant, else the name of the parameter that carries it.
  std::string scalar(const Expr &expr) {
    if (auto value = expr.constant())
      return std::to_string(*value);
    auto [entry, isNew] =
        scalarNames.try_emplace(expr.text(), "e" + std::to_string(scalars.size()));
    if (isNew)
      scalars.push_back(expr);
    return entry->second;
  }
  void line(const std::string &text) { body += std::string(4 * indent, ' ') + text + "\n"; }
  void open(const std::string &text) {
    line(text);
    ++indent;
  }
  void close() { --indent; }

  /// `offset + index0 * stride0 + …`; indices are names of int64 values.
  std::string address(const TextOperand &operand, const std::vector<std::string> &indices) {
    std::string text;
    auto add = [&](const std::string &term) { text += text.empty() ? term : " + " + term; };
    if (operand.offset.constant() != 0)
      add(scalar(operand.offset));
    for (size_t d = 0; d < operand.strides.size(); ++d) {
      auto stride = operand.strides[d].constant();
      if (stride == 0 || indices[d].empty())
        continue;
      add(stride == 1 ? indices[d] : indices[d] + " * " + scalar(operand.strides[d]));
    }
    return text.empty() ? "0" : text;
  }

  void lines(const std::vector<std::string> &texts) {
    for (const std::string &text : texts)
      line(text);
  }

  KernelText finish(Expr grid, int64_t block) {
    std::string parameters;
    for (const std::string &p : pointerNames)
      parameters += p + ", ";
    for (size_t i = 0; i < scalars.size(); ++i)
      parameters += "e" + std::to_string(i) + ", ";
    KernelText out;
    out.name = name;
    out.source = "import triton\nimport triton.language as tl\nfrom triton.language.extra import "
                 "libdevice\n\n\n" +
                 helper + "@triton.jit\ndef " + name + "(" + parameters +
                 "BLOCK: tl.constexpr = " + std::to_string(block) + "):\n" + body;
    out.pointers = pointerNames.size();
    out.scalars = scalars;
    out.grid = grid;
    return out;
  }

  std::string helper; ///< a function before the kernel

private:
  std::string name, body;
  size_t indent = 1;
  std::vector<std::string> pointerNames;
  std::map<std::string, std::string> scalarNames;
  std::vector<Expr> scalars;
};

/// The tile length for a loop over `extent`: a power of two, no longer than the extent needs.
int64_t chooseBlock(const Expr &extent, const SymbolTable &symbols, int64_t most) {
  int64_t upper = std::min(symbols.range(extent).max, most);
  int64_t block = 16;
  while (block < upper)
    block *= 2;
  return std::min(block, most);
}

Expr product(const std::vector<Expr> &values, size_t begin, size_t end) {
  Expr result = 1;
  for (size_t i = begin; i < end; ++i)
    result = result * values[i];
  return result;
}

/// Dimension d may be merged into d+1 when stepping it once equals running through all of d+1, for
/// every operand.
bool canMerge(size_t d, const std::vector<Expr> &shape,
              const std::vector<TextOperand *> &operands) {
  for (const TextOperand *operand : operands)
    if (!(operand->strides[d] == operand->strides[d + 1] * shape[d + 1]))
      return false;
  return true;
}

/// Drops dimensions of size one and merges neighbours in [begin, end) of `shape`; returns the new
/// end.
size_t collapse(std::vector<Expr> &shape, size_t begin, size_t end,
                const std::vector<TextOperand *> &operands) {
  auto drop = [&](size_t d) {
    shape.erase(shape.begin() + static_cast<long>(d));
    for (TextOperand *operand : operands)
      operand->strides.erase(operand->strides.begin() + static_cast<long>(d));
    --end;
  };
  for (size_t d = end; d-- > begin;)
    if (shape[d].constant() == 1)
      drop(d);
  for (size_t d = end; d-- > begin;) {
    if (d + 1 >= end || !canMerge(d, shape, operands))
      continue;
    shape[d + 1] = shape[d] * shape[d + 1];
    drop(d);
  }
  return end;
}

/// Emits `name_d = …` for the outer dimensions from the linear index `linear`; returns their names.
std::vector<std::string> delinearize(Writer &writer, const std::string &linear,
                                     const std::vector<Expr> &shape, size_t count,
                                     const std::string &prefix) {
  std::vector<std::string> names(count);
  std::string rest = linear;
  for (size_t d = count; d-- > 0;) {
    names[d] = prefix + std::to_string(d);
    if (d == 0) {
      writer.line(names[d] + " = " + rest);
      break;
    }
    std::string size = writer.scalar(shape[d]);
    writer.line(names[d] + " = " + rest + " % " + size);
    writer.line(prefix + "rest" + std::to_string(d) + " = " + rest + " // " + size);
    rest = prefix + "rest" + std::to_string(d);
  }
  return names;
}

std::vector<TextOperand *> pointersTo(std::vector<TextOperand> &operands) {
  std::vector<TextOperand *> result;
  for (TextOperand &operand : operands)
    result.push_back(&operand);
  return result;
}

void emitBody(Writer &writer, const std::vector<TextScalar> &scalars,
              const std::vector<TextStatement> &body) {
  for (const TextScalar &scalar : scalars)
    writer.line(scalar.name + " = " + writer.scalar(scalar.value));
  for (const TextStatement &statement : body)
    writer.line(statement.name + " = " + statement.text);
}

std::string storeText(const std::string &pointer, const std::string &address,
                      const std::string &value, DataType type, const std::string &mask) {
  return "tl.store(" + pointer + " + (" + address + "), (" + value + ").to(" + tlName(type) + ")" +
         (mask.empty() ? "" : ", mask=" + mask) + ")";
}

bool anyStrideAlong(const TextOperand &operand, size_t begin) {
  for (size_t d = begin; d < operand.strides.size(); ++d)
    if (operand.strides[d].constant() != 0)
      return true;
  return false;
}

} // namespace

KernelText writePointwise(PointwiseSpec spec, const SymbolTable &symbols) {
  std::vector<TextOperand *> operands = pointersTo(spec.inputs);
  for (TextOperand &output : spec.outputs)
    operands.push_back(&output);
  collapse(spec.shape, 0, spec.shape.size(), operands);
  if (spec.shape.empty()) {
    spec.shape.push_back(1);
    for (TextOperand &input : spec.inputs)
      input.strides.push_back(0);
    // A tile is stored, of which the mask leaves one element.
    for (TextOperand &output : spec.outputs)
      output.strides.push_back(1);
  }
  size_t outer = spec.shape.size() - 1;
  const Expr &inner = spec.shape.back();
  int64_t block = chooseBlock(inner, symbols, 1024);

  Writer writer(spec.name);
  std::vector<std::string> inputs, outputs;
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    inputs.push_back(writer.pointer("p" + std::to_string(i)));
  for (size_t i = 0; i < spec.outputs.size(); ++i)
    outputs.push_back(writer.pointer("o" + std::to_string(i)));

  std::string size = writer.scalar(inner);
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  Expr chunks = symbolic::ceilDiv(inner, block);
  std::vector<std::string> indices;
  if (outer == 0) {
    writer.line("col = pid * BLOCK + tl.arange(0, BLOCK)");
  } else if (chunks.constant() == 1) {
    indices = delinearize(writer, "pid", spec.shape, outer, "idx");
    writer.line("col = tl.arange(0, BLOCK).to(tl.int64)");
  } else {
    writer.line("chunks = tl.cdiv(" + size + ", BLOCK)");
    writer.line("row = pid // chunks");
    writer.line("col = (pid % chunks) * BLOCK + tl.arange(0, BLOCK)");
    indices = delinearize(writer, "row", spec.shape, outer, "idx");
  }
  writer.line("mask = col < " + size);
  indices.push_back("col");
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool tile = anyStrideAlong(spec.inputs[i], outer);
    writer.line("in" + std::to_string(i) + " = tl.load(" + inputs[i] + " + (" +
                writer.address(spec.inputs[i], indices) + ")" + (tile ? ", mask=mask" : "") + ")");
  }
  if (outer == 0)
    writer.line("i = col");
  emitBody(writer, spec.scalars, spec.body);
  for (size_t i = 0; i < outputs.size(); ++i) {
    // A value made of broadcast scalars only must still fill the tile.
    std::string value = "tl.broadcast_to(" + spec.results[i] + ", [BLOCK])";
    writer.line(storeText(outputs[i], writer.address(spec.outputs[i], indices), value,
                          spec.outputs[i].dtype, "mask"));
  }
  return writer.finish(chunks * product(spec.shape, 0, outer), block);
}

namespace {

/// Loops over the reduced dimensions [first, last) as scalars; returns their index names.
std::vector<std::string> openReducedLoops(Writer &writer, const std::vector<Expr> &reduced,
                                          size_t last) {
  std::vector<std::string> names;
  for (size_t d = 0; d < last; ++d) {
    names.push_back("r" + std::to_string(d));
    writer.open("for " + names.back() + " in range(0, " + writer.scalar(reduced[d]) + "):");
  }
  return names;
}

void emitLoads(Writer &writer, const std::vector<TextOperand> &operands,
               const std::vector<std::string> &pointers, const std::vector<std::string> &indices,
               size_t tileDim) {
  for (size_t i = 0; i < operands.size(); ++i) {
    bool tile = operands[i].strides[tileDim].constant() != 0;
    writer.line("in" + std::to_string(i) + " = tl.load(" + pointers[i] + " + (" +
                writer.address(operands[i], indices) + ")" +
                (tile ? ", mask=mask, other=0)" : ")"));
  }
}

/// The number of the reduced element at these indices.
std::string positionText(Writer &writer, const std::vector<std::string> &indices,
                         const std::vector<Expr> &sizes) {
  std::string text = indices[0];
  for (size_t d = 1; d < indices.size(); ++d)
    text = "(" + text + ") * " + writer.scalar(sizes[d]) + " + " + indices[d];
  return text;
}

/// The innermost dimension is reduced: one program per kept index, a tile of partial results along
/// the row.
KernelText writeRowReduction(ReductionSpec &spec, const SymbolTable &symbols) {
  const Expr &inner = spec.reduced.back();
  int64_t block = chooseBlock(inner, symbols, 1024);
  Writer writer(spec.name);
  std::vector<std::string> pointers;
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    pointers.push_back(writer.pointer("p" + std::to_string(i)));
  std::string out = writer.pointer("o0");
  std::string accumulate = tlName(spec.rule.accumulate);
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  std::vector<std::string> kept = delinearize(writer, "pid", spec.kept, spec.kept.size(), "idx");
  writer.helper = spec.rule.helper;
  writer.line("acc = tl.full([BLOCK], " + spec.rule.identity + ", " + accumulate + ")");
  writer.lines(spec.rule.start);
  std::vector<std::string> loops = openReducedLoops(writer, spec.reduced, spec.reduced.size() - 1);
  writer.open("for start in range(0, " + writer.scalar(inner) + ", BLOCK):");
  writer.line("col = start + tl.arange(0, BLOCK).to(tl.int64)");
  writer.line("mask = col < " + writer.scalar(inner));
  std::vector<std::string> indices = kept;
  indices.insert(indices.end(), loops.begin(), loops.end());
  indices.push_back("col");
  emitLoads(writer, spec.inputs, pointers, indices, indices.size() - 1);
  emitBody(writer, spec.scalars, spec.body);
  writer.line("v = tl.where(mask, (" + spec.value + ").to(" + accumulate + "), " +
              spec.rule.identity + ").to(" + accumulate + ")");
  writer.line("inside = mask");
  loops.push_back("col");
  writer.line("at = " + positionText(writer, loops, spec.reduced));
  writer.lines(spec.rule.step);
  for (size_t i = 0; i < loops.size(); ++i)
    writer.close();
  writer.lines(spec.rule.across);
  writer.line("n = " + writer.scalar(product(spec.reduced, 0, spec.reduced.size())));
  writer.line(
      storeText(out, writer.address(spec.output, kept), spec.finalize, spec.output.dtype, ""));
  return writer.finish(product(spec.kept, 0, spec.kept.size()), block);
}

/// The innermost dimension is kept: a tile of results, looping over all reduced indices.
KernelText writeColumnReduction(ReductionSpec &spec, const SymbolTable &symbols) {
  const Expr &inner = spec.kept.back();
  int64_t block = chooseBlock(inner, symbols, 256);
  Writer writer(spec.name);
  std::vector<std::string> pointers;
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    pointers.push_back(writer.pointer("p" + std::to_string(i)));
  std::string out = writer.pointer("o0");
  std::string accumulate = tlName(spec.rule.accumulate), size = writer.scalar(inner);
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  writer.line("chunks = tl.cdiv(" + size + ", BLOCK)");
  writer.line("row = pid // chunks");
  writer.line("col = (pid % chunks) * BLOCK + tl.arange(0, BLOCK)");
  writer.line("mask = col < " + size);
  std::vector<std::string> kept =
      delinearize(writer, "row", spec.kept, spec.kept.size() - 1, "idx");
  kept.push_back("col");
  writer.line("acc = tl.full([BLOCK], " + spec.rule.identity + ", " + accumulate + ")");
  writer.lines(spec.rule.start);
  std::vector<std::string> loops = openReducedLoops(writer, spec.reduced, spec.reduced.size());
  std::vector<std::string> indices = kept;
  indices.insert(indices.end(), loops.begin(), loops.end());
  emitLoads(writer, spec.inputs, pointers, indices, kept.size() - 1);
  emitBody(writer, spec.scalars, spec.body);
  writer.line("v = tl.broadcast_to((" + spec.value + ").to(" + accumulate + "), [BLOCK])");
  writer.line("inside = mask");
  writer.line("at = " + positionText(writer, loops, spec.reduced));
  writer.lines(spec.rule.step);
  for (size_t i = 0; i < loops.size(); ++i)
    writer.close();
  writer.lines(spec.rule.finish);
  writer.line("n = " + writer.scalar(product(spec.reduced, 0, spec.reduced.size())));
  writer.line(
      storeText(out, writer.address(spec.output, kept), spec.finalize, spec.output.dtype, "mask"));
  return writer.finish(
      symbolic::ceilDiv(inner, block) * product(spec.kept, 0, spec.kept.size() - 1), block);
}

/// Collapses kept and reduced dimensions apart; the operands' strides run over kept, then reduced.
void collapseReduction(ReductionSpec &spec) {
  std::vector<Expr> shape = spec.kept;
  shape.insert(shape.end(), spec.reduced.begin(), spec.reduced.end());
  for (size_t i = 0; i < spec.reduced.size(); ++i)
    spec.output.strides.push_back(0);
  std::vector<TextOperand *> inputs = pointersTo(spec.inputs);
  // The output takes no part in merging reduced dimensions, and must allow each merge of kept ones.
  size_t keptCount = spec.kept.size();
  std::vector<Expr> outputStrides = spec.output.strides;
  std::vector<TextOperand *> all = inputs;
  all.push_back(&spec.output);
  size_t total = shape.size();
  size_t newTotal = collapse(shape, keptCount, total, all);
  size_t newKept = collapse(shape, 0, keptCount, all);
  (void)newTotal;
  spec.kept.assign(shape.begin(), shape.begin() + static_cast<long>(newKept));
  spec.reduced.assign(shape.begin() + static_cast<long>(newKept), shape.end());
  spec.output.strides.resize(newKept, Expr(0));
}

} // namespace

KernelText writeReduction(ReductionSpec spec, const SymbolTable &symbols) {
  collapseReduction(spec);
  if (spec.reduced.empty()) {
    spec.reduced.push_back(1);
    for (TextOperand &input : spec.inputs)
      input.strides.push_back(0);
  }
  // The tile runs along the dimension in which the first input is contiguous.
  bool innerKept = !spec.kept.empty() &&
                   spec.inputs[0].strides[spec.kept.size() - 1].constant() == 1 &&
                   spec.inputs[0].strides.back().constant() != 1;
  return innerKept ? writeColumnReduction(spec, symbols) : writeRowReduction(spec, symbols);
}

namespace {

/// The parts of a row kernel that differ between its kinds.
class RowKernel {
public:
  RowKernel(const RowSpec &s, const SymbolTable &symbols) : spec(s), writer(s.name) {
    count = s.shape.back();
    auto constantCount = count.constant();
    whole = constantCount && *constantCount <= 4096;
    block = chooseBlock(count, symbols, whole ? 4096 : 1024);
  }

  KernelText write() {
    std::string in = writer.pointer("p0");
    for (size_t i = 0; i < spec.affine.size(); ++i)
      writer.pointer("p" + std::to_string(i + 1));
    std::string out = writer.pointer("o0");
    size = writer.scalar(count);
    writer.line("pid = tl.program_id(0).to(tl.int64)");
    std::vector<std::string> rows =
        delinearize(writer, "pid", spec.shape, spec.shape.size() - 1, "idx");
    rows.push_back("");
    writer.line("src = p0 + (" + writer.address(spec.input, rows) + ")");
    TextOperand outputBase = spec.output;
    writer.line("dst = o0 + (" + writer.address(outputBase, rows) + ")");
    if (whole)
      loadTile();
    switch (spec.kind) {
    case RowKind::Softmax:
    case RowKind::LogSoftmax:
      emitSoftmax();
      break;
    case RowKind::LayerNorm:
      emitMoments(true);
      break;
    case RowKind::RmsNorm:
      emitMoments(false);
      break;
    }
    return writer.finish(product(spec.shape, 0, spec.shape.size() - 1), block);
  }

private:
  std::string column(const TextOperand &operand) {
    Expr stride = operand.strides.back();
    return stride.constant() == 1 ? "col" : "col * " + writer.scalar(stride);
  }
  void loadTile() {
    writer.line(whole ? "col = tl.arange(0, BLOCK).to(tl.int64)"
                      : "col = start + tl.arange(0, BLOCK).to(tl.int64)");
    writer.line("mask = col < " + size);
    writer.line("x = tl.load(src + " + column(spec.input) + ", mask=mask, other=0).to(" +
                tlName(spec.compute) + ")");
  }
  void openPass() {
    if (whole)
      return;
    writer.open("for start in range(0, " + size + ", BLOCK):");
    loadTile();
  }
  void closePass() {
    if (!whole)
      writer.close();
  }
  std::string zeros(const std::string &value) {
    return "tl.full([BLOCK], " + value + ", " + tlName(spec.compute) + ")";
  }
  void store(const std::string &value) {
    writer.line(storeText("dst", column(spec.output), value, spec.output.dtype, "mask"));
  }

  void emitSoftmax() {
    writer.line("top = " + zeros("float('-inf')"));
    openPass();
    writer.line("top = tl.maximum(top, tl.where(mask, x, float('-inf')))");
    closePass();
    writer.line("peak = tl.max(top, axis=0)");
    writer.line("acc = " + zeros("0.0"));
    openPass();
    writer.line("e = tl.where(mask, tl.exp(x - peak), 0.0)");
    writer.line("acc = acc + e");
    closePass();
    writer.line("total = tl.sum(acc, axis=0)");
    if (spec.kind == RowKind::LogSoftmax)
      writer.line("shift = peak + tl.log(total)");
    openPass();
    if (spec.kind == RowKind::LogSoftmax)
      store("x - shift");
    else
      store(whole ? "e / total" : "tl.exp(x - peak) / total");
    closePass();
  }

  void emitMoments(bool centred) {
    std::string n = "(" + size + ")";
    if (centred) {
      writer.line("acc = " + zeros("0.0"));
      openPass();
      writer.line("acc = acc + tl.where(mask, x, 0.0)");
      closePass();
      writer.line("mean = tl.sum(acc, axis=0) / " + n);
    }
    writer.line("squares = " + zeros("0.0"));
    openPass();
    writer.line(centred ? "d = tl.where(mask, x - mean, 0.0)" : "d = tl.where(mask, x, 0.0)");
    writer.line("squares = squares + d * d");
    closePass();
    writer.line("scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / " + n + " + " +
                tlNumber(spec.epsilon) + ")");
    openPass();
    writer.line(centred ? "y = (x - mean) * scale" : "y = x * scale");
    size_t next = 0;
    if (spec.hasWeight)
      applyAffine("y = y * ", next++);
    if (spec.hasBias)
      applyAffine("y = y + ", next++);
    store("y");
    closePass();
  }
  void applyAffine(const std::string &how, size_t index) {
    const TextOperand &operand = spec.affine[index];
    std::string offset =
        operand.offset.constant() == 0 ? "" : writer.scalar(operand.offset) + " + ";
    writer.line(how + "tl.load(p" + std::to_string(index + 1) + " + " + offset + column(operand) +
                ", mask=mask, other=0).to(" + tlName(spec.compute) + ")");
  }

  const RowSpec &spec;
  Writer writer;
  Expr count;
  std::string size;
  bool whole = false;
  int64_t block = 0;
};

} // namespace

KernelText writeRow(const RowSpec &spec, const SymbolTable &symbols) {
  return RowKernel(spec, symbols).write();
}

KernelText writeGather(GatherSpec spec, const SymbolTable &symbols) {
  if (spec.shape.empty()) {
    spec.shape.push_back(1);
    spec.index.strides.push_back(0);
    spec.table.strides.push_back(0);
    spec.output.strides.push_back(1);
  }
  const Expr &inner = spec.shape.back();
  size_t outer = spec.shape.size() - 1;
  int64_t block = chooseBlock(inner, symbols, 1024);
  Writer writer(spec.name);
  writer.pointer("p0");
  writer.pointer("p1");
  writer.pointer("o0");
  std::string size = writer.scalar(inner), last = writer.scalar(spec.size);
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  writer.line("chunks = tl.cdiv(" + size + ", BLOCK)");
  writer.line("row = pid // chunks");
  writer.line("col = (pid % chunks) * BLOCK + tl.arange(0, BLOCK)");
  writer.line("mask = col < " + size);
  std::vector<std::string> indices = delinearize(writer, "row", spec.shape, outer, "idx");
  indices.push_back("col");
  bool tile = anyStrideAlong(spec.index, outer);
  writer.line("index = tl.load(p0 + (" + writer.address(spec.index, indices) + ")" +
              (tile ? ", mask=mask, other=0" : "") + ").to(tl.int64)");
  std::string inRange = "(index >= 0) & (index < " + last + ")";
  writer.line("tl.device_assert(" + (tile ? "(" + inRange + ") | (col >= " + size + ")" : inRange) +
              ", \"index out of range of the table's rows\")");
  std::string table =
      writer.address(spec.table, indices) + " + index * " + writer.scalar(spec.along);
  writer.line("v = tl.load(p1 + tl.broadcast_to(" + table + ", [BLOCK]), mask=mask)");
  writer.line(
      storeText("o0", writer.address(spec.output, indices), "v", spec.output.dtype, "mask"));
  return writer.finish(symbolic::ceilDiv(inner, block) * product(spec.shape, 0, outer), block);
}

KernelText writeGemm(const GemmSpec &spec, const SymbolTable &symbols) {
  auto tile = [&](const Expr &extent, int64_t most) {
    return std::max<int64_t>(16, chooseBlock(extent, symbols, most));
  };
  int64_t blockM = tile(spec.m, 32), blockN = tile(spec.n, 64), blockK = tile(spec.k, 64);
  bool pair = spec.accumulate == DataType::Float64;
  if (pair)
    blockK = std::min<int64_t>(blockK, 32);
  Writer writer(spec.name);
  writer.pointer("p0");
  writer.pointer("p1");
  if (!spec.bias.empty())
    writer.pointer("p2");
  writer.pointer("o0");
  std::string m = writer.scalar(spec.m), n = writer.scalar(spec.n), k = writer.scalar(spec.k);
  std::string bm = std::to_string(blockM), bn = std::to_string(blockN), bk = std::to_string(blockK);
  writer.line("pid = tl.program_id(0).to(tl.int64)");
  writer.line("down = tl.cdiv(" + m + ", " + bm + ")");
  writer.line("across = tl.cdiv(" + n + ", " + bn + ")");
  writer.line("row = (pid % down) * " + bm + " + tl.arange(0, " + bm + ")");
  writer.line("rest = pid // down");
  writer.line("col = (rest % across) * " + bn + " + tl.arange(0, " + bn + ")");
  std::vector<std::string> batch;
  if (!spec.batch.empty()) {
    writer.line("batch = rest // across");
    batch = delinearize(writer, "batch", spec.batch, spec.batch.size(), "idx");
  }
  auto address = [&](const TextOperand &operand, const std::string &first,
                     const std::string &second) {
    std::vector<std::string> indices = batch;
    indices.push_back(first);
    indices.push_back(second);
    return writer.address(operand, indices);
  };
  writer.line("inner = tl.arange(0, " + bk + ").to(tl.int64)");
  writer.line("acc = tl.zeros([" + bm + ", " + bn + "], " + tlName(spec.accumulate) + ")");
  if (isFloat(spec.accumulate)) {
    writer.open("for start in range(0, " + k + ", " + bk + "):");
    writer.line("at = start + inner");
    writer.line("a = tl.load(p0 + (" + address(spec.a, "row[:, None]", "at[None, :]") +
                "), mask=(row[:, None] < " + m + ") & (at[None, :] < " + k + "), other=0)");
    writer.line("b = tl.load(p1 + (" + address(spec.b, "at[:, None]", "col[None, :]") +
                "), mask=(at[:, None] < " + k + ") & (col[None, :] < " + n + "), other=0)");
    writer.line("acc = tl.dot(a, b, acc, input_precision=\"ieee\", out_dtype=" +
                tlName(spec.accumulate) + ")");
  } else {
    // tl.dot takes no integers wider than a byte.
    writer.open("for at in range(0, " + k + "):");
    writer.line("a = tl.load(p0 + (" + address(spec.a, "row[:, None]", "at") +
                "), mask=row[:, None] < " + m + ", other=0).to(" + tlName(spec.accumulate) + ")");
    writer.line("b = tl.load(p1 + (" + address(spec.b, "at", "col[None, :]") +
                "), mask=col[None, :] < " + n + ", other=0).to(" + tlName(spec.accumulate) + ")");
    writer.line("acc = acc + a * b");
  }
  writer.close();
  if (spec.alpha != 1)
    writer.line("acc = acc * " + tlNumber(spec.alpha));
  writer.line("inside = (row[:, None] < " + m + ") & (col[None, :] < " + n + ")");
  if (!spec.bias.empty()) {
    std::string load = "tl.load(p2 + (" + address(spec.bias[0], "row[:, None]", "col[None, :]") +
                       ") + tl.zeros([" + bm + ", " + bn +
                       "], tl.int64), mask=inside, other=0).to(" + tlName(spec.accumulate) + ")";
    writer.line("acc = acc + " + load + (spec.beta != 1 ? " * " + tlNumber(spec.beta) : ""));
  }
  writer.line(storeText("o0", address(spec.output, "row[:, None]", "col[None, :]"), "acc",
                        spec.output.dtype, "inside"));
  Expr tiles = symbolic::ceilDiv(spec.m, blockM) * symbolic::ceilDiv(spec.n, blockN);
  return writer.finish(tiles * product(spec.batch, 0, spec.batch.size()), blockN);
}

} // namespace pellucid::passes
