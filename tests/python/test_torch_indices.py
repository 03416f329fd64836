"""gather, gather_sum, moe_permute and top_k of PyTorch's tensors, and gradients. Skipped without PyTorch."""

from __future__ import annotations

import pytest

from support import SEED

torch = pytest.importorskip("torch")

import tmajit.torch as operators  # noqa: E402


def test_gradients_of_gather():
    index = torch.tensor([2, 0, 2, -1, 9])
    ours, theirs = (torch.arange(12.0).reshape(4, 3).requires_grad_() for _ in range(2))
    found = operators.gather(ours, index)
    wanted = torch.cat([theirs[[2, 0, 2, 3]], torch.zeros(1, 3)])
    assert torch.equal(found, wanted)
    (found**2).sum().backward()
    (wanted**2).sum().backward()
    assert torch.equal(ours.grad, theirs.grad)
    pairs = torch.tensor([[0, 1]]), torch.tensor([1, 2])
    ours.grad = None
    operators.gather(ours, pairs, (0, 1)).sum().backward()
    assert ours.grad.sum() == 2 and ours.grad[0, 1] == 1 and ours.grad[1, 2] == 1
    y = torch.zeros(4, 3)
    assert operators.scatter_add(found.detach(), index, out=y) is y
    assert torch.equal(y, torch.zeros(4, 3).index_add_(0, torch.tensor([2, 0, 2, 3]), wanted.detach()[:4]))


def test_gradients_of_ragged_bags():
    index, offsets = torch.tensor([2, 0, 2, -1, 1]), torch.tensor([0, 2, 2, 5])
    x, y = (torch.arange(12.0).reshape(4, 3).requires_grad_() for _ in range(2))
    w, v = (torch.tensor([0.5, 2, 7, 1, 3]).requires_grad_() for _ in range(2))
    found = operators.gather_sum(x, index, w, offsets=offsets)
    wanted = torch.nn.functional.embedding_bag(
        index % 4, y, offsets, mode="sum", per_sample_weights=v, include_last_offset=True
    )
    assert torch.equal(found, wanted)
    (found**2).sum().backward()
    (wanted**2).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    torch.testing.assert_close(w.grad, v.grad)
    # The first and the last index are in no bag.
    few = torch.tensor([1, 4])
    x.grad = None
    operators.gather_sum(x, index, offsets=few).sum().backward()
    assert x.grad[:, 0].tolist() == [1, 0, 1, 1]


def test_gradients_of_gather_sum():
    index = torch.tensor([[2, 0, 9], [2, -1, 1]])
    x, y = (torch.arange(12.0).reshape(4, 3).requires_grad_() for _ in range(2))
    w, v = (torch.tensor([[0.5, 2, 7], [1, 3, -1]]).requires_grad_() for _ in range(2))
    found = operators.gather_sum(x, index, w)
    kept = torch.tensor([[1.0, 1, 0], [1, 1, 1]])
    wanted = ((v * kept)[..., None] * y[torch.tensor([[2, 0, 0], [2, 3, 1]])]).sum(1)
    assert torch.equal(found, wanted)
    (found**2).sum().backward()
    (wanted**2).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    torch.testing.assert_close(w.grad, v.grad)


def test_moe_permute():
    x = torch.arange(12, dtype=torch.bfloat16).reshape(4, 3)
    experts = torch.tensor([[1, 0], [1, 2], [0, 1], [2, -1]])
    rows, positions, counts, offsets = operators.moe_permute(x, experts, 3)
    assert rows.dtype == torch.bfloat16 and positions.dtype == torch.int32
    assert torch.equal(rows[:7], x[[0, 2, 0, 1, 2, 1, 3]])
    assert counts.tolist() == [2, 3, 2] and offsets.tolist() == [0, 2, 5, 7]
    given = x.float().requires_grad_()
    rows, *_ = operators.moe_permute(given, experts, 3)
    weights = torch.arange(8.0)
    (rows[:7] * weights[:7, None]).sum().backward()
    assert given.grad[:, 0].tolist() == [2 + 0, 3 + 5, 1 + 4, 6]


def test_top_k():
    x = torch.randperm(600, generator=torch.Generator().manual_seed(SEED)).reshape(3, 200).to(torch.bfloat16)
    for largest in (True, False):
        values, _ = operators.top_k(x, 7, largest=largest)
        assert torch.equal(values, torch.topk(x, 7, largest=largest)[0])
    given = torch.tensor([[4.0, 7, 7, -1], [0, 1, 5, 2]], requires_grad=True)
    values, index = operators.top_k(given, 2)
    (values * torch.tensor([[1.0, 2], [3, 4]])).sum().backward()
    assert index.tolist() == [[1, 2], [2, 3]]
    assert given.grad.tolist() == [[0, 1, 2, 0], [0, 0, 3, 4]]
    columns, _ = operators.top_k(given, 1, axis=0)
    given.grad = None
    columns.sum().backward()
    assert given.grad.tolist() == [[1, 1, 1, 0], [0, 0, 0, 1]]
    alone = operators.top_k(given, 2, index="no")
    with pytest.raises(RuntimeError, match="without an index has no gradient"):
        alone.sum().backward()
