// SPDX-License-Identifier: Apache-2.0
// The factors that torch.linalg's functions are written with (torch/linalg.py).
#include "trace/TorchLinalg.h"

#include "trace/EagerRecorder.h"
#include "trace/HostMatrices.h"
#include "trace/TensorCalls.h"
#include "trace/TorchSources.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

/// A batch of matrices on the host.
struct Batch {
  std::vector<int64_t> lead; ///< the dims before the last two
  DataType dtype;
  std::vector<HostMatrix> matrices;
};

Batch batchOf(Tracer &tracer, h::Interpreter &interpreter, const h::Value &value) {
  auto *object = value.as<TensorObject>();
  if (!object)
    interpreter.raise("TypeError", "torch.linalg takes tensors, got " + h::typeName(value));
  if (!isEager(tracer))
    interpreter.refuse("the factors of a matrix are computed from its values, in scripts alone");
  ConcreteTensor values = tracer.recorder->valuesOf(object->tensor, interpreter.location());
  size_t rank = values.shape.size();
  if (rank < 2 || (values.dtype != DataType::Float32 && values.dtype != DataType::Float64))
    interpreter.refuse("torch.linalg of a tensor of " + std::to_string(rank) + " dims of torch." +
                       std::string(info(values.dtype).torch) +
                       "; matrices of float32 and float64 are supported");
  Batch batch{{values.shape.begin(), values.shape.end() - 2}, values.dtype, {}};
  int64_t m = values.shape[rank - 2], n = values.shape[rank - 1], count = 1;
  for (int64_t size : batch.lead)
    count *= size;
  std::shared_ptr<const std::byte> dense = values.dense();
  const std::byte *at = dense.get();
  for (int64_t i = 0; i < count; ++i) {
    HostMatrix matrix(m, n);
    for (double &element : matrix.at) {
      element = realAt(values.dtype, at);
      at += byteSize(values.dtype);
    }
    batch.matrices.push_back(std::move(matrix));
  }
  return batch;
}

/// One result of every matrix: its elements, of this shape.
class Results {
public:
  Results(const Batch &batch, DataType dtype, std::vector<int64_t> shape)
      : type(dtype), sizes(batch.lead) {
    sizes.insert(sizes.end(), shape.begin(), shape.end());
  }
  void add(const std::vector<double> &elements) {
    numbers.insert(numbers.end(), elements.begin(), elements.end());
  }
  void add(const std::vector<int64_t> &elements) {
    for (int64_t element : elements)
      numbers.push_back(static_cast<double>(element));
  }
  h::Value tensor(Tracer &tracer, graph::Device device) const {
    size_t element = byteSize(type);
    std::shared_ptr<std::byte[]> bytes(
        new std::byte[std::max<size_t>(1, numbers.size() * element)]);
    for (size_t i = 0; i < numbers.size(); ++i) {
      auto put = [&](auto value) { std::memcpy(bytes.get() + i * element, &value, element); };
      if (type == DataType::Float64)
        put(numbers[i]);
      else if (type == DataType::Float32)
        put(static_cast<float>(numbers[i]));
      else
        put(static_cast<int32_t>(numbers[i]));
    }
    ConcreteTensor values{type, sizes, std::vector<int64_t>(sizes.size()), {bytes, bytes.get()}};
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d])
      values.strides[d] = stride;
    return tensorValue(tracer, tracer.recorder->tensorOf(values, device));
  }

private:
  DataType type;
  std::vector<int64_t> sizes;
  std::vector<double> numbers;
};

/// x of a x = b, a triangle of `a` alone.
void solveTriangle(const HostMatrix &a, HostMatrix &b, bool upper, bool unit) {
  for (int64_t step = 0; step < a.rows; ++step) {
    int64_t i = upper ? a.rows - 1 - step : step;
    for (int64_t c = 0; c < b.columns; ++c) {
      double sum = b(i, c);
      for (int64_t k = upper ? i + 1 : 0; k < (upper ? a.rows : i); ++k)
        sum -= a(i, k) * b(k, c);
      b(i, c) = unit ? sum : sum / a(i, i);
    }
  }
}

class Factors {
public:
  Factors(Tracer &t, h::Interpreter &i, const std::vector<h::Value> &a)
      : tracer(t), interpreter(i), args(a), batch(batchOf(t, i, a[1])),
        device(a[1].as<TensorObject>()->tensor.storage->device) {
    auto *object = a[1].as<TensorObject>();
    size_t rank = object->tensor.type.rank();
    m = object->tensor.type.shape[rank - 2].constant().value();
    n = object->tensor.type.shape[rank - 1].constant().value();
  }

