import DarkroomCore
package import SystemPackage

/// What the header of a picture tells, before a pixel is decoded: the facts from which `PeakMemory` calculates what will
/// become of it.
package struct PictureHeader: Sendable, Equatable {
    package let kind: InputFormat
    /// The layout of the decoded picture, if it is not reduced.
    package let layout: PixelLayout
    /// The bits per sample of the file's colours, which may be fewer than those of the decoded picture.
    package let storedDepth: Int
    package let orientation: Orientation
    /// The memory for an interlaced or progressive picture, or of the codec program, in bytes; 0 for any other picture.
    package let heldBytes: Int
    /// Whether it can be reduced when it is decoded, and that memory then.
    private let canReduce: Bool
    private let heldBytesIfReduced: Int
    /// The size of the colour profile.
    package let profileBytes: Int

    /// Reads the header of a file.
    ///
    /// - Parameters:
    ///   - file: a regular file at the picture's beginning.
    ///   - name: the name of the file in messages.
    ///   - page: of a file with several pages, from 1.
    /// - Throws: the errors of the pipeline for this part of the file.
    package init(
        of file: FileDescriptor, name: String, limits: PictureLimits = PictureLimits(),
        page: Int? = nil
    ) throws(PictureError) {
        let kind = try InputFormat(of: file, name: name)
        let reader = try PictureDecoder.reader(
            of: PictureDecoder.Input(.file(file), name: name, limits: limits, page: page))
        self.kind = kind
        layout = reader.layout
        storedDepth = reader.facts.storedDepth
        orientation = reader.orientation
        heldBytes = reader.heldBytes
        canReduce = reader.facts.canReduce
        heldBytesIfReduced = reader.facts.heldBytesIfReduced ?? reader.heldBytes
        profileBytes = reader.colour.profile?.bytes.count ?? 0
    }

    /// The header of the pixels that a picture's filters have made, as other images of the batch read them.
    ///
    /// - Parameters:
    ///   - source: the picture's header.
    ///   - layout: the layout after the last filter.
    ///   - autoOrient: whether the picture was turned upright.
    ///   - options: those of its output.
    package init(
        ofResultOf source: PictureHeader, layout: PixelLayout, autoOrient: Bool,
        options: OutputOptions
    ) {
        kind = .png
        self.layout = layout
        storedDepth = layout.depth
        let isUpright = autoOrient || !options.metadata.keepsOrientation
        orientation = isUpright ? .topLeft : source.orientation
        heldBytes = 0
        canReduce = false
        heldBytesIfReduced = 0
        // A step may drop the profile.
        profileBytes = source.profileBytes
    }

    /// The facts for the calculation of memory.
    ///
    /// - Parameter steps: the first filter may have the picture reduced when it is decoded.
    package func source(for steps: PictureSteps) -> PeakMemory.Source {
        source(
            divisor: steps.divisor(
                width: layout.width, height: layout.height, orientation: orientation))
    }

    /// The same for a picture that is laid over another one.
    package var overlay: PeakMemory.Source { source(divisor: 1) }

    private var decoder: PictureDecoder {
        guard let decoder = PictureDecoder.decoder(of: kind) else {
            preconditionFailure("the header of a picture that cannot be read")
        }
        return decoder
    }

    /// `interlaced` or `progressive`, if its rows are not stored one after the other.
    package var heldWord: String? { heldBytes > 0 ? decoder.heldWord : nil }

    private func source(divisor wanted: Int) -> PeakMemory.Source {
        let divisor = canReduce ? wanted : 1
        let reduced = layout.reduced(by: divisor)
        var source = PeakMemory.Source(decoder.needs(reduced, divisor), reduced)
        source.storedSize = ResizePlan.Size(width: layout.width, height: layout.height)
        source.divisor = divisor
        source.orientation = orientation
        source.heldBytes = divisor > 1 ? heldBytesIfReduced : heldBytes
        source.profileBytes = profileBytes
        return source
    }
}

extension PictureError {
    /// A picture needs more memory than one picture may have.
    ///
    /// - Parameters:
    ///   - bytes: the upper bound of what it needs.
    ///   - limit: what one picture may have.
    package static func memoryLimit(_ bytes: Int, limit: Int) -> PictureError {
        PictureError(
            .memoryLimit,
            "filtering it takes up to \(Units.bytes(bytes)) of memory, more than the"
                + " \(Units.bytes(limit)) that limits.memory allows one picture")
    }
}
