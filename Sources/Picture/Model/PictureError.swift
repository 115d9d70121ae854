package import DarkroomCore
public import FoundationEssentials
import SystemPackage

/// Why a picture could not be read, filtered or written.
///
/// `\(error)` is the message and the code: `beach.png: reading row 7 of 90: … [png-data]`.
public struct PictureError: Error, Equatable, CustomStringConvertible {
    /// What is wrong. The raw values are stable, for programs and for logs; darkroom-status(5) explains most of them.
    /// New versions may have further ones.
    @nonexhaustive public enum Code: String, Sendable, CaseIterable {
        /// The bytes do not begin as a picture's; the message says what they look like.
        case notAPicture = "not-a-picture"
        /// A picture of a kind this version does not read.
        case unsupportedFormat = "unsupported-format"
        /// A PNG whose signature was changed on the way, as by a transfer as text.
        case pngSignature = "png-signature"
        /// A PNG without rows or columns, or with more than 2³¹ − 1 of them.
        case pngDimensions = "png-dimensions"
        /// A chunk's checksum does not match its bytes.
        case pngCRC = "png-crc"
        /// The file ends before the picture does.
        case pngTruncated = "png-truncated"
        /// The checksum of the decompressed pixels does not match.
        case pngAdler = "png-adler"
        /// The header is missing, broken or contradicts itself.
        case pngHeader = "png-header"
        /// The compressed pixels cannot be decompressed, or are too many or too few.
        case pngData = "png-data"
        /// A pixel has a number beyond the palette.
        case pngPalette = "png-palette"
        /// Anything else that libpng refuses; the message carries its words.
        case pngInvalid = "png-invalid"
        /// An animation, which is not flattened silently.
        case animated = "png-animated"
        /// The file ends before the picture does.
        case jpegTruncated = "jpeg-truncated"
        /// What comes before the pixels is missing, broken or contradicts itself.
        case jpegHeader = "jpeg-header"
        /// The compressed pixels cannot be decompressed, or are too many or too few.
        case jpegData = "jpeg-data"
        /// Four colour components, as of CMYK, which are not turned into RGB by guess.
        case jpegCMYK = "jpeg-cmyk"
        /// A kind of JPEG that libjpeg does not read: 12 bits, lossless, hierarchical.
        case jpegUnsupported = "jpeg-unsupported"
        /// Anything else that libjpeg refuses; the message carries its words.
        case jpegInvalid = "jpeg-invalid"
        /// More pixels than the limit allows, told from the header before anything is decoded.
        case tooManyPixels = "too-many-pixels"
        /// More memory would be needed than the daemon's setting `limits.memory` allows, told from the header.
        case memoryLimit = "memory-limit"
        /// A filter's rectangle does not lie within the picture, or its result would have no pixels.
        case filterOutside = "filter-outside"
        /// The file could not be read.
        case readFailed = "read-failed"
        /// The output could not be written.
        case writeFailed = "write-failed"
        /// The system gave no memory.
        case outOfMemory = "out-of-memory"
        /// It was cancelled between two bands.
        case cancelled = "cancelled"
        /// A filter, an output, a limit or a layout that a caller has made is outside its range.
        case invalidArguments = "invalid-arguments"

        /// Whether an image of a manifest can end so. A manifest's filters and outputs are checked when it is read.
        package var isOfManifests: Bool { self != .invalidArguments }
    }

    /// What is wrong, for a `switch`.
    public package(set) var kind: Code
    /// One sentence that names the file, the step and the cause.
    public package(set) var message: String
    /// Whether the same call may succeed later with nothing changed: the disk was full, memory was short.
    public package(set) var isTransient: Bool
    package var fault: StorageFault?

    /// The raw value of `kind`: `png-truncated`.
    public var code: String { kind.rawValue }

    /// The message, then the code in brackets.
    public var description: String { "\(message) [\(code)]" }

    package init(
        _ kind: Code, _ message: String, isTransient: Bool = false, fault: StorageFault? = nil
    ) {
        self.kind = kind
        self.message = message
        self.isTransient = isTransient
        self.fault = fault
    }

    /// What a call has failed with that concerns a file.
    ///
    /// - Parameter place: the file's name and the step.
    init(_ kind: Code, _ place: String, _ cause: Errno) {
        let fault = cause.storageFault
        self.init(
            kind, "\(place): \(cause)", isTransient: fault == .full || fault == .scarce,
            fault: fault)
    }

    /// - Parameter place: the file's name and the step.
    static func outOfMemory(_ place: String, _ words: String) -> Self {
        Self(.outOfMemory, "\(place): \(words)", isTransient: true)
    }
}

extension PictureError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

extension PictureError: CodedError {}
