#!/bin/python
# vim: set fileencoding=Latin_1 :
é = 'ü', x; y