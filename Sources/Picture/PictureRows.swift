import DarkroomCore

/// The rows of a PNG or JPEG file, decoded from the top and filtered as they are asked for.
///
/// ```swift
/// var rows = try PictureRows(contentsOf: "beach.png", filters: [.mono])
/// var sum = 0
/// try rows.forEachBand { samples, _ in
///     for index in samples.indices { sum += Int(samples[index]) }
/// }
/// ```
///
/// Palettes have become RGB, samples of fewer than 8 bits have 8, transparent colours have become alpha. Gray stays
/// gray, 16 bits stay 16. A colour profile is not applied. All work is done on the thread that calls.
public struct PictureRows: ~Copyable {
    /// Of the rows, behind the filters.
    public let layout: PixelLayout

    private let name: String
    private let file: Descriptor
    private let reader: any PictureReader
    private let context: StageContext
    private let last: any Stage
    private var end: End?

    /// What is said again when nothing comes any more.
    private enum End {
        case lastRow
        case failure(PictureError)
    }

    /// Reads the header. A filter that must see the whole picture to know its size, `trim`, reads all of it.
    ///
    /// - Parameters:
    ///   - path: of a PNG or JPEG file, told by its first bytes.
    ///   - filters: in the order in which they act.
    ///   - autoOrient: whether to turn the picture upright first, as its camera has noted in Exif.
    ///   - limits: how large the picture may be.
    ///   - isCancelled: asked before each band; true ends the call with ``PictureError/Code/cancelled``. By itself the
    ///     cancellation of the calling task does.
    /// - Throws: What is wrong with the file, a filter or the file system.
    public init(
        contentsOf path: String, filters: [PictureFilter] = [], autoOrient: Bool = true,
        limits: PictureLimits = PictureLimits(),
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws(PictureError) {
        let steps = try PictureSteps(filters, autoOrient, limits, isCancelled)
        let file = try PicturePath.openForReading(path)
        do throws(PictureError) {
            let reader = try steps.open(file.file, name: path)
            let context = try steps.context(for: reader)
            let last = try steps.filtered(reader, of: reader, context).stage
            self.init(name: path, file: file, reader: reader, context: context, last: last)
        } catch {
            throw error.naming(path, or: [])
        }
    }

    private init(
        name: String, file: consuming Descriptor, reader: any PictureReader, context: StageContext,
        last: any Stage
    ) {
        layout = last.layout
        self.name = name
        self.file = file
        self.reader = reader
        self.context = context
        self.last = last
    }

    /// What was remarked on the file and let pass, so far: all of it after the last row.
    public var warnings: [String] { reader.warnings + context.remarks.all }

    /// Lends all rows that are left, band by band, as ``next(_:)`` does.
    public mutating func forEachBand(
        _ body: (_ samples: Span<UInt8>, _ rows: Range<Int>) -> Void
    ) throws(PictureError) {
        while try next(body) {}
    }

    /// Lends the next rows, a band of some 128 KiB.
    ///
    /// - Parameter body: is given the samples, one row behind the other as ``layout`` says, and which rows these are.
    ///   Samples of 16 bits are `UInt16`, loaded through `samples.bytes`.
    /// - Returns: False after the last row, and then `body` is not called.
    /// - Throws: What is wrong with the file. Damage behind the last row is thrown by the call that would return false.
    public mutating func next(
        _ body: (_ samples: Span<UInt8>, _ rows: Range<Int>) -> Void
    ) throws(PictureError) -> Bool {
        switch end {
        case .lastRow: return false
        case .failure(let error): throw error
        case nil: break
        }
        do throws(PictureError) {
            guard let band = try last.nextBand() else {
                // A filter that needed only a part of the picture has left the rest unread.
                try reader.drain()
                end = .lastRow
                return false
            }
            let samples = UnsafeBufferPointer(
                start: band.start.assumingMemoryBound(to: UInt8.self),
                count: band.rows.count * layout.bytesPerRow)
            body(samples.span, band.rows)
            return true
        } catch {
            let error = error.naming(name, or: [])
            end = .failure(error)
            throw error
        }
    }
}
