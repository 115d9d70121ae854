package import SystemPackage

/// Where a picture's filtered pixels are written besides its output, which loses some of them: a PNG with all
/// that the output would have if it were one, of the colour, the profile and Exif.
package struct HandOver {
    /// Written from the current offset on; neither synchronised nor closed.
    package let file: FileDescriptor
    /// What messages call the file.
    package let name: String

    /// It is read once or a few times and then removed.
    static let compression = PNGWriter.Compression.fast

    package init(file: FileDescriptor, name: String) {
        self.file = file
        self.name = name
    }
}

/// The last stage of a picture that is handed over: lends the bands on to the writer of the output, and writes
/// them on their way. So a picture is decoded and filtered once.
final class HandOverStage: Stage {
    let layout: PixelLayout
    private let upstream: any Stage
    private let writer: PNGWriter
    private var isFinished = false

    init(
        _ upstream: any Stage, to handOver: HandOver, colour: PNGColour, exif: [UInt8]?,
        cores: Cores, ahead: ReadAhead?
    ) throws(PictureError) {
        self.upstream = upstream
        layout = upstream.layout
        writer = try PNGWriter(
            layout, to: handOver.file, name: handOver.name, colour: colour, exif: exif,
            compression: HandOver.compression, cores: cores, ahead: ahead)
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let band = try upstream.nextBand() else {
            if !isFinished { _ = try writer.finish() }
            isFinished = true
            return nil
        }
        // Before the borrower, who may change it.
        try writer.add(band)
        return band
    }

    func close() { writer.close() }
}
