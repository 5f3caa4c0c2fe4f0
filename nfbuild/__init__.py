"""nfbuild: a content-addressed build system for animated compositions.

A frame is a pure function of its declared inputs; this package names the inputs, draws what is
new, and writes down what anybody can falsify.
"""

__version__ = "0.1.0"
