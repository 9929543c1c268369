// SPDX-License-Identifier: Apache-2.0
#include "trace/HostMatrices.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pellucid::trace {

HostMatrix HostMatrix::identity(int64_t n) {
  HostMatrix out(n, n);
  for (int64_t i = 0; i < n; ++i)
    out(i, i) = 1;
  return out;
}

int64_t factorCholesky(HostMatrix &a) {
  for (int64_t j = 0; j < a.columns; ++j) {
    double pivot = a(j, j);
    for (int64_t k = 0; k < j; ++k)
      pivot -= a(j, k) * a(j, k);
    if (!(pivot > 0))
      return j + 1;
    a(j, j) = std::sqrt(pivot);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      double sum = a(i, j);
      for (int64_t k = 0; k < j; ++k)
        sum -= a(i, k) * a(j, k);
      a(i, j) = sum / a(j, j);
    }
    for (int64_t i = 0; i < j; ++i)
      a(i, j) = 0;
  }
  return 0;
}

int64_t factorLu(HostMatrix &a, std::vector<int64_t> &pivots) {
  int64_t count = std::min(a.rows, a.columns), singular = 0;
  pivots.assign(static_cast<size_t>(count), 0);
  for (int64_t j = 0; j < count; ++j) {
    int64_t best = j;
    for (int64_t i = j + 1; i < a.rows; ++i)
      if (std::abs(a(i, j)) > std::abs(a(best, j)))
        best = i;
    pivots[static_cast<size_t>(j)] = best + 1;
    for (int64_t k = 0; best != j && k < a.columns; ++k)
      std::swap(a(j, k), a(best, k));
    if (a(j, j) == 0) {
      singular = singular ? singular : j + 1;
      continue;
    }
    for (int64_t i = j + 1; i < a.rows; ++i) {
      a(i, j) /= a(j, j);
      for (int64_t k = j + 1; k < a.columns; ++k)
        a(i, k) -= a(i, j) * a(j, k);
    }
  }
  return singular;
}

void factorQr(const HostMatrix &given, int64_t wide, HostMatrix &q, HostMatrix &r) {
  HostMatrix a = given;
  int64_t m = a.rows, n = a.columns, steps = std::min(m, n);
  // Reflections I - tau v v', v(j) = 1, as LAPACK chooses their signs.
  std::vector<std::vector<double>> reflections;
  std::vector<double> taus;
  for (int64_t j = 0; j < steps; ++j) {
    double below = 0;
    for (int64_t i = j + 1; i < m; ++i)
      below = std::hypot(below, a(i, j));
    std::vector<double> v(static_cast<size_t>(m), 0.0);
    v[static_cast<size_t>(j)] = 1;
    double tau = 0, alpha = a(j, j);
    if (below != 0) {
      double beta = -std::copysign(std::hypot(alpha, below), alpha);
      tau = (beta - alpha) / beta;
      for (int64_t i = j + 1; i < m; ++i)
        v[static_cast<size_t>(i)] = a(i, j) / (alpha - beta);
      a(j, j) = beta;
      for (int64_t i = j + 1; i < m; ++i)
        a(i, j) = 0;
      for (int64_t k = j + 1; k < n; ++k) {
        double sum = 0;
        for (int64_t i = j; i < m; ++i)
          sum += v[static_cast<size_t>(i)] * a(i, k);
        for (int64_t i = j; i < m; ++i)
          a(i, k) -= tau * sum * v[static_cast<size_t>(i)];
      }
    }
    reflections.push_back(std::move(v));
    taus.push_back(tau);
  }
  q = HostMatrix(m, wide);
  for (int64_t i = 0; i < std::min(m, wide); ++i)
    q(i, i) = 1;
  for (int64_t j = steps; j-- > 0;) {
    const std::vector<double> &v = reflections[static_cast<size_t>(j)];
    for (int64_t k = 0; k < wide; ++k) {
      double sum = 0;
      for (int64_t i = j; i < m; ++i)
        sum += v[static_cast<size_t>(i)] * q(i, k);
      for (int64_t i = j; i < m; ++i)
        q(i, k) -= taus[static_cast<size_t>(j)] * sum * v[static_cast<size_t>(i)];
    }
  }
  r = HostMatrix(wide, n);
  for (int64_t i = 0; i < std::min(wide, m); ++i)
    for (int64_t j = i; j < n; ++j)
      r(i, j) = a(i, j);
}

namespace {
constexpr int mostSweeps = 60;

/// The rotation that makes the off-diagonal element `between` zero.
void rotationFor(double first, double second, double between, double &c, double &s) {
  double theta = (second - first) / (2 * between);
  double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
  c = 1 / std::hypot(t, 1.0);
  s = t * c;
}

/// Columns in the order of `values`, whose largest element is positive for eigenvectors.
std::vector<size_t> orderOf(const std::vector<double> &values, bool ascends) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return ascends ? values[a] < values[b] : values[a] > values[b];
  });
  return order;
}
} // namespace

