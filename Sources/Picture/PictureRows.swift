import DarkroomCore

/// The rows of a picture file, decoded and filtered from the top when they are requested.
///
/// ```swift
/// var rows = try PictureRows(contentsOf: "beach.png", filters: [.mono])
/// var sum = 0
/// try rows.forEachBand { samples, _ in
///     for index in samples.indices { sum += Int(samples[index]) }
/// }
/// ```
///
/// Palettes become RGB, samples of fewer than 8 bits get 8, transparent colours become alpha. Gray stays gray, 16 bits
/// stay 16. A colour profile is not applied. The calling thread does all work.
public struct PictureRows: ~Copyable {
    /// The layout of the rows after the filters.
    public let layout: PixelLayout

    private let name: String
    private let file: Descriptor
    private let reader: any PictureReader
    private let context: StageContext
    private let last: any Stage
    private var end: End?

    /// The result of further calls after the end.
    private enum End {
        case lastRow
        case failure(PictureError)
    }

    /// Reads the header. A filter that must read the whole picture to know its size, `trim`, reads all of it.
    ///
    /// - Parameters:
    ///   - path: a file of a format that is read, recognised by its first bytes.
    ///   - filters: in the order in which they are applied.
    ///   - autoOrient: whether the picture is first turned upright, as recorded in its Exif.
    ///   - limits: the limits of the picture.
    ///   - isCancelled: called before each band; true ends the call with ``PictureError/Code/cancelled``. The default
    ///     is the cancellation of the calling task.
    /// - Throws: What is wrong with the file, a filter or the file system.
    public init(
        contentsOf path: String, filters: [PictureFilter] = [], autoOrient: Bool = true,
        limits: PictureLimits = PictureLimits(),
        isCancelled: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws(PictureError) {
        let steps = try PictureSteps(filters, autoOrient: autoOrient, limits, isCancelled)
        let file = try PicturePath.openForReading(path)
        do throws(PictureError) {
            let reader = try steps.open(.file(file.file), name: path)
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

    /// Remarks about the file so far, which are not errors. They are complete after the last row.
    public var warnings: [String] { reader.warnings + context.remarks }

    /// Lends all rows that are left, band by band, as ``next(_:)`` does.
    public mutating func forEachBand(
        _ body: (_ samples: Span<UInt8>, _ rows: Range<Int>) -> Void
    ) throws(PictureError) {
        while try next(body) {}
    }

    /// Lends the next rows, a band of about 128 KiB.
    ///
    /// - Parameter body: gets the samples, one row after the other as ``layout`` says, and the numbers of these rows.
    ///   Samples of 16 bits are `UInt16`, loaded through `samples.bytes`.
    /// - Returns: False after the last row. Then `body` is not called.
    /// - Throws: What is wrong with the file. The call that would return false throws the error for damage after the
    ///   last row.
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
                // A filter that needed only a part of the picture has not read the rest.
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
