"""The MNIST reader of TensorFlow 1, which PyTorch programs of that time borrowed."""
