# SPDX-License-Identifier: Apache-2.0
"""Reads its arguments in every way that argparse has, and says what it read."""
import argparse


def positive(text):
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


parser = argparse.ArgumentParser(
    prog="arguments",
    description="Trains a small model on the numbers that it is given, for as long as it is told, and says what came out of that at the end.",
    epilog="See the documentation for more.",
)
parser.add_argument("data", help="where the data are")
parser.add_argument("extra", nargs="*", type=int, default=[7], help="further numbers (default: %(default)s)")
parser.add_argument("-e", "--epochs", type=positive, default=3, metavar="N", help="how often all of the data are seen; the more the better, up to a point where nothing is learned any more")
parser.add_argument("--lr", "--learning-rate", type=float, default="1e-3", dest="rate")
parser.add_argument("--mode", choices=["fast", "exact", "both"], default="fast")
parser.add_argument("--verbose", "-v", action="count", default=0)
parser.add_argument("--no-save", dest="save", action="store_false")
parser.add_argument("--tag", action="append", help=argparse.SUPPRESS)
parser.add_argument("--size", nargs=2, type=int, metavar=("ROWS", "COLUMNS"))
parser.add_argument("--seed", nargs="?", const=1, type=int)
parser.add_argument("--fuse", action=argparse.BooleanOptionalAction, default=True)
parser.add_argument("--version", action="version", version="%(prog)s 2.0")
either = parser.add_mutually_exclusive_group()
either.add_argument("--cpu", action="store_true")
either.add_argument("--cuda", action="store_const", const="cuda:0")
group = parser.add_argument_group("output", "what is written")
group.add_argument("-o", "--output", default="out.txt", help="the file, %(default)s unless %(prog)s is told")

if __name__ == "__main__":
    args = parser.parse_args()
    print(args)
    print(sorted(vars(args)))
