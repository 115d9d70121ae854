/// The datasets of IIM, the older form of IPTC's metadata. (IPTC-NAA Information Interchange Model 4.2, chapter 3.)
struct IPTCRecord: Equatable {
    struct Dataset: Equatable {
        let record: UInt8
        let number: UInt8
        let data: [UInt8]
    }

    private(set) var datasets: [Dataset] = []

    /// Reads datasets up to the first that is damaged, or of more than 32,767 bytes; nil if there is none.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= SourcePackets.mostRead else { return nil }
        var place = 0
        while place + 5 <= bytes.count, bytes[place] == 0x1C {
            let length = Int(bytes[place + 3]) << 8 | Int(bytes[place + 4])
            let end = place + 5 + length
            guard length < 0x8000, end <= bytes.count else { break }
            datasets.append(
                Dataset(
                    record: bytes[place + 1], number: bytes[place + 2],
                    data: Array(bytes[place + 5..<end])))
            place = end
        }
        if datasets.isEmpty { return nil }
    }

    private init(_ datasets: [Dataset]) { self.datasets = datasets }

    /// The most bytes that a JPEG has room for: a segment without the signature and the head of the resource. An odd
    /// number would have a byte more.
    static let mostBytes = 65_533 - 14 - 12 - 1

    private static let notices: Set<UInt8> = [byline, credit, notice]
    private static let byline: UInt8 = 80
    private static let credit: UInt8 = 110
    private static let notice: UInt8 = 116

    /// Location codes and names, city, sublocation, province, and code and name of the country.
    private static let places: Set<UInt8> = [26, 27, 90, 92, 95, 100, 101]

    /// A caption as pixels, the shape of the picture, and a small copy of it.
    private static let invalid: Set<UInt8> = [125, 131, 200, 201, 202]

    /// What a result keeps; nil if that is nothing.
    func kept(_ choice: MetadataChoice) -> IPTCRecord? {
        let all = choice.items.contains(.iptc)
        guard all || choice.items.contains(.copyright) else { return nil }
        let kept = datasets.filter { dataset in
            let number = dataset.number
            if dataset.record == 1 { return number == 90 || all && number == 0 }
            guard dataset.record == 2 else { return false }
            if !all { return number == 0 || Self.notices.contains(number) }
            return !Self.invalid.contains(number)
                && (choice.keepsPlaces || !Self.places.contains(number))
        }
        let hasContent = kept.contains { $0.record == 2 && $0.number != 0 }
        return hasContent ? IPTCRecord(kept) : nil
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for dataset in datasets {
            let count = UInt16(dataset.data.count)
            bytes += [0x1C, dataset.record, dataset.number, UInt8(count >> 8), UInt8(count & 255)]
            bytes += dataset.data
        }
        return bytes
    }

    var hasPlaces: Bool { datasets.contains { $0.record == 2 && Self.places.contains($0.number) } }

    var hasNotice: Bool { datasets.contains { $0.record == 2 && Self.notices.contains($0.number) } }

    // MARK: Texts

    var bylines: [String] { texts(Self.byline) }
    var creditLine: String? { texts(Self.credit).first }
    var copyrightNotice: String? { texts(Self.notice).first }

    /// The texts of a dataset, in UTF-8 as the record says, or if they can be; otherwise in Latin-1.
    private func texts(_ number: UInt8) -> [String] {
        datasets.filter { $0.record == 2 && $0.number == number && !$0.data.isEmpty }.map {
            String(validating: $0.data, as: UTF8.self)
                ?? String(String.UnicodeScalarView($0.data.map { Unicode.Scalar($0) }))
        }
    }
}

/// Photoshop's resources, as JPEG's segment APP13 has them: a signature, a number, a name and data each. (Adobe Photoshop
/// File Formats Specification, section Image Resource Blocks.)
enum PhotoshopResources {
    /// The segment's signature, with its zero.
    static let signature = Array("Photoshop 3.0\0".utf8)

    private static let iptc = 0x0404

    /// The data of IPTC's resource.
    static func iptc(in bytes: [UInt8]) -> [UInt8]? {
        var place = 0
        while place + 12 <= bytes.count, bytes[place..<place + 4].elementsEqual("8BIM".utf8) {
            let number = Int(bytes[place + 4]) << 8 | Int(bytes[place + 5])
            // The name has its length before it, and both together an even number of bytes.
            let head = place + 6 + (Int(bytes[place + 6]) + 2) / 2 * 2
            guard head + 4 <= bytes.count else { return nil }
            let size = bytes[head..<head + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = head + 4 + size
            guard end <= bytes.count else { return nil }
            if number == iptc { return Array(bytes[head + 4..<end]) }
            place = end + size % 2
        }
        return nil
    }

    /// The data of a segment with nothing but IPTC.
    static func segment(_ bytes: [UInt8]) -> [UInt8] {
        let count = bytes.count
        return signature + Array("8BIM".utf8) + [0x04, 0x04, 0, 0]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + bytes
            + (count % 2 == 1 ? [0] : [])
    }
}
