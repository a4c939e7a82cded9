"""The programs of the survey: a row each, and a driver of the same shape for all.

A driver does its work as often as its last argument says, then prints "result CHECKSUM BYTES".
These are the checksum of the work's result, and the bytes that one turn moves for its user.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """`driver`: a file of drivers/ and its arguments. `pypi`: packages, pinned. `needs`: commands;
    where one is missing, the packages `debian` are taken. `variables` may name {root}, the folder
    of these."""

    name: str
    work: str
    driver: str
    pypi: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def language(self) -> str:
        return LANGUAGES[self.driver.split()[0].rpartition(".")[2]]


LANGUAGES = {
    "go": "Go",
    "java": "Java",
    "js": "JavaScript",
    "lua": "Lua",
    "php": "PHP",
    "pl": "Perl",
    "py": "Python",
    "R": "R",
    "rb": "Ruby",
    "rs": "Rust",
    "sh": "shell",
}

NUMPY = ("numpy==2.4.6",)


def of_python(name: str, work: str, driver: str, *pypi: str) -> Program:
    return Program(name, work, driver, pypi)


PROGRAMS = (
    # --- Python, the standard library ---
    Program("python-join", "b''.join of 64 KiB blocks to 16 MiB", "stdlib.py join"),
    Program("python-bytearray", "bytearray[i:j] = memoryview of 1 MiB", "stdlib.py slice"),
    Program("python-pickle", "pickle.loads of arrays of 1 MiB", "stdlib.py pickle"),
    Program("python-sqlite", "SQLite in memory, rows of 64 KiB read", "sqlite_rows.py"),
    # --- numpy and its kind ---
    Program("numpy-assign", "a[i] = b, 1 MiB within 64 MiB", "numpy_ways.py assign", NUMPY),
    Program("numpy-copy", "a.copy() of 32 MiB", "numpy_ways.py copy", NUMPY),
    Program("numpy-tobytes", "a.tobytes() of 32 MiB", "numpy_ways.py tobytes", NUMPY),
    Program("numpy-crop", "a crop: rows of 4 KiB of a picture", "numpy_ways.py crop", NUMPY),
    Program("numpy-concatenate", "8 arrays of 1 MiB", "numpy_ways.py concatenate", NUMPY),
    Program("numpy-buffer", "64 KiB into one buffer, summed", "numpy_ways.py buffer", NUMPY),
    of_python("pandas", "a copy of a frame of 32 MiB", "pandas_copy.py", *NUMPY, "pandas==3.1.1"),
    of_python("pyarrow", "a table written as IPC, 32 MiB", "pyarrow_ipc.py", "pyarrow==26.0.1"),
    of_python("polars", "chunks of 1 MiB put together", "polars_rechunk.py", "polars==2.1.0"),
    of_python("duckdb", "a query's 32 MiB as arrays", "duckdb_fetch.py", *NUMPY, "duckdb==2.0.1"),
    of_python("h5py", "chunks of 1 MiB read", "h5py_chunks.py", *NUMPY, "h5py==3.16.0"),
    of_python("netcdf4", "records of 1 MiB read", "netcdf_records.py", *NUMPY,
              "netCDF4==1.7.5.1.post1"),
    of_python("astropy", "a FITS image of 16 MiB written", "astropy_fits.py", *NUMPY,
              "astropy==8.0.2"),
    of_python("faiss", "512 B vectors found by number", "faiss_reconstruct.py", *NUMPY,
              "faiss-cpu==1.15.1"),
    # --- pictures, sound, video ---
    of_python("pillow", "a crop and paste of 12 MP", "pillow_paste.py", "pillow==13.0.0"),
    of_python("opencv-border", "copyMakeBorder of 1080p", "opencv_ways.py border", *NUMPY,
              "opencv-python-headless==5.0.0.93"),
    of_python("opencv-hconcat", "hconcat of two of 1080p", "opencv_ways.py hconcat", *NUMPY,
              "opencv-python-headless==5.0.0.93"),
    of_python("simpleitk", "a volume of 16 MiB to an array", "simpleitk_array.py", *NUMPY,
              "SimpleITK==2.5.7"),
    of_python("rasterio", "windows of a raster in memory", "rasterio_windows.py", *NUMPY,
              "rasterio==1.4.4"),
    of_python("pygame", "pictures of 512 x 512 on a screen", "pygame_blit.py", "pygame==2.6.1"),
    of_python("pyav", "frames of 1080p to arrays", "pyav_frames.py", *NUMPY, "av==18.1.0"),
    of_python("soundfile", "16 MiB of sound read", "soundfile_read.py", *NUMPY,
              "soundfile==0.14.0"),
    # --- compression ---
    of_python("zstd", "16 MiB that do not compress", "zstd_blocks.py", "zstandard==0.25.0"),
    of_python("lz4", "16 MiB that do not compress", "lz4_blocks.py", "lz4==4.4.5"),
    of_python("blosc2", "16 MiB, stored", "blosc2_blocks.py", *NUMPY, "blosc2==4.14.1"),
    # --- messages and stores ---
    of_python("pyzmq", "messages of 1 MiB between threads", "pyzmq_messages.py", "pyzmq==27.3.0"),
    of_python("grpc", "messages of 1 MiB, with their answers", "grpc_echo.py", "grpcio==1.85.3"),
    of_python("msgpack", "16 blocks of 1 MiB packed", "msgpack_blocks.py", "msgpack==1.2.4"),
    of_python("lmdb", "values of 64 KiB read", "lmdb_values.py", "lmdb==3.0.0"),
    of_python("rocksdb", "values of 64 KiB read", "rocksdb_values.py", "rocksdict==0.3.29"),
    # --- other languages ---
    Program("node-set", "TypedArray.set of 1 MiB", "node_ways.js set", needs=("node",),
            debian=("nodejs",)),
    Program("node-concat", "Buffer.concat of 64 KiB to 4 MiB", "node_ways.js concat",
            needs=("node",), debian=("nodejs",)),
    Program("java", "System.arraycopy of 1 MiB", "Arraycopy.java", needs=("java", "javac"),
            debian=("default-jdk-headless",)),
    Program("perl", "a string of 16 MiB put together", "join.pl", needs=("perl",),
            debian=("perl",)),
    Program("ruby", "a string of 16 MiB put together", "join.rb", needs=("ruby3.1",),
            debian=("ruby3.1",), variables=(("RUBYLIB", "{root}/usr/lib/ruby/3.1.0:"
            "{root}/usr/lib/x86_64-linux-gnu/ruby/3.1.0"),)),
    Program("php", "a string of 16 MiB put together", "join.php", needs=("php8.2",),
            debian=("php8.2-cli",)),
    Program("luajit", "ffi.copy of 1 MiB", "ffi_copy.lua", needs=("luajit",),
            debian=("luajit",)),
    Program("r", "a vector of 16 MiB changed in a copy", "vector_copy.R", needs=("R",),
            debian=("r-base-core",), variables=(("R_HOME", "{root}/usr/lib/R"),
            ("R_DEFAULT_PACKAGES", "NULL"))),
    Program("go", "copy of 1 MiB", "copy.go", needs=("go",), debian=("golang-go",)),
    Program("rust", "copy_from_slice of 1 MiB", "copy.rs", needs=("rustc",), debian=("rustc",)),
    # --- programs ---
    Program("redis", "values of 1 MiB set and got", "redis_values.py", needs=("redis-server",),
            debian=("redis-server",)),
    Program("memcached", "values of 512 KiB set and got", "memcached_values.py",
            needs=("memcached",), debian=("memcached",)),
    Program("ffmpeg", "frames of 1080p side by side", "ffmpeg_hstack.sh", needs=("ffmpeg",),
            debian=("ffmpeg",)),
    Program("imagemagick", "a picture of 12 MP cropped", "imagemagick_crop.sh",
            needs=("convert-im6.q16",), debian=("imagemagick-6.q16",), variables=(
            ("MAGICK_CODER_MODULE_PATH", "{root}/usr/lib/x86_64-linux-gnu/ImageMagick-6.9.11/"
            "modules-Q16/coders"),)),
    Program("vips", "a picture of 12 MP embedded", "vips_embed.sh", needs=("vips",),
            debian=("libvips-tools",)),
    Program("git", "a file of 16 MiB hashed", "git_hash.sh", needs=("git",), debian=("git",)),
    Program("qemu-img", "an image of 64 MiB converted", "qemu_img.sh", needs=("qemu-img",),
            debian=("qemu-utils",)),
)  # fmt: skip
