"""A little of torch_geometric: graphs that move as one object."""
