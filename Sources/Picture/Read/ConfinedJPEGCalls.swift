import CDarkroomShims

/// The shim's reader of a JPEG in a process of its own.
final class ConfinedJPEGCalls: ConfinedReader, JPEGCalls, @unchecked Sendable {
    private var opened = darkroom_remote_state()
    private var views: [JPEGFile.View] = []
    /// The rows of each view so far.
    private var given: [Int] = []

    init(_ input: PictureDecoder.Input, by program: CodecProgram? = nil) throws(PictureError) {
        try super.init(DARKROOM_REMOTE_JPEG_NEW, input, program)
    }

    /// What only libjpeg reads, or what is in doubt, is a result for several sizes alone.
    private func result(_ state: darkroom_remote_state) -> darkroom_jpeg_result {
        let result = state.result(before: DARKROOM_JPEG_MISUSE, otherwise: DARKROOM_JPEG_INVALID)
        return result == DARKROOM_JPEG_UNUSUAL && views.isEmpty ? DARKROOM_JPEG_INVALID : result
    }

    func open(_ header: inout darkroom_jpeg_header) throws(PictureError) -> darkroom_jpeg_result {
        let most = mostMetadata
        opened = try ask(DARKROOM_REMOTE_JPEG_OPEN, "reading the header") { state, _ in
            let jpeg = state.jpeg
            let isPossible =
                (1...UInt32(JPEGReader.largestSide)).contains(jpeg.width)
                && (1...UInt32(JPEGReader.largestSide)).contains(jpeg.height)
                && [1, 3, 4].contains(jpeg.channels) && (jpeg.channels == 4) == (jpeg.is_cmyk != 0)
                && jpeg.whole_bytes <= UInt64(Int64.max)
            let hasRoom =
                state.profile_bytes <= most
                && Self.sizes(state).allSatisfy { $0 <= Int(UInt16.max) }
            return state.result != 0 || isPossible && hasRoom ? state : nil
        }
        header = opened.jpeg
        return result(opened)
    }

    private static func sizes(_ state: darkroom_remote_state) -> [Int] {
        let sizes = state.exif_bytes
        return [sizes.0, sizes.1, sizes.2, sizes.3].map { Int($0) }
    }

    /// Permits what the picture needs, beside what it holds: groups of rows for interpolation.
    private func permit(heldBytes: Int) {
        let layout = PixelLayout(
            width: Int(opened.jpeg.width), height: Int(opened.jpeg.height),
            channels: Int(opened.jpeg.channels), depth: 8)
        permit(memory: heldBytes + JPEGReader.needs(layout, divisor: 1).bytes)
    }

    func start(
        _ decoder: darkroom_jpeg_decoder, divisor: Int, heldBytes: Int
    ) throws(PictureError) -> (darkroom_jpeg_result, width: Int, height: Int) {
        permit(heldBytes: heldBytes)
        let jpeg = opened.jpeg
        return try ask(
            DARKROOM_REMOTE_JPEG_START, "preparing to read rows", first: Int(decoder.rawValue),
            count: divisor
        ) { state, _ in
            let (width, height) = (state.widths.0, state.heights.0)
            let isPossible = (1...jpeg.width).contains(width) && (1...jpeg.height).contains(height)
            return state.result != 0 || isPossible
                ? (result(state), Int(width), Int(height)) : nil
        }
    }

    func start(
        views divisors: [Int], heldBytes: Int
    ) throws(PictureError) -> (darkroom_jpeg_result, [JPEGFile.View]) {
        permit(heldBytes: heldBytes)
        let jpeg = opened.jpeg
        let started = try ask(
            DARKROOM_REMOTE_JPEG_VIEWS, "preparing to read rows", count: divisors.count,
            sent: divisors.flatMap { number in withUnsafeBytes(of: UInt32(number)) { Array($0) } }
        ) { state, data -> (darkroom_jpeg_result, [JPEGFile.View])? in
            let views = divisors.indices.map { Self.view($0, state) }
            let isPossible = views.allSatisfy { view in
                (1...Int(jpeg.width)).contains(view.width)
                    && (1...Int(jpeg.height)).contains(view.height)
                    && (1...1024).contains(view.rowsPerStep)
            }
            let room = views.reduce(0) { $0 + $1.width * $1.rowsPerStep * Int(jpeg.channels) }
            let isUnusual = state.result == Int32(DARKROOM_JPEG_UNUSUAL.rawValue)
            return state.result != 0 || isPossible && room <= data.count
                ? (isUnusual ? DARKROOM_JPEG_UNUSUAL : result(state), views) : nil
        }
        if started.0 == DARKROOM_JPEG_OK {
            views = started.1
            given = views.map { _ in 0 }
        }
        return started
    }

    private static func view(_ index: Int, _ state: darkroom_remote_state) -> JPEGFile.View {
        func number(_ numbers: (UInt32, UInt32, UInt32, UInt32)) -> Int {
            Int([numbers.0, numbers.1, numbers.2, numbers.3][index])
        }
        return JPEGFile.View(
            width: number(state.widths), height: number(state.heights),
            rowsPerStep: number(state.rows))
    }

    func step(
        _ memory: [UnsafeMutablePointer<UInt8>]
    ) throws(PictureError) -> (darkroom_jpeg_result, [Int]) {
        let (views, channels) = (self.views, Int(opened.jpeg.channels))
        return try ask(DARKROOM_REMOTE_JPEG_STEP, "reading rows") { state, data in
            let result = result(state)
            guard result == DARKROOM_JPEG_OK else { return (result, []) }
            var next = 0
            var counts: [Int] = []
            for (index, view) in views.enumerated() {
                let count = Self.view(index, state).rowsPerStep
                guard count <= min(view.rowsPerStep, view.height - given[index]) else { return nil }
                let rowBytes = view.width * channels
                UnsafeMutableRawBufferPointer(start: memory[index], count: count * rowBytes)
                    .copyMemory(
                        from: UnsafeRawBufferPointer(
                            rebasing: data[next..<next + count * rowBytes]))
                next += view.rowsPerStep * rowBytes
                given[index] += count
                counts.append(count)
            }
            return (result, counts)
        }
    }

    func absorb() throws(PictureError) -> (darkroom_jpeg_result, isComplete: Bool) {
        try ask(DARKROOM_REMOTE_JPEG_ABSORB, "reading the scans") { state, _ in
            (result(state), state.value != 0)
        }
    }

    func read(
        _ count: Int, _ bytesPerRow: Int, to start: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> darkroom_jpeg_result {
        let state = try read(DARKROOM_REMOTE_JPEG_ROWS, count, bytesPerRow, sends: false, to: start)
        return result(state)
    }

    func finish() throws(PictureError) -> darkroom_jpeg_result {
        try ask(
            DARKROOM_REMOTE_JPEG_FINISH, "reading the data after the last row"
        ) { state, _ in result(state) }
    }

    var isReference: Bool { current.is_reference != 0 }

    func exifs() throws(PictureError) -> [[UInt8]] {
        var exifs: [[UInt8]] = []
        for (index, bytes) in Self.sizes(opened).enumerated() {
            let which = Int(DARKROOM_REMOTE_EXIF.rawValue) + index
            if let exif = try fact(DARKROOM_REMOTE_JPEG_FACT, which, bytes: bytes) {
                exifs.append(exif)
            }
        }
        return exifs
    }

    func profile() throws(PictureError) -> [UInt8]? {
        try fact(
            DARKROOM_REMOTE_JPEG_FACT, Int(DARKROOM_REMOTE_PROFILE.rawValue),
            bytes: Int(opened.profile_bytes))
    }

    var segments: [String] { names }
}
