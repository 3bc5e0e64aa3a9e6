"""As much of diffusers as the programs use."""


class DDIMScheduler:
    """The steps of a diffusion: no module."""

    @classmethod
    def from_pretrained(cls, name, subfolder=None):
        """Return a scheduler with the settings of that name."""
        return cls()

    def scale(self, value):
        """Return a value as the model wants it at a step."""
        return value * 2
