"""Retrieval by TF-IDF over instruction, previous actions, app and fact (scikit-learn)."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.feature_extraction.text import TfidfVectorizer

from episodes import Step
from memory.bank import MemoryBank, lookup_words
from memory.retrievers import Match, best_match

_CHUNK = 256


class TfidfRetriever:
    """Cosine of TF-IDF vectors; needs no model and no network."""

    def fit(self, bank: MemoryBank) -> TfidfRetriever:
        """Weighs the bank's words; returns itself."""
        self.bank = bank
        self._vectorizer = TfidfVectorizer(analyzer=list)  # pyright: ignore[reportArgumentType]
        self._vectors = self._vectorizer.fit_transform(bank.words)
        return self

    def retrieve(self, step: Step) -> Match:
        """The bank's most similar step of another episode."""
        return self.retrieve_many([step])[0]

    def retrieve_many(self, steps: Sequence[Step]) -> list[Match]:
        """`retrieve` for each step, in one pass over the bank for every few hundred."""
        matches: list[Match] = []
        for start in range(0, len(steps), _CHUNK):
            chunk = [steps[i] for i in range(start, min(start + _CHUNK, len(steps)))]
            queries = self._vectorizer.transform([lookup_words(step) for step in chunk])
            scores = (queries @ self._vectors.T).toarray()
            matches += [best_match(self.bank, step, row) for step, row in zip(chunk, scores)]
        return matches
