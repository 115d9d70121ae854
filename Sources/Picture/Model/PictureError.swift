package import DarkroomCore
public import FoundationEssentials
import SystemPackage

/// The reason why a picture could not be read, filtered or written.
///
/// `\(error)` is the message and the code: `beach.png: reading row 7 of 90: … [png-data]`.
public struct PictureError: Error, Equatable, CustomStringConvertible {
    /// The kind of an error. The raw values are stable, for programs and logs. darkroom-status(5) explains most of
    /// them. New versions may have more of them.
    @nonexhaustive public enum Code: String, Sendable, CaseIterable {
        /// The file does not begin like a picture. The message says what it looks like.
        case notAPicture = "not-a-picture"
        /// A kind of picture that this version does not read.
        case unsupportedFormat = "unsupported-format"
        /// A PNG whose signature was changed, for example by a transfer as text.
        case pngSignature = "png-signature"
        /// A PNG without rows or columns, or with more than 2³¹ − 1 of them.
        case pngDimensions = "png-dimensions"
        /// A chunk's checksum does not match its bytes.
        case pngCRC = "png-crc"
        /// The file ends before the end of the picture.
        case pngTruncated = "png-truncated"
        /// The checksum of the decompressed pixels does not match.
        case pngAdler = "png-adler"
        /// The header is missing, damaged or contradictory.
        case pngHeader = "png-header"
        /// The compressed pixels cannot be decompressed, or their number is wrong.
        case pngData = "png-data"
        /// A pixel has an index that is not in the palette.
        case pngPalette = "png-palette"
        /// Any other error of libpng. The message contains libpng's text.
        case pngInvalid = "png-invalid"
        /// The file ends before the end of the picture.
        case jpegTruncated = "jpeg-truncated"
        /// The part before the pixels is missing, damaged or contradictory.
        case jpegHeader = "jpeg-header"
        /// The compressed pixels cannot be decompressed, or their number is wrong.
        case jpegData = "jpeg-data"
        /// A kind of JPEG that libjpeg does not read: 12 bits, lossless, hierarchical.
        case jpegUnsupported = "jpeg-unsupported"
        /// Any other error of libjpeg. The message contains libjpeg's text.
        case jpegInvalid = "jpeg-invalid"
        /// The file of a picture that a codec program reads ends before the end of the picture.
        case pictureTruncated = "picture-truncated"
        /// The file of a picture that a codec program reads is damaged. The message contains the library's text.
        case pictureDamaged = "picture-damaged"
        /// The file has fewer pages than the number of the page that is wanted.
        case pageMissing = "page-missing"
        /// No program for this kind of picture is installed. The message names the package.
        case codecMissing = "codec-missing"
        /// The program that reads or writes this kind of picture has ended by a signal, or says what makes no sense.
        case codecCrashed = "codec-crashed"
        /// The program has used more of the processor's time than it may for one picture.
        case codecTime = "codec-time"
        /// The result is to have the format of its source, and no files of this format are written, or the name of the
        /// source does not tell it.
        case formatNotWritten = "format-not-written"
        /// The picture has more pixels than the limit allows. This is known from the header, before anything is
        /// decoded.
        case tooManyPixels = "too-many-pixels"
        /// Even with the lowest quality that is tried, the result has more bytes than `output.maxBytes` allows. The message
        /// has the bytes of the smallest trial.
        case tooManyBytes = "too-many-bytes"
        /// The picture needs more memory than the daemon's setting `limits.memory` allows. This is known from the
        /// header.
        case memoryLimit = "memory-limit"
        /// A filter's rectangle is not within the picture, or its result would have no pixels.
        case filterOutside = "filter-outside"
        /// The picture has warnings, and the manifest or an option makes them errors. The message contains them.
        case warned = "picture-warning"
        /// The file could not be read.
        case readFailed = "read-failed"
        /// The output could not be written.
        case writeFailed = "write-failed"
        /// The system has no memory available.
        case outOfMemory = "out-of-memory"
        /// It was cancelled between two bands.
        case cancelled = "cancelled"
        /// A filter, an output, a limit or a layout of the caller is outside its range.
        case invalidArguments = "invalid-arguments"
    }

    /// The kind of the error, for a `switch`.
    public package(set) var kind: Code
    /// One sentence that names the file, the step and the cause.
    public package(set) var message: String
    /// Whether the same call may succeed later without a change: for example, the disk was full or there was not enough
    /// memory.
    public package(set) var isTransient: Bool
    package var storageFailure: StorageFailure?

    /// The raw value of `kind`: `png-truncated`.
    public var code: String { kind.rawValue }

    /// The message, then the code in brackets.
    public var description: String { "\(message) [\(code)]" }

    package init(
        _ kind: Code, _ message: String, isTransient: Bool = false,
        storageFailure: StorageFailure? = nil
    ) {
        self.kind = kind
        self.message = message
        self.isTransient = isTransient
        self.storageFailure = storageFailure
    }

    /// The failure of a system call on a file.
    ///
    /// - Parameter place: the file's name and the step.
    init(_ kind: Code, _ place: String, _ cause: Errno) {
        let failure = cause.storageFailure
        self.init(
            kind, "\(place): \(cause)", isTransient: failure == .full || failure == .scarce,
            storageFailure: failure)
    }

    /// The failure of a write, which is nearly always one of the system.
    ///
    /// - Parameter place: the file's name and the step.
    static func writeFailed(_ place: String, _ cause: any Error) -> Self {
        (cause as? Errno).map { Self(.writeFailed, place, $0) }
            ?? Self(.writeFailed, "\(place): \(cause)")
    }

    /// Refuses a caller's number outside a range.
    ///
    /// - Parameter name: what has the value, for the message.
    static func check(
        _ value: Int, _ range: ClosedRange<Int>, _ name: String
    ) throws(PictureError) {
        if range.contains(value) { return }
        throw PictureError(
            .invalidArguments,
            "\(name) must be \(range.lowerBound) to \(range.upperBound), not \(value)")
    }

    /// - Parameter place: the file's name and the step.
    static func outOfMemory(_ place: String, _ words: String) -> Self {
        Self(.outOfMemory, "\(place): \(words)", isTransient: true)
    }
}

extension PictureError {
    /// The error of a picture whose warnings are errors; nil if there are none.
    ///
    /// - Parameter name: the picture's name in messages.
    package static func warned(_ warnings: [String], of name: String) -> Self? {
        guard !warnings.isEmpty else { return nil }
        let subject = warnings.count == 1 ? "a warning is an error" : "warnings are errors"
        return Self(
            .warned, "\(name): \(subject) here (strict): \(warnings.joined(separator: "; "))")
    }
}

extension PictureError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

extension PictureError: CodedError {}
