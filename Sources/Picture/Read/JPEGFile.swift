import CDarkroomShims

/// A JPEG that is being read. Converts the results of the calls to errors that name the file and the step.
final class JPEGFile {
    let calls: any JPEGCalls
    private let name: String
    /// What is held until the last row: the coefficients of a picture with several scans.
    private(set) var heldBytes = 0
    /// Whether no scans are left that must be read before the first row.
    private var isAbsorbed = true

    convenience init(_ input: PictureDecoder.Input) throws(PictureError) {
        switch input.limits.confine {
        case .others: self.init(try OwnJPEGCalls(input), name: input.name)
        case .all: self.init(try ConfinedJPEGCalls(input), name: input.name)
        }
    }

    init(_ calls: any JPEGCalls, name: String) {
        self.calls = calls
        self.name = name
    }

    func open() throws(PictureError) -> darkroom_jpeg_header {
        var header = darkroom_jpeg_header()
        try check(try calls.open(&header), step: "reading the header")
        isAbsorbed = header.is_whole == 0
        heldBytes = isAbsorbed ? 0 : Int(clamping: header.whole_bytes)
        return header
    }

    /// - Returns: the size of the picture of the rows.
    func start(
        _ decoder: JPEGReader.Decoder, divisor: Int
    ) throws(PictureError) -> (width: Int, height: Int) {
        let choice = decoder == .reference ? DARKROOM_JPEG_REFERENCE : DARKROOM_JPEG_AUTOMATIC
        let started = try calls.start(choice, divisor: divisor, heldBytes: heldBytes)
        try check(started.0, step: "preparing to read rows")
        return (started.width, started.height)
    }

    /// One of several sizes of a picture.
    struct View {
        let width: Int
        let height: Int
        /// The most rows that a step gives.
        let rowsPerStep: Int
    }

    /// Begins to read at several sizes at once; nil if only libjpeg reads the picture.
    func start(views divisors: [Int]) throws(PictureError) -> [View]? {
        guard divisors.count <= Int(DARKROOM_JPEG_MOST_VIEWS) else { return nil }
        let (result, views) = try calls.start(views: divisors, heldBytes: heldBytes)
        if result == DARKROOM_JPEG_UNUSUAL { return nil }
        try check(result, step: "preparing to read rows")
        return views
    }

    /// Reads the next rows of each size.
    ///
    /// - Returns: how many of each: zeros after the last ones; nil if the data are in doubt.
    func step(into memory: [UnsafeMutableRawPointer]) throws(PictureError) -> [Int]? {
        let (result, counts) = try calls.step(memory.map { $0.assumingMemoryBound(to: UInt8.self) })
        if result == DARKROOM_JPEG_UNUSUAL { return nil }
        try check(result, step: "reading rows")
        return counts
    }

    /// Reads the scans of a picture that has several, part by part. Any other picture has nothing to read here.
    ///
    /// - Parameter checkpoint: called after each part.
    /// - Returns: false if the picture is read at several sizes, and the data are in doubt.
    func absorb(_ checkpoint: () throws(PictureError) -> Void) throws(PictureError) -> Bool {
        while !isAbsorbed {
            let (result, isComplete) = try calls.absorb()
            if result == DARKROOM_JPEG_UNUSUAL { return false }
            try check(result, step: "reading the scans")
            isAbsorbed = isComplete
            try checkpoint()
        }
        return true
    }

    /// Reads the next rows. The numbers are used only in messages.
    func read(
        _ rows: Range<Int>, of layout: PixelLayout, _ bytesPerRow: Int,
        to start: UnsafeMutableRawPointer
    ) throws(PictureError) {
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        let result = try calls.read(rows.count, bytesPerRow, to: bytes)
        if result == DARKROOM_JPEG_OK { return }
        let row = rows.lowerBound + calls.lastCount
        try check(result, step: "reading row \(row + 1) of \(layout.height)")
    }

    func finish() throws(PictureError) {
        try check(try calls.finish(), step: "reading the data after the last row")
    }

    private func check(_ result: darkroom_jpeg_result, step: String) throws(PictureError) {
        if result == DARKROOM_JPEG_OK { return }
        let words = calls.message
        let place = "\(name): \(step)"
        switch result {
        case DARKROOM_JPEG_IO:
            throw ShimReader.readFailed(place, calls.systemError)
        case DARKROOM_JPEG_MEMORY:
            throw PictureError.outOfMemory(place, words)
        default:
            throw PictureError(Self.code(for: result), "\(place): \(words)")
        }
    }

    private static func code(for result: darkroom_jpeg_result) -> PictureError.Code {
        switch result {
        case DARKROOM_JPEG_TRUNCATED: .jpegTruncated
        case DARKROOM_JPEG_HEADER: .jpegHeader
        case DARKROOM_JPEG_DATA: .jpegData
        case DARKROOM_JPEG_UNSUPPORTED: .jpegUnsupported
        case DARKROOM_JPEG_LIMIT: .tooManyPixels
        case DARKROOM_JPEG_INVALID: .jpegInvalid
        default: preconditionFailure("the JPEG shim was used in the wrong order")
        }
    }
}
