import DarkroomCore
package import SystemPackage

/// The kind of a file, determined from its first bytes, never from a name or a Content-Type.
package enum InputFormat: Sendable, Equatable, CaseIterable {
    case png
    /// A PNG signature with other line ends: a program has changed it because it treated the file as text.
    case mangledPNG
    case jpeg, gif, webp, tiff, bmp, avif, heic, jpeg2000, jpegXL, icon, photoshop, openEXR, fits
    case mng, jng
    /// What a camera's sensor has measured, in a format of its maker.
    case cameraRaw
    case svg, pdf, postscript
    case video
    case html, xml, json, text
    case gzip, zip, bzip2, xz, zstandard
    case empty, unknown

    /// The number of bytes that are enough to recognise every kind.
    package static let prefixLength = 64

    /// Recognises the first bytes of a file: `prefixLength` bytes, or all if the file is shorter.
    package init(prefix: some Collection<UInt8>) {
        let bytes = Array(prefix.prefix(256))
        if bytes.isEmpty {
            self = .empty
        } else if let kind = Self.raw(bytes) ?? Self.magic(of: bytes) ?? Self.mangled(bytes)
            ?? Self.container(of: bytes)
        {
            self = kind
        } else {
            self = Self.textual(bytes)
        }
    }

    /// Recognises the next bytes of a regular file, and does not change its offset.
    ///
    /// - Parameter name: the name of the file in messages.
    package init(of file: FileDescriptor, name: String) throws(PictureError) {
        do {
            let offset = try file.seek(offset: 0, from: .current)
            self.init(prefix: try file.bytes(Self.prefixLength, at: Int(offset)))
        } catch {
            throw PictureError(
                .readFailed, "\(name): reading the first bytes: \(error)", isTransient: true)
        }
    }

    /// Whether this is a picture, whether readable or not.
    package var isPicture: Bool {
        switch self {
        case .png, .mangledPNG, .jpeg, .gif, .webp, .tiff, .bmp, .avif, .heic, .jpeg2000, .jpegXL,
            .icon,
            .photoshop, .openEXR, .fits, .mng, .jng, .cameraRaw, .svg, .pdf, .postscript:
            true
        case .video, .html, .xml, .json, .text, .gzip, .zip, .bzip2, .xz, .zstandard, .empty,
            .unknown:
            false
        }
    }

    /// The kind as the complement of "this is …".
    package var words: String {
        switch self {
        case .png: "a PNG picture"
        case .mangledPNG:
            "a PNG picture whose first bytes were changed, for example by a transfer as text"
        case .jpeg: "a JPEG picture"
        case .gif: "a GIF picture"
        case .webp: "a WebP picture"
        case .tiff: "a TIFF picture"
        case .bmp: "a BMP picture"
        case .avif: "an AVIF picture"
        case .heic: "a HEIC picture"
        case .jpeg2000: "a JPEG 2000 picture"
        case .jpegXL: "a JPEG XL picture"
        case .icon: "a Windows icon"
        case .photoshop: "a Photoshop document"
        case .openEXR: "an OpenEXR picture"
        case .fits: "a FITS file"
        case .mng: "an MNG animation"
        case .jng: "a JNG picture"
        case .cameraRaw: "a raw file of a camera"
        case .svg: "an SVG drawing"
        case .pdf: "a PDF document"
        case .postscript: "a PostScript document"
        case .video: "a video or a recording of sound, not a picture"
        case .html: "an HTML page, not a picture"
        case .xml: "an XML document, not a picture"
        case .json: "a JSON document, not a picture"
        case .text: "plain text, not a picture"
        case .gzip: "gzip-compressed data, not a picture"
        case .zip: "a ZIP archive, not a picture"
        case .bzip2: "bzip2-compressed data, not a picture"
        case .xz: "xz-compressed data, not a picture"
        case .zstandard: "Zstandard-compressed data, not a picture"
        case .empty: "an empty file"
        case .unknown: "data of an unknown kind, not a picture"
        }
    }

    /// What a person can do with a file of a kind that is not read, as the end of a sentence; nil if that is plain.
    var remedy: String? {
        switch self {
        case .jpeg2000, .icon, .openEXR, .fits, .mng, .jng: "convert it to PNG"
        case .photoshop: "export it as PNG or TIFF"
        case .cameraRaw: "develop it to TIFF or JPEG, for example with darktable-cli"
        case .svg: "draw it in the size that you need, for example with rsvg-convert"
        case .pdf: "make pictures of its pages, for example with pdftoppm -png"
        case .postscript: "make pictures of its pages, for example with gs"
        case .video: "take a picture from it, for example with ffmpeg -frames:v 1"
        case .zip, .gzip, .bzip2, .xz, .zstandard: "unpack it"
        default: nil
        }
    }
}

