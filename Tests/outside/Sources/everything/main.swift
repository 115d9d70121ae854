import DarkroomPicture

// everything PNG JPEG FOLDER: uses all that is public, as somebody else's program would, and prints a line for each
// check, which begins with `ok` or `FAIL`.

let (png, jpeg, folder) = (
    CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3]
)

func check(_ isRight: Bool, _ what: String) { print(isRight ? "ok  " : "FAIL", what) }

func isSendable<Value: Sendable>(_: Value.Type) -> Bool { true }

let filters: [PictureFilter] = [
    .sepia(), .mono, .grayscale(amount: 0.5), .invert(), .brightness(amount: 1.2),
    .contrast(amount: 1.1), .saturate(amount: 2), .hueRotate(angle: 90), .opacity(amount: 0.5),
    .gamma(1.8), .threshold(), .posterize(levels: 4), .vignette(),
    .resize(width: 50, kernel: .cubic),
    .thumbnail(width: 20, height: 10), .thumbnail(size: 16, fit: .contain, background: .black),
    .crop(x: 1, y: 2, width: 30, height: 20), .crop(width: 30, height: 20, gravity: .center),
    .trim(), .pad(top: 1, left: 2, background: .white), .pad(width: 500, gravity: .north),
    .rotate(.quarter), .flip, .flop, .blur(sigma: 1.5), .sharpen(),
    .flatten(background: Colour(red: 1, green: 2, blue: 3)),
    .overlay(contentsOf: png, gravity: .northwest, x: 3, y: -3, opacity: 0.5),
    .watermark(contentsOf: jpeg),
]

/// Each filter of each picture into each format, read again.
func checkFilters() throws(PictureError) {
    let outputs: [PictureOutput] = [
        .png(compression: .fast), .png(compression: .small, keepsExif: true),
        .jpeg(quality: 90, progressive: true, keepsExif: true),
    ]
    for (index, filter) in filters.enumerated() {
        let (source, output) = (index % 2 == 0 ? png : jpeg, outputs[index % outputs.count])
        let result = "\(folder)/\(index)"
        let report = try PictureConverter(filters: [filter], output: output)
            .convert(source, to: result)
        var rows = try PictureRows(contentsOf: result)
        let layout = PixelLayout(
            width: report.width, height: report.height, channels: report.channels,
            depth: report.depth)
        var (taken, bytes, isInOrder) = (0, 0, true)
        while try rows.next({ samples, rows in
            isInOrder = isInOrder && rows.lowerBound == taken
            taken = rows.upperBound
            bytes += samples.count
        }) {}
        check(
            rows.layout == layout && isInOrder && taken == layout.height && bytes == layout.bytes
                && report.format == output.format
                && report.sha256.utf8.count == 64 && report.bytes > 0 && rows.warnings.isEmpty,
            "\(filter.name): \(layout.width) × \(layout.height) \(name(of: report.format))")
    }
}

/// What has further cases in a later version is switched over with a default.
func name(of format: OutputFormat) -> String {
    switch format {
    case .png: "PNG"
    case .jpeg: "JPEG"
    case .webp, .avif, .tiff, .jpegXL: format.rawValue
    @unknown default: format.rawValue
    }
}

/// The same pixels twice.
func checkPixels() throws(PictureError) {
    let layout = PixelLayout(width: 40, height: 30, channels: 4, depth: 8)
    check(layout.hasAlpha && layout.colourChannels == 3 && layout.bytesPerPixel == 4, "layout")
    let result = "\(folder)/pixels"
    try PictureConverter().write(layout, to: result, isCancelled: { false }) { samples, rows in
        let first = rows.lowerBound * layout.bytesPerRow
        for index in samples.indices { samples[index] = UInt8((first + index) % 251) }
    }
    var rows = try PictureRows(
        contentsOf: result, autoOrient: false, limits: PictureLimits(), isCancelled: { false })
    var (position, isRight) = (0, true)
    try rows.forEachBand { samples, _ in
        for index in samples.indices {
            isRight = isRight && samples[index] == UInt8(position % 251)
            position += 1
        }
    }
    check(isRight && position == layout.bytes, "pixels that were written are read")
}

