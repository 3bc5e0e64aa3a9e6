"""As much of torchvision as the programs use."""

from . import datasets as datasets
from . import io as io
from . import models as models
from . import transforms as transforms