extension InputFormat {
    /// From the specifications of the formats. No entry is a prefix of a later one.
    private static let magics: [(bytes: [UInt8], kind: InputFormat)] = [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
        ([0x8A, 0x4D, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .mng),
        ([0x8B, 0x4A, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .jng),
        ([0xFF, 0xD8, 0xFF], .jpeg),
        (Array("GIF87a".utf8), .gif),
        (Array("GIF89a".utf8), .gif),
        ([0x49, 0x49, 0x2A, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2A], .tiff),
        ([0x49, 0x49, 0x2B, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2B], .tiff),
        ([0x00, 0x00, 0x00, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A], .jpegXL),
        ([0xFF, 0x0A], .jpegXL),
        ([0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A], .jpeg2000),
        ([0xFF, 0x4F, 0xFF, 0x51], .jpeg2000),
        ([0x00, 0x00, 0x01, 0x00], .icon),
        (Array("8BPS".utf8), .photoshop),
        ([0x76, 0x2F, 0x31, 0x01], .openEXR),
        (Array("SIMPLE  =".utf8), .fits),
        (Array("%PDF-".utf8), .pdf),
        (Array("%!PS".utf8), .postscript),
        ([0x1F, 0x8B, 0x08], .gzip),
        ([0x50, 0x4B, 0x03, 0x04], .zip),
        (Array("BZh".utf8), .bzip2),
        // Matroska and WebM.
        ([0x1A, 0x45, 0xDF, 0xA3], .video),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .xz),
        ([0x28, 0xB5, 0x2F, 0xFD], .zstandard),
    ]

    /// The raw files of cameras that have marks of their own: Fujifilm, Olympus, Panasonic, Sigma, Minolta. Canon's CR2
    /// is a TIFF with a second mark. Others, such as NEF, ARW and DNG, look like any TIFF here.
    private static func raw(_ bytes: [UInt8]) -> InputFormat? {
        let marks = ["FUJIFILMCCD-RAW", "IIRO", "IIRS", "MMOR", "IIU\0", "FOVb", "\0MRM"]
        let isCanon =
            bytes.count >= 10 && bytes.starts(with: [0x49, 0x49, 0x2A, 0x00])
            && bytes[8..<10].elementsEqual("CR".utf8)
        return isCanon || marks.contains { bytes.starts(with: $0.utf8) } ? .cameraRaw : nil
    }

    private static func magic(of bytes: [UInt8]) -> InputFormat? {
        magics.first { bytes.starts(with: $0.bytes) }?.kind
    }

    /// PNG's signature begins with a byte above 127 and contains both kinds of line ends, so that a change is visible:
    /// the line ends differ, or the byte has lost its highest bit or become UTF-8.
    private static func mangled(_ bytes: [UInt8]) -> InputFormat? {
        let starts: [[UInt8]] = [[0x89], [0x09], [0xC2, 0x89], [0xEF, 0xBF, 0xBD]]
        let isNamed = starts.contains { bytes.starts(with: $0 + Array("PNG".utf8)) }
        return isNamed && bytes.count >= 8 ? .mangledPNG : nil
    }

    /// Kinds that are recognised by words after a length.
    private static func container(of bytes: [UInt8]) -> InputFormat? {
        func word(at offset: Int) -> String? {
            guard bytes.count >= offset + 4 else { return nil }
            return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
        }
        if word(at: 0) == "RIFF", word(at: 8) == "WEBP" { return .webp }
        if word(at: 0) == "RIFF", word(at: 8) == "AVI " { return .video }
        if word(at: 4) == "ftyp" {
            // The major brand, a version, then the brands that the file is compatible with, as far as they are seen.
            let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let brands = stride(from: 16, to: min(length, bytes.count - 3), by: 4)
                .compactMap(word(at:))
            return brand(word(at: 8) ?? "", others: brands)
        }
        if let box = word(at: 4), ["moov", "mdat", "wide"].contains(box) { return .video }
        // "BM", then the size of the file and reserved bytes, then the offset of the pixels with 32 bits. Its upper
        // half is 0 in a valid file, and never in a text that begins with BM.
        if bytes.count >= 14, bytes.starts(with: Array("BM".utf8)), bytes[12] == 0, bytes[13] == 0 {
            return .bmp
        }
        return nil
    }

    /// The kind of a file of the ISO base media format: pictures of HEIF (ISO/IEC 23008-12), raw files of Canon, and
    /// otherwise videos.
    private static func brand(_ major: String, others: [String]) -> InputFormat {
        let avif = ["avif", "avis"]
        let heic = ["heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs"]
        if avif.contains(major) { return .avif }
        if heic.contains(major) { return .heic }
        switch major {
        case "mif1", "msf1", "mif2", "miaf":
            // Any picture of HEIF. The other brands say how it is coded.
            return others.contains(where: avif.contains) ? .avif : .heic
        case "crx ": return .cameraRaw
        case "jp2 ", "jpx ": return .jpeg2000
        default: return .video
        }
    }

    /// Kinds of text: markup and JSON by their first character that is not blank. Any other UTF-8 without control
    /// characters is text.
    private static func textual(_ bytes: [UInt8]) -> InputFormat {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(3) : bytes[...]
        let isPlain = body.allSatisfy { byte in
            byte >= 0x20 ? byte != 0x7F : byte == 0x09 || byte == 0x0A || byte == 0x0D
        }
        guard isPlain else { return .unknown }
        let start = body.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        let text = ByteString(decoding: start).asciiLowercased
        if text.hasPrefix("<svg") { return .svg }
        if text.hasPrefix("<?xml") {
            if text.contains("<svg") { return .svg }
            return text.contains("<html") || text.contains("<!doctype html") ? .html : .xml
        }
        if ["<!doctype html", "<html", "<head", "<body", "<script", "<!--"].contains(where: {
            text.hasPrefix($0)
        }) {
            return .html
        }
        if text.hasPrefix("<") { return .xml }
        if text.hasPrefix("{") || text.hasPrefix("[") { return .json }
        return isUTF8(body) ? .text : .unknown
    }

    /// Whether `bytes` may be UTF-8. They may be cut off at any place.
    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        (0...min(3, bytes.count)).contains { cut in
            String(validating: bytes.dropLast(cut), as: UTF8.self) != nil
        }
    }
}
