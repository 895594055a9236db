"""Tables, claims and pictures of the study of good probabilities, from its lines."""


def tables(lines):
    return {}


def draw(lines):
    raise NotImplementedError
