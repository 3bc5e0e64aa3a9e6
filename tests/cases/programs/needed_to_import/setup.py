from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

if __name__ == "__main__":
    setup(
        name="rows",
        ext_modules=[CUDAExtension("rows_cuda", ["rows.cu"])],
        cmdclass={"build_ext": BuildExtension},
    )
