"""compare.py DARKROOM PICTURES EXCEPTIONS: see check.sh."""

import io
import os
import subprocess
import sys
import warnings

import numpy
from PIL import Image, ImageOps

warnings.simplefilter("ignore")
# Larger ones are tests of limits.
Image.MAX_IMAGE_PIXELS = 50_000_000
# How much a sample may differ, in steps of 8 bits. 1: what has other than 8 bits is rounded, and Pillow cuts off. JPEG and
# AVIF: versions of the libraries round differently, and enlarge the chroma in different ways.
TOLERANCES = {"jpeg": (2, 0.5), "avif": (255, 3), "tiff": (2, 1), "bmp": (1, 1), "png": (1, 1)}
# L*a*b* by its formulas; Pillow's profile has a table.
LAB = (10, 1)
# Codes of errors that no picture may have.
FORBIDDEN = ("codec-crashed", "codec-time", "internal")


def kind_of(start):
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if start.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    if start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "tiff"
    if start.startswith(b"GIF8"):
        return "gif"
    if start.startswith(b"BM"):
        return "bmp"
    if start[4:8] == b"ftyp":
        return "avif"
    return None


def pixels(picture, bits):
    """The picture as rows of red, green, blue and straight alpha from 0 to 255, with fractions.

    `bits` is the depth of samples of more than 8 bits, which Pillow leaves as they are.
    """
    if picture.mode in ("I", "I;16", "I;16B", "I;16L"):
        gray = numpy.asarray(picture).astype(float)
        alpha = numpy.where(gray == picture.info.get("transparency", -1), 0, 255)
        gray *= 255 / (2**bits - 1)
        return numpy.stack([gray, gray, gray, alpha], axis=2)
    if "transparency" in picture.info or picture.mode in ("LA", "PA", "RGBA", "RGBa", "La"):
        return numpy.asarray(picture.convert("RGBA")).astype(float)
    opaque = numpy.asarray(picture.convert("RGB")).astype(float)
    return numpy.concatenate([opaque, numpy.full_like(opaque[..., :1], 255)], axis=2)


def difference(ours, theirs, kind, mode):
    if ours.shape != theirs.shape:
        return f"{ours.shape[1]} x {ours.shape[0]} pixels instead of {theirs.shape[1]} x {theirs.shape[0]}"
    # A colour matters as far as it can be seen: Pillow undoes associated alpha with 8 bits.
    seen = numpy.minimum(ours[..., 3:], theirs[..., 3:]) / 255
    if kind != "tiff":
        seen = seen > 0
    off = numpy.abs(ours - theirs)
    off[..., :3] *= seen
    most, mean = LAB if mode == "LAB" else TOLERANCES.get(kind, (0, 0))
    if off.max() <= most + 0.51 * (most > 0) and off.mean() <= mean + 0.01:
        return None
    y, x = numpy.argwhere(off.max(axis=2) > most)[0] if off.max() > most else (0, 0)
    return f"differs by {off.max():.0f}, in the mean by {off.mean():.2f}, first at {x}, {y}"


def compare(darkroom, path, kind):
    """None if Pillow does not read it; else what is wrong, or an empty text."""
    theirs, mode = None, None
    try:
        with Image.open(path) as picture:
            picture.load()
            mode = picture.mode
            bits = getattr(picture, "tag_v2", {}).get(258, (16,))[0]
            # Pillow also believes what XMP and other notes say of the orientation.
            if kind == "tiff" or "exif" in picture.info:
                picture = ImageOps.exif_transpose(picture)
            theirs = pixels(picture, bits)
    except Exception:  # whatever Pillow has to say
        pass
    with open(path, "rb") as file:
        run = subprocess.run([darkroom, "filter"], stdin=file, capture_output=True, timeout=300, check=False)
    words = run.stderr.decode(errors="replace").strip().replace("\n", " ")
    if run.returncode not in (0, 3) or any(f"{code}" in words for code in FORBIDDEN):
        return f"darkroom ends with {run.returncode}: {words}"
    if theirs is None:
        return None
    if run.returncode != 0:
        return f"refused: {words}"
    with Image.open(io.BytesIO(run.stdout)) as picture:
        picture.load()
        return difference(pixels(picture, 16), theirs, kind, mode) or ""


def exceptions(path):
    with open(path, encoding="utf-8") as lines:
        rows = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return {name: reason.strip() for name, reason in rows}


def main():
    darkroom, folder, known = sys.argv[1], sys.argv[2], exceptions(sys.argv[3])
    failed = 0
    if len(known) > 8:
        print(f"FAIL {len(known)} exceptions are too many")
        failed += 1
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                kind = kind_of(file.read(16))
            problem = compare(darkroom, path, kind) if kind else None
            if problem is None:
                continue
            name = os.path.relpath(path, folder)
            if not problem or name in known:
                print(f"ok {name}{': ' + known[name] if problem else ''}")
            else:
                print(f"FAIL {name} ({kind}): {problem}")
                failed += 1
    sys.exit(1 if failed else 0)


main()
