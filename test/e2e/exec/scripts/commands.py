# SPDX-License-Identifier: Apache-2.0
import argparse
import sys

common = argparse.ArgumentParser(add_help=False)
common.add_argument("--level", type=int, default=1)
parser = argparse.ArgumentParser(prog="commands", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("--device", default="cpu", help="where it runs")
commands = parser.add_subparsers(dest="command", help="what to do", required=True)
train = commands.add_parser("train", parents=[common], help="fit the model", aliases=["fit"])
train.add_argument("steps", type=int)
train.set_defaults(function=lambda args: args.steps * args.level)
show = commands.add_parser("show", help="print it")
show.add_argument("--all", action="store_true")
show.set_defaults(function=lambda args: "all" if args.all else "some")
args, unknown = parser.parse_known_args()
print(args.command, args.device, args.function(args), unknown)
sys.exit(len(unknown))
