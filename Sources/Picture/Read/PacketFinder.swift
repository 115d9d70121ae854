import CDarkroomDeflate
import DarkroomCore
import SystemPackage

/// Finds the packets of metadata that the readers of pixels pass over, in a file that is a PNG or a JPEG.
///
/// It goes from chunk to chunk, or from segment to segment, and reads only their heads and the packets. It does not move
/// the file's offset, so that a reader may be at work. Damage ends the search, and is the reader's to report.
struct PacketFinder {
    private let input: PictureInput
    /// Where the picture begins.
    private let begin: Int

    /// More are not looked at.
    private static let mostParts = 100_000

    /// - Parameter input: at the picture's beginning.
    init(_ input: PictureInput) {
        self.input = input
        begin = input.offset
    }

    /// The bytes at a place, as many as there are.
    private func bytes(at place: Int, _ count: Int) throws(PictureError) -> [UInt8] {
        switch input {
        case .content(let bytes):
            return place < bytes.count ? Array(bytes[place..<min(bytes.count, place + count)]) : []
        case .file(let file):
            do throws(Errno) {
                return try file.bytes(count, at: begin + place)
            } catch {
                throw PictureError(.readFailed, "reading metadata", error)
            }
        }
    }

    // MARK: JPEG

    private static let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let extendedXMP = Array("http://ns.adobe.com/xmp/extension/\0".utf8)

    /// - Parameter exif: the structure that the reader uses.
    func inJPEG(exif: [UInt8]?) throws(PictureError) -> SourcePackets {
        var packets = SourcePackets(exif: exif)
        var resources: [UInt8] = []
        var place = 2
        for _ in 0..<Self.mostParts {
            let head = try bytes(at: place, 4 + Self.extendedXMP.count)
            guard head.count > 4, head[0] == 0xFF else { break }
            // Before a marker there may be any number of these.
            if head[1] == 0xFF {
                place += 1
                continue
            }
            let length = Int(head[2]) << 8 | Int(head[3])
            // The first scan begins.
            if head[1] == 0xDA || length < 2 { break }
            let (marker, name, data) = (head[1], head[4...], place + 4)
            place += 2 + length
            func rest(_ signature: [UInt8]) throws(PictureError) -> [UInt8] {
                let count = length - 2 - signature.count
                return try bytes(at: data + signature.count, max(0, count))
            }
            if marker == 0xE1, packets.xmp == nil, name.starts(with: Self.xmp) {
                packets.xmp = try rest(Self.xmp)
            } else if marker == 0xE1, name.starts(with: Self.extendedXMP) {
                packets.hasExtendedXMP = true
            } else if marker == 0xED, name.starts(with: PhotoshopResources.signature),
                resources.count < SourcePackets.mostRead
            {
                // Resources may go on in the next segment.
                resources += try rest(PhotoshopResources.signature)
            }
        }
        packets.iptc = PhotoshopResources.iptc(in: resources)
        return packets
    }

    // MARK: PNG

    private static let keyword = Array("XML:com.adobe.xmp\0".utf8)

    /// - Parameter exif: the structure that the reader has found before the pixels.
    func inPNG(exif: [UInt8]?) throws(PictureError) -> SourcePackets {
        var packets = SourcePackets(exif: exif)
        var place = 8
        for _ in 0..<Self.mostParts {
            let head = try bytes(at: place, 8)
            guard head.count == 8 else { break }
            let length = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
            let start = place
            place += 12 + length
            guard length <= SourcePackets.mostRead else { continue }
            switch String(decoding: head[4...], as: UTF8.self) {
            case "IEND": return packets
            case "iTXt" where packets.xmp == nil:
                guard try bytes(at: start + 8, Self.keyword.count) == Self.keyword else { break }
                packets.xmp = try data(of: start, length).flatMap(Self.text)
            case "eXIf" where packets.exif == nil: packets.exif = try data(of: start, length)
            default: break
            }
        }
        return packets
    }

    /// The data of a chunk; nil if its checksum is wrong.
    private func data(of start: Int, _ length: Int) throws(PictureError) -> [UInt8]? {
        let chunk = try bytes(at: start + 4, length + 8)
        guard chunk.count == length + 8 else { return nil }
        let sum = chunk.withUnsafeBufferPointer { darkroom_crc32(0, $0.baseAddress, length + 4) }
        guard chunk.suffix(4).reduce(0, { $0 << 8 | UInt32($1) }) == sum else { return nil }
        return Array(chunk[4..<4 + length])
    }

    /// The text of a chunk with XMP that is not compressed, after two texts that end with a zero each. (PNG 3, section
    /// 11.3.3.4.)
    private static func text(_ data: [UInt8]) -> [UInt8]? {
        let rest = data.dropFirst(keyword.count)
        guard rest.prefix(2) == [0, 0], let language = rest.dropFirst(2).firstIndex(of: 0),
            let translated = rest[(language + 1)...].firstIndex(of: 0)
        else { return nil }
        return Array(rest[(translated + 1)...])
    }
}
