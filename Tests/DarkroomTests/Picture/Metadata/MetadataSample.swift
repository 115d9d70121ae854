import TestPictures

@testable import DarkroomPicture

/// Metadata as a camera and a program for photographs write it: with a place, a maker note, thumbnails, and sizes of the
/// source.
enum MetadataSample {
    // MARK: Exif

    static func exif(isBigEndian: Bool = false, orientation: Int = 6) -> [UInt8] {
        var block = ExifBlock(isBigEndian: isBigEndian)
        block.main = [
            text(0x010E, "A title"), text(0x010F, "Maker"), text(0x0110, "Model 5"),
            block.short(0x0112, orientation), block.rational(0x011A, 300),
            block.rational(0x011B, 300), block.short(0x0128, 2), text(0x013B, "Ann Ö"),
            block.short(0x0213, 1), text(0x8298, "© Ann & Co"),
            ExifBlock.Entry(tag: 0xC4A5, type: 7, count: 6, data: Array("PrIm01".utf8)),
        ]
        block.exif = [
            block.rational(0x829A, 250), undefined(0x9000, "0232"),
            text(0x9003, "2026:01:02 03:04:05"), undefined(0x9101, "\u{1}\u{2}\u{3}\0"),
            ExifBlock.Entry(
                tag: 0x927C, type: 7, count: 300, data: [UInt8](repeating: 0x4D, count: 300)),
            undefined(0xA000, "0100"), block.short(0xA001, 1), block.long(0xA002, 4000),
            block.long(0xA003, 3000),
        ]
        block.gps = [
            ExifBlock.Entry(tag: 0, type: 1, count: 4, data: [2, 3, 0, 0]), text(1, "N"),
            triple(2, block), text(3, "E"), triple(4, block),
        ]
        return withThumbnail(block)
    }

    static func text(_ tag: UInt16, _ text: String) -> ExifBlock.Entry {
        let data = Array(text.utf8) + [0]
        return ExifBlock.Entry(tag: tag, type: 2, count: data.count, data: data)
    }

    private static func undefined(_ tag: UInt16, _ text: String) -> ExifBlock.Entry {
        ExifBlock.Entry(tag: tag, type: 7, count: text.utf8.count, data: Array(text.utf8))
    }

    /// Degrees, minutes and seconds.
    private static func triple(_ tag: UInt16, _ block: ExifBlock) -> ExifBlock.Entry {
        let data = [47, 30, 0].flatMap { block.rational(tag, $0).data }
        return ExifBlock.Entry(tag: tag, type: 5, count: 3, data: data)
    }

    static let thumbnail = Array("THUMBNAIL".utf8)

    /// The block with a second directory, which has a thumbnail.
    private static func withThumbnail(_ block: ExifBlock) -> [UInt8] {
        var bytes = block.bytes
        let entries = Int(bytes[block.isBigEndian ? 9 : 8])
        let next = bytes.count
        bytes.replaceSubrange(
            8 + 2 + 12 * entries..<8 + 6 + 12 * entries, with: block.long(0, next).data)
        bytes += block.short(0, 2).data
        for (tag, value) in [(0x0201, next + 30), (0x0202, thumbnail.count)] {
            bytes += block.short(0, tag).data + block.short(0, 4).data
            bytes += block.long(0, 1).data + block.long(0, value).data
        }
        return bytes + [0, 0, 0, 0] + thumbnail
    }

    // MARK: XMP

