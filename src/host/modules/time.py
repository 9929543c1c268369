# SPDX-License-Identifier: Apache-2.0
import _fibers
import _script
from _script import monotonic, monotonic_ns, perf_counter, perf_counter_ns, process_time, process_time_ns, strftime, thread_time, thread_time_ns, time, time_ns



def sleep(seconds):
    if _fibers.others and seconds > 0:
        _fibers.others[0](seconds)
    else:
        _script.sleep(seconds)


class struct_time(tuple):
    @property
    def tm_year(self):
        return self[0]

    @property
    def tm_mon(self):
        return self[1]

    @property
    def tm_mday(self):
        return self[2]

    @property
    def tm_hour(self):
        return self[3]

    @property
    def tm_min(self):
        return self[4]

    @property
    def tm_sec(self):
        return self[5]

    @property
    def tm_wday(self):
        return self[6]

    @property
    def tm_yday(self):
        return self[7]

    @property
    def tm_isdst(self):
        return self[8]


def localtime(seconds=None):
    return struct_time(_script.localtime_fields(seconds))


def gmtime(seconds=None):
    return struct_time(_script.gmtime_fields(seconds))


def asctime(t=None):
    return strftime("%a %b %e %H:%M:%S %Y", t)


def ctime(seconds=None):
    return asctime(localtime(seconds))
