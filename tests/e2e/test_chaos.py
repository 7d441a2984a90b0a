"""A slice of the long check's chaos: always the same one, unless MTLAUNCH_SEED says otherwise."""
import os

from chaos import play

SECONDS = 40


def test_a_slice(make_lab):
    lab = make_lab(2)
    assert play(lab, int(os.environ.get("MTLAUNCH_SEED", "5")), seconds=SECONDS) >= 2
