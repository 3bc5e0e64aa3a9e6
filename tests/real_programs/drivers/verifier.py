"""Tokens that sdivyanshu90/speculative-decoding-from-scratch verifies with a seeded generator."""

import torch
from speculative_decoding.core.sampling import Sampler
from speculative_decoding.core.verifier import TokenVerifier

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
generator = torch.Generator(device=device).manual_seed(0)  # as a caller with a GPU makes one
sampler = Sampler(temperature=1.0, generator=generator)
verifier = TokenVerifier(generator=generator)
draft = torch.log_softmax(torch.rand(3, 8), -1).to(device)
target = torch.log_softmax(torch.rand(4, 8), -1).to(device)
tokens = draft.argmax(-1)
result = verifier.verify(tokens, draft, target, sampler)
print(type(result).__name__)
