package import SystemPackage

/// The file for a picture's filtered pixels, in addition to a lossy output: a PNG with the colour, the profile, the Exif
/// and the XMP of the output. A PNG has no IPTC.
package struct HandOverFile {
    /// Written from the current offset on. It is neither synced nor closed.
    package let file: FileDescriptor
    /// The name of the file in messages.
    package let name: String

    /// The file is read once or a few times and then removed.
    package static let options = OutputOptions(compression: .fast)

    package init(file: FileDescriptor, name: String) {
        self.file = file
        self.name = name
    }
}

/// The last stage of a picture that is handed over. It lends the bands to the writer of the output, and also writes
/// them. So a picture is decoded and filtered only once.
final class HandOverStage: Stage {
    let layout: PixelLayout
    private let upstream: any Stage
    private let writer: PNGWriter
    private var isFinished = false

    init(_ upstream: any Stage, to handOver: HandOverFile, like output: PictureEncoder.Input)
        throws(PictureError)
    {
        self.upstream = upstream
        layout = upstream.layout
        var copy = PictureEncoder.Input(upstream, to: handOver.file, name: handOver.name)
        copy.options = HandOverFile.options
        (copy.colour, copy.exif, copy.xmp) = (output.colour.spelledOut, output.exif, output.xmp)
        (copy.cores, copy.ahead) = (output.cores, output.ahead)
        writer = try PNGWriter(copy)
    }

    func nextBand() throws(PictureError) -> Band? {
        guard let band = try upstream.nextBand() else {
            if !isFinished { _ = try writer.finish() }
            isFinished = true
            return nil
        }
        // This precedes the borrower, who may change the band.
        try writer.add(band)
        return band
    }

    func close() { writer.close() }
}
