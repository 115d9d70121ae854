import DarkroomCore
import Glibc
import SystemPackage

/// Reads a PNG or JPEG file, filters it and writes a PNG or JPEG file.
///
///     let converter = PictureConverter(
///         filters: [.sepia(intensity: 0.8), .resize(.init(width: 800))],
///         output: OutputOptions(format: .jpeg, quality: 88))
///     let report = try converter.convert("beach.png", to: "beach.jpg")
///     print(report.width, report.height, report.bytes)
///
/// The picture goes through in bands of rows: memory does not grow with it, but for the filters and files that
/// ``PictureLimits/wholePictureBytes`` names. The filters act in their order on 8 or 16 bits a sample, as sRGB values
/// are stored, on colour that is not multiplied by alpha. Idle cores help; any number of threads may convert at once.
public struct PictureConverter: Sendable {
    /// In the order in which they act.
    public var filters: [Filter]
    public var output: OutputOptions
    public var limits: PictureLimits
    /// Whether to turn the picture upright first, as its camera has noted in Exif.
    public var autoOrient: Bool
    /// The files of the pictures that `Filter.overlay` names.
    public var overlays: [String: String]

    public init(
        filters: [Filter] = [], output: OutputOptions = OutputOptions(),
        limits: PictureLimits = PictureLimits(), autoOrient: Bool = true,
        overlays: [String: String] = [:]
    ) {
        self.filters = filters
        self.output = output
        self.limits = limits
        self.autoOrient = autoOrient
        self.overlays = overlays
    }

    /// Writes the result beside `result` and renames it there when it is whole: `result` is replaced, or left as it is.
    /// Nothing is synced.
    ///
    /// - Parameters:
    ///   - source: the path of a PNG or JPEG, told by its first bytes.
    ///   - result: the path of the file to write, whatever its extension; its folder must exist.
    ///   - isCancelled: asked before each band, perhaps by two threads at once; true ends with `cancelled`.
    /// - Throws: what is wrong with the picture, a filter or the file system. `code` is stable, as darkroom-status(5)
    ///   lists them; `message` names file, step and cause; `isTransient` says whether the same may succeed later.
    @discardableResult
    public func convert(
        _ source: String, to result: String,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(PictureError) -> PictureReport {
        let input = try Self.opened(source, .readOnly, .readFailed)
        defer { try? input.close() }
        let part = "\(result).\(UInt64.random(in: 0...UInt64.max)).part"
        let output = try Self.opened(
            part, .writeOnly, .writeFailed, options: [.create, .exclusiveCreate])
        do throws(PictureError) {
            defer { try? output.close() }
            let report = try run(input, source, output, result, isCancelled)
            guard rename(part, result) == 0 else {
                throw PictureError(
                    .writeFailed, "\(result): renaming it: \(Errno(rawValue: errno))")
            }
            return report
        } catch {
            unlink(part)
            throw error
        }
    }

    private func run(
        _ input: FileDescriptor, _ source: String, _ output: FileDescriptor, _ result: String,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(PictureError) -> PictureReport {
        try PicturePipeline.run(
            input: input, inputName: source, autoOrient: autoOrient, filters: filters,
            output: output, outputName: result, options: self.output, limits: limits,
            openImage: { [overlays] name throws(PictureError) in
                guard let path = overlays[name] else { return try StageContext.noImage(name) }
                let file = try Self.opened(path, .readOnly, .readFailed)
                return OtherImage(Descriptor(owning: file.rawValue), name: path)
            }, checkpoint: { !isCancelled() })
    }

    private static func opened(
        _ path: String, _ mode: FileDescriptor.AccessMode, _ code: PictureError.Code,
        options: FileDescriptor.OpenOptions = []
    ) throws(PictureError) -> FileDescriptor {
        do {
            return try FileDescriptor.open(
                FilePath(path), mode, options: options.union(.closeOnExec),
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
        } catch {
            throw PictureError(code, "\(path): opening it: \(error)")
        }
    }
}

/// The rows of a PNG or JPEG file, decoded from the top as they are asked for.
///
/// Belongs to one thread at a time.
public final class PictureRows {
    private let file: FileDescriptor
    private let reader: any PictureReader

    /// Reads the header.
    ///
    /// - Throws: as ``PictureConverter/convert(_:to:isCancelled:)``.
    public init(contentsOf path: String, limits: PictureLimits = PictureLimits())
        throws(PictureError)
    {
        do {
            file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        } catch {
            throw PictureError(.readFailed, "\(path): opening it: \(error)")
        }
        do throws(PictureError) {
            reader = try PictureFile.open(file, name: path, limits: limits, checkpoint: { true })
        } catch {
            try? file.close()
            throw error
        }
    }

    deinit { try? file.close() }

    /// Width and height in pixels, channels and bits of a sample of the rows.
    public var layout: PixelLayout { reader.layout }

    /// Lends the next rows: samples without padding, of 16 bits in the machine's byte order, valid during the call only.
    /// Palettes have become RGB; gray stays gray.
    ///
    /// - Parameter body: is given the samples, and which rows of the picture they are.
    /// - Returns: false after the last row, and then `body` is not called.
    public func next(
        _ body: (_ samples: UnsafeRawBufferPointer, _ rows: Range<Int>) -> Void
    ) throws(PictureError) -> Bool {
        guard let band = try reader.nextBand() else { return false }
        body(
            UnsafeRawBufferPointer(start: band.start, count: band.rows.count * layout.bytesPerRow),
            band.rows)
        return true
    }
}
