"""The result of a realisation: constant matrices around a diagonal of repeated letters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftgen.errors import IllPosedError, ModelError


@dataclass(frozen=True, eq=False)
class Realization:
    """Upper LFT realisation ``P(x) = M22 + M21 D (I - M11 D)^-1 M12``, ``D = diag(x[letters])``.

    Parameters
    ----------
    M11 : (n, n) array
    M12 : (n, m) array
    M21 : (p, n) array
    M22 : (p, m) array
        Read-only after construction.
    letters : tuple of int
        The letter of each of the n Delta channels, ascending, so that equal letters are adjacent.
    gap : float
        Largest ratio of a dropped to the last kept singular value in the rank decisions behind this
        realisation; far below 1 means that no rank was in doubt, 0 that nothing was dropped.

    Examples
    --------
    >>> import numpy as np
    >>> product = Realization(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]),
    ...                       np.array([[1.0, 0.0]]), np.zeros((1, 1)), (0, 1))
    >>> float(product.evaluate([3.0, 5.0])[0, 0])
    15.0
    """

    M11: np.ndarray
    M12: np.ndarray
    M21: np.ndarray
    M22: np.ndarray
    letters: tuple[int, ...]
    gap: float = 0.0

    def __post_init__(self) -> None:
        """Check the shapes and the order of the letters, and freeze the arrays."""
        for name in ("M11", "M12", "M21", "M22"):
            array = np.array(getattr(self, name), dtype=float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        n, (p, m) = len(self.letters), self.M22.shape
        for name, shape in (("M11", (n, n)), ("M12", (n, m)), ("M21", (p, n))):
            if getattr(self, name).shape != shape:
                raise ModelError(
                    f"Realization: {name} must be {shape[0]} x {shape[1]} for {n} letters and a {p} x {m} "
                    f"M22, got shape {getattr(self, name).shape}; pass matrices that fit together"
                )
        if tuple(sorted(self.letters)) != tuple(self.letters):
            raise ModelError(
                f"Realization: letters must ascend so that equal ones are adjacent, got {self.letters}; "
                "permute the channels first"
            )

    @property
    def order(self) -> int:
        """Number of Delta channels."""
        return len(self.letters)

    @property
    def repetitions(self) -> dict[int, int]:
        """Number of channels of each letter that occurs."""
        return {letter: self.letters.count(letter) for letter in sorted(set(self.letters))}

    def evaluate(self, points: np.ndarray | list[float] | list[list[float]]) -> np.ndarray:
        """Evaluate at one point (k,) or at many (N, k); the result is (p, m) or (N, p, m).

        Raises
        ------
        ModelError
            A point has fewer coordinates than the largest letter asks for.
        IllPosedError
            ``I - M11 D`` is singular at a point.
        """
        x = np.asarray(points, dtype=float)
        needed = self.letters[-1] + 1 if self.letters else 0
        if x.ndim not in (1, 2) or x.shape[-1] < needed:
            raise ModelError(
                f"Realization.evaluate: expected one point (k,) or points (N, k) with k >= {needed}, got an "
                f"array of shape {x.shape}; give one value for each letter"
            )
        values = np.atleast_2d(x)[:, list(self.letters)]
        try:
            inner = np.linalg.solve(np.eye(self.order) - self.M11 * values[:, None, :], self.M12[None])
        except np.linalg.LinAlgError as error:
            raise IllPosedError(
                "Realization.evaluate: I - M11 D is singular at one of the points; stay off the poles"
            ) from error
        full: np.ndarray = self.M22 + self.M21 @ (values[:, :, None] * inner)
        return full[0] if x.ndim == 1 else full
