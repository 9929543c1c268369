# SPDX-License-Identifier: Apache-2.0
import math as _math


class StatisticsError(ValueError):
    pass


def _numbers(data, least, what):
    data = list(data)
    if len(data) < least:
        raise StatisticsError(f"{what} requires at least {'one data point' if least == 1 else 'two data points'}")
    return data


def _whole(value):
    return int(value) if isinstance(value, float) and value.is_integer() else value


def mean(data):
    data = _numbers(data, 1, "mean")
    total = _math.fsum(data) / len(data)
    return _whole(total) if all(isinstance(x, int) for x in data) else total


def fmean(data, weights=None):
    data = _numbers(data, 1, "fmean")
    if weights is None:
        return _math.fsum(data) / len(data)
    weights = list(weights)
    return _math.fsum(x * w for x, w in zip(data, weights)) / _math.fsum(weights)


def geometric_mean(data):
    data = _numbers(data, 1, "geometric mean")
    return _math.exp(_math.fsum(_math.log(x) for x in data) / len(data))


def harmonic_mean(data):
    data = _numbers(data, 1, "harmonic_mean")
    return len(data) / _math.fsum(1 / x for x in data)


def median(data):
    data = sorted(data)
    if not data:
        raise StatisticsError("no median for empty data")
    middle = len(data) // 2
    return data[middle] if len(data) % 2 else (data[middle - 1] + data[middle]) / 2


def median_low(data):
    data = sorted(data)
    return data[(len(data) - 1) // 2]


def median_high(data):
    data = sorted(data)
    return data[len(data) // 2]


def mode(data):
    data = _numbers(data, 1, "mode")
    return max(dict.fromkeys(data), key=data.count)


def multimode(data):
    data = list(data)
    most = max([data.count(x) for x in data], default=0)
    return [x for x in dict.fromkeys(data) if data.count(x) == most]


def _squares(data, center):
    center = _math.fsum(data) / len(data) if center is None else center
    return _math.fsum((x - center) ** 2 for x in data)


def variance(data, xbar=None):
    data = _numbers(data, 2, "variance")
    total = _squares(data, xbar) / (len(data) - 1)
    return _whole(total) if all(isinstance(x, int) for x in data) else total


def pvariance(data, mu=None):
    data = _numbers(data, 1, "pvariance")
    total = _squares(data, mu) / len(data)
    return _whole(total) if all(isinstance(x, int) for x in data) else total


def stdev(data, xbar=None):
    data = _numbers(data, 2, "stdev")
    return _math.sqrt(_squares(data, xbar) / (len(data) - 1))


def pstdev(data, mu=None):
    data = _numbers(data, 1, "pstdev")
    return _math.sqrt(_squares(data, mu) / len(data))


def quantiles(data, *, n=4, method="exclusive"):
    data = sorted(data)
    if len(data) < 2:
        raise StatisticsError("must have at least two data points")
    out = []
    for i in range(1, n):
        if method == "inclusive":
            j, delta = divmod(i * (len(data) - 1), n)
            out.append((data[j] * (n - delta) + data[j + 1] * delta) / n)
        else:
            j = min(max(i * (len(data) + 1) // n, 1), len(data) - 1)
            delta = i * (len(data) + 1) - j * n
            out.append((data[j - 1] * (n - delta) + data[j] * delta) / n)
    return out
