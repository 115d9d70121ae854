import ArgumentParser
import DarkroomPicture
import SystemPackage

/// What is measured: one row of the goals each.
enum Job: String, CaseIterable, ExpressibleByArgument {
    case saturate, hueRotate, contrast, sepia, grayscale, mono, fast, small, resize, decode

    /// The words that peers know the job by: they have one default compression, and no `mono`.
    var peerName: String {
        switch self {
        case .fast, .small: "saturate"
        case .mono: "grayscale"
        default: rawValue
        }
    }

    var filters: [Filter] {
        switch self {
        case .saturate, .fast, .small: [.saturate(amount: 1.3)]
        case .hueRotate: [.hueRotate(angle: 90)]
        case .contrast: [.contrast(amount: 1.2)]
        case .sepia: [.sepia(intensity: 1)]
        case .grayscale: [.grayscale(amount: 1)]
        case .mono: [.mono]
        case .resize: [.resize(Filter.Resize(width: 800))]
        case .decode: []
        }
    }

    var compression: PNGWriter.Compression {
        switch self {
        case .fast: .fast
        case .small: .small
        default: .balanced
        }
    }

    /// ImageMagick's options for the same, as near as it has them.
    var magickOptions: [String] {
        switch self {
        case .saturate, .fast, .small:
            Self.matrix("1.2361 -.2145 -.0216 -.0639 1.0855 -.0216 -.0639 -.2145 1.2784")
        case .hueRotate: Self.matrix("0 0 1 .356 .855 -.211 -.574 1.43 .144")
        case .contrast: ["-function", "Polynomial", "1.2,-.1"]
        case .sepia: Self.matrix(".393 .769 .189 .349 .686 .168 .272 .534 .131")
        case .grayscale, .mono: ["-grayscale", "Rec709Luma"]
        case .resize: ["-filter", "Lanczos", "-resize", "800"]
        case .decode: []
        }
    }

    private static func matrix(_ numbers: String) -> [String] { ["-color-matrix", numbers] }

    /// Whether `peers libpng` does it.
    var isForLibpng: Bool { self != .resize }

    func run(input: String, output: String) throws {
        let source = try FileDescriptor.open(FilePath(input), .readOnly)
        try source.closeAfter {
            if self == .decode {
                try PNGReader(PictureDecoder.Input(.file(source), name: input)).drain()
                return
            }
            let target = try FileDescriptor.open(
                FilePath(output), .writeOnly, options: [.create, .truncate],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            try target.closeAfter {
                _ = try PicturePipeline.run(
                    PictureConversion(
                        input, PictureSteps(filters, OutputOptions(compression: compression)),
                        to: PictureResult(target, name: output)), .file(source))
            }
        }
    }
}
