"""Vectors kept by text: what is put in comes out, from any thread, and the file may vanish."""

import sqlite3
import threading

import numpy as np
import pytest

from litrag.vector_cache import VectorCache


def key(number):
    return number.to_bytes(32, "big")


@pytest.fixture
def cache(tmp_path):
    return VectorCache(tmp_path / "deep" / "vectors.db")


def test_vectors_come_back_bit_by_bit(cache):
    vector = np.array([1 / 3, -0.0, 1e-38], dtype=np.float32)
    cache.put_many({key(1): vector})
    assert cache.get_many([key(1)])[key(1)].tobytes() == vector.tobytes()


def test_what_is_unknown_is_left_out(cache):
    cache.put_many({key(1): np.ones(3)})
    assert list(cache.get_many([key(2), key(1)])) == [key(1)]


def test_looking_into_a_cache_that_does_not_exist_makes_no_file(tmp_path, cache):
    assert cache.get_many([key(1)]) == {}
    cache.put_many({})
    assert list(tmp_path.iterdir()) == []


def test_more_keys_than_one_statement_takes_are_all_found(cache):
    cache.put_many({key(n): np.full(2, n) for n in range(1234)})
    found = cache.get_many([key(n) for n in range(1234)])
    assert len(found) == 1234
    assert all(found[key(n)][0] == n for n in range(1234))


def test_a_vector_that_is_put_again_replaces_the_first(cache):
    cache.put_many({key(1): np.zeros(2)})
    cache.put_many({key(1): np.ones(2)})
    assert cache.get_many([key(1)])[key(1)].tolist() == [1, 1]


def test_a_deleted_file_is_an_empty_cache(tmp_path, cache):
    cache.put_many({key(1): np.ones(2)})
    (tmp_path / "deep" / "vectors.db").unlink()
    assert cache.get_many([key(1)]) == {}
    cache.put_many({key(2): np.ones(2)})
    assert list(cache.get_many([key(1), key(2)])) == [key(2)]


def test_a_failed_write_leaves_nothing_behind(cache):
    with pytest.raises(sqlite3.Error):
        cache.put_many({key(1): np.ones(2), object(): np.ones(2)})
    assert cache.get_many([key(1)]) == {}


def test_several_threads_may_write_at_once(cache):
    threads = [
        threading.Thread(target=lambda start=start: cache.put_many({key(start + n): np.ones(4) for n in range(50)}))
        for start in range(0, 400, 50)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache.get_many([key(n) for n in range(400)])) == 400