    static let xmp = xmp(
        """
        <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
            xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:g="http://ns.adobe.com/xap/1.0/g/img/"
            xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/"
            xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
            xmlns:r="http://ns.adobe.com/xap/1.0/rights/"
            xmlns:x4="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
            xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
            xmp:Rating="4" tiff:Orientation="6" exif:GPSLatitude="47,30N" photoshop:City='Bern'
            exif:PixelXDimension="4000" Iptc4xmpCore:Location="Bern" r:Marked="True">
         <dc:creator><rdf:Seq><rdf:li>Ann &amp; Bob</rdf:li><rdf:li>Cid</rdf:li></rdf:Seq></dc:creator>
         <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">&#xA9; Ann</rdf:li></rdf:Alt></dc:rights>
         <dc:subject><rdf:Bag><rdf:li>sea</rdf:li></rdf:Bag></dc:subject>
         <r:UsageTerms><rdf:Alt><rdf:li xml:lang="x-default">Ask &lt;me&gt;</rdf:li></rdf:Alt></r:UsageTerms>
         <xmp:Thumbnails><rdf:Alt><rdf:li rdf:parseType="Resource"><g:width>9</g:width>
          <g:image>VEhVTUJOQUlM</g:image></rdf:li></rdf:Alt></xmp:Thumbnails>
         <tiff:ImageWidth>4000</tiff:ImageWidth><!-- Bern -->
         <x4:LocationShown><rdf:Bag><rdf:li rdf:parseType="Resource"><x4:City>Bern</x4:City></rdf:li>
         </rdf:Bag></x4:LocationShown>
        </rdf:Description>
        """)

    /// A packet with this in its RDF, and some space to grow.
    static func xmp(_ description: String) -> [UInt8] {
        let text = """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/">
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            \(description)
            </rdf:RDF>
            </x:xmpmeta>

            """
        return Array((text + String(repeating: " ", count: 200) + "<?xpacket end=\"w\"?>").utf8)
    }

    // MARK: IPTC

    static let iptc: [UInt8] =
        dataset(1, 90, "\u{1B}%G") + dataset(2, 0, "\0\u{4}") + dataset(2, 25, "sea")
        + dataset(2, 80, "Ann Ö") + dataset(2, 90, "Bern") + dataset(2, 101, "Switzerland")
        + dataset(2, 110, "Agency") + dataset(2, 116, "© Ann") + dataset(2, 202, "THUMBNAIL")
        + dataset(7, 10, "x")

    static func dataset(_ record: UInt8, _ number: UInt8, _ text: String) -> [UInt8] {
        let data = Array(text.utf8)
        return [0x1C, record, number, UInt8(data.count >> 8), UInt8(data.count & 255)] + data
    }

    /// A segment with other resources of Photoshop around IPTC: a thumbnail before it.
    static let photoshop = JPEGSegment(
        0xED,
        PhotoshopResources.signature + Array("8BIM".utf8) + [0x04, 0x0C, 1, 0x61, 0, 0, 0, 9]
            + thumbnail + [0] + PhotoshopResources.segment(iptc).dropFirst(14))

    // MARK: Files

    /// A picture of 40 × 30 pixels with all that its format can have.
    static func file(_ format: OutputFormat, orientation: Int = 6) throws -> [UInt8] {
        let exif = exif(orientation: orientation)
        switch format {
        case .png:
            var maker = PNGMaker.noise(width: 40, height: 30, colourType: .rgb, depth: 8)
            let head = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8)
            maker.early = [PNGChunk("eXIf", exif), PNGChunk("iTXt", head + xmp)]
            return maker.encoded
        case .jpeg:
            var maker = JPEGMaker.noise(width: 40, height: 30, channels: 3)
            maker.early = [
                JPEGSegment(0xE1, Array("Exif\0\0".utf8) + exif),
                JPEGSegment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + xmp), photoshop,
            ]
            return maker.encoded
        case .webp, .avif, .tiff, .jpegXL: return try written(format, exif: exif)
        }
    }

    /// What the writer of the format makes of the packets.
    private static func written(_ format: OutputFormat, exif: [UInt8]) throws -> [UInt8] {
        let maker = PNGMaker.noise(width: 40, height: 30, colourType: .rgb, depth: 8)
        return try OutputOptions(format: format).write(ArrayStage(maker.reference)) { input in
            input.exif = format == .tiff ? ExifBlock(exif)?.littleEndian.bytes : exif
            input.xmp = xmp
            input.iptc = format == .tiff ? iptc : nil
        }.file
    }
}
