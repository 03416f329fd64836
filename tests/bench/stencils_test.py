"""Stencils by slices of padded arrays, as array libraries compute them. Here the arrays are lists."""

import unittest

import paths  # noqa: F401
from peer_comparison import stencils


class Rows:
    """A matrix of lists that can be sliced, added and multiplied like a library's array."""

    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, slices):
        return Rows([row[slices[1]] for row in self.rows[slices[0]]])

    def __add__(self, other):
        return Rows([[a + b for a, b in zip(one, two)] for one, two in zip(self.rows, other.rows)])

    def __rmul__(self, factor):
        return Rows([[factor * a for a in row] for row in self.rows])


def case(text, **arguments):
    return {"arguments": {"expression": text, **arguments}, "sources": [{"shape": [3, 4]}]}


class Stencils(unittest.TestCase):
    def test_offsets_and_dimensions_are_read_from_the_expression(self):
        text = "0.2f * (x + x(-1,0) + x(2,0) + x(0,-3))"
        self.assertEqual(stencils.offsets(text), [(-1, 0), (2, 0), (0, -3)])
        self.assertEqual(stencils.reach(case(text)), [2, 3])
        self.assertEqual(stencils.dimensions(case(text)), [0, 1])
        self.assertEqual(stencils.dimensions(case("x(1)", dims=[-2])), [0])

    def test_indices_beyond_the_edges_follow_the_boundary_rule(self):
        self.assertEqual(stencils.boundary_indices(4, 2, "clamp"), [0, 0, 0, 1, 2, 3, 3, 3])
        self.assertEqual(stencils.boundary_indices(4, 2, "wrap"), [2, 3, 0, 1, 2, 3, 0, 1])
        self.assertEqual(stencils.boundary_indices(4, 2, "reflect"), [2, 1, 0, 1, 2, 3, 2, 1])
        self.assertEqual(stencils.boundary_indices(1, 2, "reflect"), [0] * 5)
        self.assertEqual(stencils.boundary_indices(2, 3, "reflect"), [1, 0, 1, 0, 1, 0, 1, 0])

    def test_a_stencil_of_a_matrix_matches_loops(self):
        rows = [[4 * i + j for j in range(4)] for i in range(3)]

        def pad(a, reach):
            wide = [[0] * reach[1] + row + [0] * reach[1] for row in a.rows]
            zeros = [[0] * len(wide[0])] * reach[0]
            return Rows(zeros + wide + zeros)

        found = stencils.formula(case("2 * x + 0.5f * (x(-1,0) + x(0,2))"), pad)(Rows(rows)).rows
        at = lambda i, j: rows[i][j] if 0 <= i < 3 and 0 <= j < 4 else 0
        self.assertEqual(found, [[2 * at(i, j) + 0.5 * (at(i - 1, j) + at(i, j + 2)) for j in range(4)]
                                 for i in range(3)])


if __name__ == "__main__":
    unittest.main()
