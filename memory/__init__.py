"""How the past is recalled: banks, retrievers, forms of memory, recall queries."""

from memory.bank import MemoryBank, lookup_words
from memory.query import Query, make_queries, make_query, query_kind
from memory.recall import RULES, Recall, Rule, withhold, without_fact
from memory.representations import (
    ActionRenderer,
    ContentPart,
    MemoryOptions,
    Representation,
    get_representation,
)
from memory.retrievers import Match, Retriever, get_retriever

__all__ = [
    "RULES",
    "ActionRenderer",
    "ContentPart",
    "Match",
    "MemoryBank",
    "MemoryOptions",
    "Query",
    "Recall",
    "Representation",
    "Retriever",
    "Rule",
    "get_representation",
    "get_retriever",
    "lookup_words",
    "make_queries",
    "make_query",
    "query_kind",
    "withhold",
    "without_fact",
]
