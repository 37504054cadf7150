"""TurnRecorder: questions and turns are stored; what cannot be stored is kept and stored later."""

import pytest
from building import NOON, Room, talk
from store_faults import FailingStore
