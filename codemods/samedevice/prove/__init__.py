"""Run programs and say whether their tensors agree.

The only room that executes code it was given; it imports no other room. torch is imported in child
processes alone, by `prove.child`, so that everything else here loads without it.
"""
