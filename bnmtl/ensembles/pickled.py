"""The size of a model as it would be saved."""

import pickle


class _Counter:
    """A file that only counts bytes."""

    def __init__(self):
        self.n_bytes = 0

    def write(self, part):
        """Count the bytes of a part."""
        self.n_bytes += memoryview(part).nbytes


def pickled_bytes(model):
    """Bytes of a pickled model, without making a copy; None if it cannot be pickled."""
    counter = _Counter()
    try:
        pickle.dump(model, counter, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return counter.n_bytes