  h::Value of(const std::string &kind) {
    if (kind == "cholesky")
      return cholesky();
    if (kind == "lu")
      return lu();
    if (kind == "solve")
      return solve();
    if (kind.starts_with("triangular"))
      return triangular(kind == "triangular_upper");
    if (kind.starts_with("qr"))
      return qr(kind == "qr_complete");
    return kind == "eigh" ? eigh() : svd();
  }

private:
  h::Value gather(const std::vector<const Results *> &results) const {
    h::Tuple out;
    for (const Results *one : results)
      out.push_back(one->tensor(tracer, device));
    return h::Value::tuple(std::move(out));
  }
  h::Value cholesky() {
    Results factors(batch, batch.dtype, {n, n}), infos(batch, DataType::Int32, {});
    for (HostMatrix &matrix : batch.matrices) {
      infos.add(std::vector<int64_t>{factorCholesky(matrix)});
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j)
          matrix(i, j) = 0;
      factors.add(matrix.at);
    }
    return gather({&factors, &infos});
  }
  h::Value lu() {
    Results factors(batch, batch.dtype, {m, n}), infos(batch, DataType::Int32, {}),
        swaps(batch, DataType::Int32, {std::min(m, n)});
    for (HostMatrix &matrix : batch.matrices) {
      std::vector<int64_t> pivots;
      infos.add(std::vector<int64_t>{factorLu(matrix, pivots)});
      factors.add(matrix.at);
      swaps.add(pivots);
    }
    return gather({&factors, &swaps, &infos});
  }
  h::Value solve() {
    Batch right = batchOf(tracer, interpreter, args.at(2));
    const std::vector<graph::Expr> &sizes = args.at(2).as<TensorObject>()->tensor.type.shape;
    int64_t columns = sizes.back().constant().value();
    Results found(batch, batch.dtype, {n, columns}), infos(batch, DataType::Int32, {});
    for (size_t b = 0; b < batch.matrices.size(); ++b) {
      HostMatrix &a = batch.matrices[b], &x = right.matrices[b];
      std::vector<int64_t> pivots;
      infos.add(std::vector<int64_t>{factorLu(a, pivots)});
      for (int64_t i = 0; i < n; ++i)
        if (int64_t other = pivots[static_cast<size_t>(i)] - 1; other != i)
          for (int64_t c = 0; c < columns; ++c)
            std::swap(x(i, c), x(other, c));
      solveTriangle(a, x, false, true);
      solveTriangle(a, x, true, false);
      found.add(x.at);
    }
    return gather({&found, &infos});
  }
  h::Value triangular(bool upper) {
    Batch right = batchOf(tracer, interpreter, args.at(2));
    bool unit = interpreter.truth(args.at(3));
    Batch shape = batch;
    auto *b = args[2].as<TensorObject>();
    int64_t columns = b->tensor.type.shape.back().constant().value();
    Results found(shape, batch.dtype, {n, columns});
    for (size_t i = 0; i < batch.matrices.size(); ++i) {
      solveTriangle(batch.matrices[i], right.matrices[i], upper, unit);
      found.add(right.matrices[i].at);
    }
    return gather({&found});
  }
  h::Value qr(bool complete) {
    int64_t wide = complete ? m : std::min(m, n);
    Results qs(batch, batch.dtype, {m, wide}), rs(batch, batch.dtype, {wide, n});
    for (const HostMatrix &matrix : batch.matrices) {
      HostMatrix q(0, 0), r(0, 0);
      factorQr(matrix, wide, q, r);
      qs.add(q.at);
      rs.add(r.at);
    }
    return gather({&qs, &rs});
  }
  h::Value eigh() {
    Results values(batch, batch.dtype, {n}), vectors(batch, batch.dtype, {n, n});
    for (const HostMatrix &matrix : batch.matrices) {
      std::vector<double> found;
      HostMatrix v(0, 0);
      eigenSymmetric(matrix, found, v);
      values.add(found);
      vectors.add(v.at);
    }
    return gather({&values, &vectors});
  }
  h::Value svd() {
    int64_t k = std::min(m, n);
    Results us(batch, batch.dtype, {m, k}), values(batch, batch.dtype, {k}),
        vs(batch, batch.dtype, {k, n});
    for (const HostMatrix &matrix : batch.matrices) {
      HostMatrix u(0, 0), vt(0, 0);
      std::vector<double> s;
      singularValues(matrix, u, s, vt);
      us.add(u.at);
      values.add(s);
      vs.add(vt.at);
    }
    return gather({&us, &values, &vs});
  }

  Tracer &tracer;
  h::Interpreter &interpreter;
  const std::vector<h::Value> &args;
  Batch batch;
  graph::Device device;
  int64_t m = 0, n = 0;
};

} // namespace

void addTorchLinalg(h::NativeModules &modules, Tracer &tracer) {
  modules.add("torch._pellucid_linalg", [&tracer](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_linalg_source",
        std::make_shared<SourceFile>("<torch.linalg>",
                                     std::string(linalgSource) + linalgProductSource));
    source->globals->set("_factors",
                         h::native("_factors", "kind, a, b=None, unit=False",
                                   [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
                                     return Factors(tracer, i, a).of(a[0].str());
                                   }));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  modules.add("torch.linalg", [](h::Interpreter &, h::Module &module) {
    auto next = module.fallback;
    module.fallback = [next](h::Interpreter &i, std::string_view name) -> std::optional<h::Value> {
      auto linalg = i.nativeModule("torch._pellucid_linalg");
      const h::Value *found = name.starts_with("_") ? nullptr : linalg->globals->find(name);
      if (found && !found->as<h::Module>())
        return *found;
      return next ? next(i, name) : std::nullopt;
    };
  });
}

} // namespace pellucid::trace
