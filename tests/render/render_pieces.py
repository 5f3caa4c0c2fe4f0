"""Cut a document into head, root children and tail, by the parser's own byte offsets."""

import importlib.util
import itertools
from xml.parsers import expat


def folder_of(package):
    """Return where an installed package's files lie."""
    return importlib.util.find_spec(package).submodule_search_locations[0]


def pieces_of(document):
    parser = expat.ParserCreate()
    starts, state = [], {"depth": 0, "tail": None}

    def start(name, attributes):
        if state["depth"] == 1:
            starts.append(parser.CurrentByteIndex)
        state["depth"] += 1

    def end(name):
        state["depth"] -= 1
        if state["depth"] == 0:
            state["tail"] = parser.CurrentByteIndex

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(document, True)
    edges = [*starts, state["tail"]]
    pieces = tuple(document[a:b] for a, b in itertools.pairwise(edges))
    return document[: edges[0]], pieces, document[state["tail"] :]
