from dataclasses import dataclass, field
from typing import List


@dataclass
class KDConfig:
    widths: List[int] = field(default_factory=lambda: [16, 6])
    T: float = 4.0
    alpha: float = 0.7
    batch_size: int = 6
    epochs: int = 2
    cache: str = "teacher_logits.pt"
