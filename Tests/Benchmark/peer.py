"""libvips in process, for `bash Tests/bench.sh daemon`: as many processes as cores, of one thread each.

    peer.py make FOLDER PICTURE.png NAME KIND     writes NAME in FOLDER: the picture as this KIND of file
    peer.py run JOB PROCESSES FORMAT OUT SOURCE…  does the job on each source, and prints the seconds and the bytes
    peer.py version

FORMAT is png (libvips' default), filtered (with all row filters), either with a level as in png:9, or jpeg, webp, avif or
tiff. The seconds begin when each process is ready.
"""

import multiprocessing
import os
import random
import sys
import time

os.environ["VIPS_CONCURRENCY"] = "1"
import pyvips  # noqa: E402

PHONE = (4032, 3024)  # the width and the height of a telephone's picture
ODD = (3999, 2833)  # sides that no divisor of a decoder divides
SEPIA = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
SATURATE = [[1.2361, -0.2145, -0.0216], [-0.0639, 1.0855, -0.0216], [-0.0639, -0.2145, 1.2784]]
OPTIONS = {
    "png": {},
    "filtered": {"filter": "all"},
    "jpeg": {"Q": 85},
    "webp": {"Q": 80, "effort": 4},
    "avif": {"Q": 60, "effort": 2, "subsample_mode": "on"},
    "tiff": {"compression": "deflate", "predictor": "horizontal"},
}


def matrix(path, rows):
    """The matrix over the three colours; alpha stays."""
    image = pyvips.Image.new_from_file(path, access="sequential")
    form = image.format
    colours = image.extract_band(0, n=3).recomb(rows).cast(form)
    return colours.bandjoin(image[3]) if image.bands == 4 else colours


def done(job, path):
    """The result of a job, such as sepia, resize-800 or blur-5."""
    name, _, number = job.partition("-")
    if name == "sepia":
        return matrix(path, SEPIA)
    if name == "saturate":
        return matrix(path, SATURATE)
    if name == "grayscale":
        return pyvips.Image.new_from_file(path, access="sequential").colourspace("b-w")
    if name == "resize":
        return pyvips.Image.thumbnail(path, int(number), height=100000)
    if name == "srgb":
        return pyvips.Image.thumbnail(path, int(number), height=100000, output_profile="srgb")
    if name == "srgbsepia":
        image = pyvips.Image.new_from_file(path, access="sequential").icc_transform("srgb")
        return image.recomb(SEPIA).cast("uchar")
    if name == "blur":
        return pyvips.Image.new_from_file(path, access="sequential").gaussblur(float(number))
    raise SystemExit(f"{job} is not a job")


def work(job, form, out, sources, numbers, start, results):
    pyvips.cache_set_max(0)
    form, _, level = form.partition(":")
    ending = {"jpeg": "jpg", "filtered": "png"}.get(form, form)
    options = OPTIONS[form] | ({"compression": int(level)} if level else {})
    start.wait()
    total = 0
    for number in numbers:
        target = os.path.join(out, f"{number}.{ending}")
        done(job, sources[number]).write_to_file(target, **options)
        total += os.path.getsize(target)
    results.put(total)


def run(job, processes, form, out, sources):
    start = multiprocessing.Barrier(processes + 1)
    results = multiprocessing.Queue()
    workers = [
        multiprocessing.Process(
            target=work,
            args=(job, form, out, sources, range(first, len(sources), processes), start, results),
        )
        for first in range(processes)
    ]
    for worker in workers:
        worker.start()
    start.wait()
    begin = time.monotonic()
    total = sum(results.get() for _ in workers)
    for worker in workers:
        worker.join()
    print(time.monotonic() - begin, total)


def phone(image, width, height):
    """A part of this size, at a random place that is always the same, of the picture of a telephone's size."""
    image = image.thumbnail_image(PHONE[0], height=PHONE[1], size="force")
    chance = random.Random(7)
    left, top = (chance.randint(0, whole - part) for whole, part in zip(PHONE, (width, height)))
    return image.crop(left, top, width, height)


def make(folder, picture, name, kind):
    image = pyvips.Image.new_from_file(picture)
    options = {}
    if kind in ("phone", "phone-progressive"):
        image = phone(image, *PHONE)
    elif kind == "phone-odd":
        image = phone(image, *ODD)
    if kind == "rgba":
        image = image.bandjoin(image[1])
    elif kind == "16":
        image = (image.cast("ushort") * 257).cast("ushort").copy(interpretation="rgb16")
    elif kind == "palette":
        options = {"palette": True}
    elif kind == "interlaced":
        options = {"interlace": True, "filter": "all"}
    elif kind == "jpeg":
        options = {"Q": 90}
    elif kind == "jpeg-p3":
        image = image.icc_transform("p3", input_profile="srgb")
        options = {"Q": 90}
    elif kind == "webp":
        options = {"Q": 80}
    elif kind == "avif":
        options = {"Q": 60, "effort": 2, "subsample_mode": "on"}
    elif kind == "tiff":
        options = {"compression": "lzw", "predictor": "horizontal"}
    elif kind in ("phone", "phone-odd"):
        options = {"Q": 90, "subsample_mode": "on"}
    elif kind in ("progressive", "phone-progressive"):
        options = {"Q": 90, "subsample_mode": "on", "interlace": True}
    image.write_to_file(os.path.join(folder, name), **options)


if __name__ == "__main__":
    command = sys.argv[1]
    if command == "version":
        print(".".join(str(pyvips.version(part)) for part in range(3)))
    elif command == "make":
        make(*sys.argv[2:6])
    else:
        run(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5], sys.argv[6:])
