from accelerate import Accelerator
from lib import captions
accelerator = Accelerator()
print(captions.__name__)
