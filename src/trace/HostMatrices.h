// SPDX-License-Identifier: Apache-2.0
/// Factors of small matrices, computed on the host in double precision: what torch.linalg gives a
/// script. Row-major.
#pragma once

#include <cstdint>
#include <vector>

namespace pellucid::trace {

struct HostMatrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> at;

  HostMatrix(int64_t m, int64_t n)
      : rows(m), columns(n), at(static_cast<size_t>(m) * static_cast<size_t>(n), 0.0) {}
  static HostMatrix identity(int64_t n);
  double &operator()(int64_t i, int64_t j) { return at[static_cast<size_t>(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const { return at[static_cast<size_t>(i * columns + j)]; }
};

/// The lower factor in place of a symmetric matrix, of which the lower half is read. Gives 0, or
/// the order of the first leading minor that is not positive.
int64_t factorCholesky(HostMatrix &a);
/// L below the diagonal, whose own is ones, and U; `pivots` are the rows that were swapped with
/// each row, from 1. Gives 0, or the place of the first diagonal element that is zero, from 1.
int64_t factorLu(HostMatrix &a, std::vector<int64_t> &pivots);
/// A = Q R by reflections: Q of `wide` columns, R of as many rows.
void factorQr(const HostMatrix &a, int64_t wide, HostMatrix &q, HostMatrix &r);
/// A symmetric matrix' eigenvalues, ascending, and its vectors as columns.
void eigenSymmetric(const HostMatrix &a, std::vector<double> &values, HostMatrix &vectors);
/// A = U diag(s) Vt with the smaller side's number of singular values, descending.
void singularValues(const HostMatrix &a, HostMatrix &u, std::vector<double> &s, HostMatrix &vt);

} // namespace pellucid::trace