/// Jacobi's rotations until nothing is left beside the diagonal.
void eigenSymmetric(const HostMatrix &given, std::vector<double> &values, HostMatrix &vectors) {
  int64_t n = given.rows;
  HostMatrix a = given, v = HostMatrix::identity(n);
  // The lower half counts.
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j)
      a(i, j) = a(j, i);
  double size = 0;
  for (double element : a.at)
    size = std::max(size, std::abs(element));
  for (int sweep = 0; sweep < mostSweeps; ++sweep) {
    double off = 0;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q)
        off = std::max(off, std::abs(a(p, q)));
    if (!(off > 1e-17 * size))
      break;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        if (a(p, q) == 0)
          continue;
        double c, s;
        rotationFor(a(p, p), a(q, q), a(p, q), c, s);
        for (int64_t k = 0; k < n; ++k) {
          double x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * y;
          a(k, q) = s * x + c * y;
        }
        for (int64_t k = 0; k < n; ++k) {
          double x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y;
          a(q, k) = s * x + c * y;
        }
        for (int64_t k = 0; k < n; ++k) {
          double x = v(k, p), y = v(k, q);
          v(k, p) = c * x - s * y;
          v(k, q) = s * x + c * y;
        }
      }
  }
  std::vector<double> diagonal;
  for (int64_t i = 0; i < n; ++i)
    diagonal.push_back(a(i, i));
  values.clear();
  vectors = HostMatrix(n, n);
  int64_t column = 0;
  for (size_t from : orderOf(diagonal, true)) {
    values.push_back(diagonal[from]);
    for (int64_t k = 0; k < n; ++k)
      vectors(k, column) = v(k, static_cast<int64_t>(from));
    ++column;
  }
}

/// Rotations of columns until they are orthogonal: their lengths are the singular values.
void singularValues(const HostMatrix &given, HostMatrix &u, std::vector<double> &s,
                    HostMatrix &vt) {
  bool isWide = given.columns > given.rows;
  HostMatrix a(std::max(given.rows, given.columns), std::min(given.rows, given.columns));
  for (int64_t i = 0; i < given.rows; ++i)
    for (int64_t j = 0; j < given.columns; ++j)
      (isWide ? a(j, i) : a(i, j)) = given(i, j);
  int64_t m = a.rows, n = a.columns;
  HostMatrix v = HostMatrix::identity(n);
  for (int sweep = 0; sweep < mostSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        double first = 0, second = 0, between = 0;
        for (int64_t k = 0; k < m; ++k) {
          first += a(k, p) * a(k, p);
          second += a(k, q) * a(k, q);
          between += a(k, p) * a(k, q);
        }
        if (!(std::abs(between) > 1e-16 * std::sqrt(first * second)))
          continue;
        rotated = true;
        double c, sine;
        rotationFor(first, second, between, c, sine);
        for (HostMatrix *one : {&a, &v})
          for (int64_t k = 0; k < one->rows; ++k) {
            double x = (*one)(k, p), y = (*one)(k, q);
            (*one)(k, p) = c * x - sine * y;
            (*one)(k, q) = sine * x + c * y;
          }
      }
    if (!rotated)
      break;
  }
  std::vector<double> lengths;
  for (int64_t j = 0; j < n; ++j) {
    double length = 0;
    for (int64_t k = 0; k < m; ++k)
      length = std::hypot(length, a(k, j));
    lengths.push_back(length);
  }
  HostMatrix left(m, n), right(n, n);
  s.clear();
  int64_t column = 0;
  for (size_t from : orderOf(lengths, false)) {
    auto j = static_cast<int64_t>(from);
    s.push_back(lengths[from]);
    for (int64_t k = 0; k < m; ++k)
      left(k, column) = lengths[from] > 0 ? a(k, j) / lengths[from] : 0;
    for (int64_t k = 0; k < n; ++k)
      right(k, column) = v(k, j);
    ++column;
  }
  // Columns of no length are completed to an orthonormal basis.
  for (int64_t j = 0; j < n; ++j)
    for (int64_t axis = 0; s[static_cast<size_t>(j)] == 0 && axis < m; ++axis) {
      std::vector<double> w(static_cast<size_t>(m), 0.0);
      w[static_cast<size_t>(axis)] = 1;
      for (int64_t other = 0; other < n; ++other) {
        if (other >= j && s[static_cast<size_t>(other)] == 0)
          continue;
        double along = left(axis, other);
        for (int64_t k = 0; k < m; ++k)
          w[static_cast<size_t>(k)] -= along * left(k, other);
      }
      double length = 0;
      for (double element : w)
        length = std::hypot(length, element);
      if (length < 0.5 / std::sqrt(static_cast<double>(m)))
        continue;
      for (int64_t k = 0; k < m; ++k)
        left(k, j) = w[static_cast<size_t>(k)] / length;
      break;
    }
  u = isWide ? right : left;
  const HostMatrix &rows = isWide ? left : right;
  vt = HostMatrix(n, rows.rows);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t k = 0; k < rows.rows; ++k)
      vt(j, k) = rows(k, j);
}

} // namespace pellucid::trace