/// The examples of the comments in Sources/Picture, which are compiled here.
func convertAsTheCommentSays() throws(PictureError) {
    let converter = PictureConverter(
        filters: [.sepia(intensity: 0.8), .resize(width: 800)], output: .jpeg(quality: 88))
    let report = try converter.convert("beach.png", to: "beach.jpg")
    print(report.width, report.height, report.bytes)
}

func readAsTheCommentSays() throws(PictureError) {
    var rows = try PictureRows(contentsOf: "beach.png", filters: [.mono])
    var sum = 0
    try rows.forEachBand { samples, _ in
        for index in samples.indices { sum += Int(samples[index]) }
    }
    print(sum)
}

/// Their programs are not beside this one.
func checkFormatsOfPrograms() {
    let outputs: [PictureOutput] = [
        .webp(quality: 70, lossless: true, effort: 3, keepsExif: true),
        .avif(
            quality: 60, lossless: false, effort: 2, depth: 12, chroma: .full, keepsExif: true),
        .tiff(compression: .lzw, depth: 8).keeping([.copyright, .exif], places: false),
        .jpegXL(quality: 80, lossless: false, effort: 7, depth: 8).keeping([.iptc, .xmp]),
    ]
    for output in outputs {
        let error = code { () throws(PictureError) in
            try PictureConverter(output: output).convert(png, to: folder + "/result")
        }
        check(error == "codec-missing", "\(name(of: output.format)) without its program")
    }
    check(PictureOutput.tiff(compression: .none) != .tiff(compression: .deflate), "compressions")
    check(PictureOutput.avif(chroma: .half) == .avif(), "chroma")
}

func checkErrors() {
    var limits = PictureLimits()
    (limits.pixels, limits.side) = (100, 50)
    (limits.wholePictureBytes, limits.ancillaryBytes) = (1 << 20, 1 << 20)
    var converter = PictureConverter()
    check(
        code { () throws(PictureError) in
            try converter.convert(folder + "/none", to: folder + "/result")
        } == "read-failed", "a file that is not there")
    check(
        code { () throws(PictureError) in
            try converter.convert(png, to: folder + "/none/result")
        } == "write-failed", "a folder that is not there")
    check(
        code { () throws(PictureError) in
            try converter.convert(png, to: folder + "/result", isCancelled: { true })
        } == "cancelled", "cancelled")
    check(
        code { () throws(PictureError) in
            try converter.convert(CommandLine.arguments[0], to: folder + "/result")
        } == "not-a-picture", "a program is no picture")
    converter.limits = limits
    check(
        code { () throws(PictureError) in
            try converter.convert(png, to: folder + "/result")
        } == "too-many-pixels", "a picture beyond the limits")
    converter.filters = [.blur(sigma: .nan)]
    (converter.output, converter.autoOrient) = (.jpeg(), false)
    check(
        code { () throws(PictureError) in
            try converter.convert(png, to: folder + "/result")
        } == "invalid-arguments", "a filter out of its range")
}

func code(_ body: () throws(PictureError) -> PictureReport) -> String? {
    do throws(PictureError) {
        _ = try body()
        return nil
    } catch {
        let isWhole =
            PictureError.Code(rawValue: error.code) == error.kind && !error.isTransient
            && error.description == "\(error.message) [\(error.code)]"
            && error.errorDescription == error.message
        return isWhole ? error.code : nil
    }
}

do {
    check(
        isSendable(PictureConverter.self) && isSendable(PictureReport.self)
            && isSendable(PictureError.self), "what threads hand each other is Sendable")
    try checkFilters()
    try checkPixels()
    checkErrors()
    checkFormatsOfPrograms()
    let upright = try PictureConverter().convert(jpeg, to: folder + "/upright")
    check(
        upright.width < upright.height && upright.metadata["orientation"] == "converted"
            && upright.warnings == [], "a JPEG is turned upright")
} catch {
    print("FAIL \(error)")
}
