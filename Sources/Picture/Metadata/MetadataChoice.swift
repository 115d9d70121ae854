/// What a result keeps of its source's metadata: `output.metadata` of a manifest, or its short form `exif`.
///
/// | step | who |
/// |---|---|
/// | the choice is read | `ValueReader.metadata` in Manifest, `--metadata` of the command, `PictureOutput.keeping` |
/// | the source's packets are found | `PictureReader.packets`: `PacketFinder` in a PNG or JPEG, otherwise a codec program |
/// | they are parsed, each within bounds | `ExifBlock`, `XMPScanner`, `IPTCRecord` |
/// | what is kept is chosen, and made valid for the result | `ResultMetadata`, with `ExifTags` and `XMPRules` |
/// | they are written | `JPEGEncoder`, `PNGWriter`, `CodecWriter`; `PictureEncoder.packets` says which a format can have |
/// | the status says what became of each | `MetadataLedger` |
///
/// Whatever is chosen, a result has no thumbnail (it shows what was cropped away), no maker note (it has no format that
/// can be checked, and often a thumbnail), no XMP beyond one packet, and of Photoshop's resources only IPTC. What a result
/// keeps is written anew, so that nothing can lie between its parts. `exif: true` is older and copies Exif as it
/// is, where that is valid for the result; otherwise it is the same as `exif`.
package struct MetadataChoice: Sendable, Equatable {
    package enum Item: String, Sendable, CaseIterable {
        /// Who made the picture and may use it, wherever it is recorded; of Exif also the title.
        case copyright
        case exif, iptc, xmp
    }

    package private(set) var items: Set<Item> = []
    /// Whether kept metadata may say where the picture was taken.
    package private(set) var keepsPlaces = true
    /// Whether Exif is copied byte for byte, except the orientation: `exif: true`.
    package private(set) var copiesExif = false

    package static let none = MetadataChoice()

    /// `exif: true`.
    package static let exifCopy = MetadataChoice(copiesExif: true)

    private init(copiesExif: Bool) { self.copiesExif = copiesExif }

    /// The words of a manifest.
    package enum Word: String, Sendable, CaseIterable {
        case none, all, copyright, exif, iptc, xmp
        case withoutPlaces = "-gps"
    }

    package init(_ items: Set<Item> = [], keepsPlaces: Bool = true) {
        self.items = items
        self.keepsPlaces = keepsPlaces
    }

    /// Why words have no meaning together; nil if they have one.
    package static func mismatch(of words: [Word]) -> String? {
        if words.isEmpty { return "must not be empty; ‘none’ keeps nothing" }
        if words.contains(.none), words.contains(where: { $0 != .none }) {
            return "must not have other words beside ‘none’"
        }
        return words.allSatisfy { $0 == .withoutPlaces }
            ? "must say what is kept beside ‘-gps’, such as ‘all’ or ‘copyright’" : nil
    }

    package init(words: [Word]) {
        for word in words {
            switch word {
            case .none: break
            case .all: items = Set(Item.allCases)
            case .withoutPlaces: keepsPlaces = false
            case .copyright: items.insert(.copyright)
            case .exif: items.insert(.exif)
            case .iptc: items.insert(.iptc)
            case .xmp: items.insert(.xmp)
            }
        }
    }

    /// Whether the result may have an orientation other than upright.
    var keepsOrientation: Bool { copiesExif || items.contains(.exif) }
}

/// The parts of a file in which metadata is stored.
package enum MetadataPacket: Sendable, CaseIterable {
    case exif, xmp, iptc
}

/// The packets of a source, as they are stored.
package struct SourcePackets: Equatable {
    /// A TIFF structure.
    var exif: [UInt8]?
    var xmp: [UInt8]?
    /// Records of IIM, without Photoshop's resource around them.
    var iptc: [UInt8]?
    /// Whether more XMP is in further segments.
    var hasExtendedXMP = false

    /// The most bytes of a packet that are looked at.
    static let mostRead = 512 << 10
}
