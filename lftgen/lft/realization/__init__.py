"""Realisations of polynomial matrices with few repeated letters: word search and Ho-Kalman, in numpy."""

from lftgen.lft.realization.bounds import OrderBounds, order_bounds
from lftgen.lft.realization.expand import words_of
from lftgen.lft.realization.ho_kalman import hankel_orders, ho_kalman
from lftgen.lft.realization.horner import best_order, layered, ordered_words
from lftgen.lft.realization.result import Realization
from lftgen.lft.realization.words import WordSearch, realize_words, search_words

__all__ = [
    "OrderBounds",
    "Realization",
    "WordSearch",
    "best_order",
    "hankel_orders",
    "ho_kalman",
    "layered",
    "order_bounds",
    "ordered_words",
    "realize_words",
    "search_words",
    "words_of",
]
