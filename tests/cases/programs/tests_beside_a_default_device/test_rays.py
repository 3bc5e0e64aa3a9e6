import numpy as np
import torch

from rays import angles, turned


def test_angles():
    found = angles(3)
    np.testing.assert_allclose(found, [0.0, 0.5, 1.0])


def test_turned():
    np.testing.assert_allclose(turned(angles(2)), [1.0, np.cos(1.0) + np.sin(1.0)], rtol=1e-6)
