/// What of a source's metadata goes into a result, valid for it, and what becomes of the rest.
struct ResultMetadata {
    /// What the result is.
    struct Facts {
        var width: Int
        var height: Int
        /// What readers of the result turn it by.
        var orientation: Orientation
        /// Whether the picture has another scale than the source.
        var isScaled: Bool
        var colour: PictureColour
        var kind: InputFormat
        var packets: Set<MetadataPacket>
    }

    private(set) var exif: [UInt8]?
    private(set) var xmp: [UInt8]?
    private(set) var iptc: [UInt8]?
    /// Whether the result says an orientation.
    private(set) var keepsOrientation = false
    /// What became of parts of packets, for the status: `kept` or `dropped` by their names.
    private(set) var fates: [String: String] = [:]
    private(set) var remarks: [String] = []
    /// Whether what IPTC says is in XMP.
    private var hasIPTCInXMP = false

    /// The memory for the packets of a source and a result, and for the parts of the largest ones, in bytes.
    static let mostMemory = 8 << 20

    init() {}

    /// A copy of Exif, see `Exif.carried`.
    ///
    /// - Parameter block: what is in it.
    init(copyOf exif: [UInt8]?, _ block: ExifBlock?) {
        self.exif = exif
        keepsOrientation = exif != nil
        guard exif != nil, let block else { return }
        if block.first(ExifTags.makerNote, in: \.exif) != nil { note("MakerNote", true) }
        if !block.gps.isEmpty { note("GPS", true) }
        if block.copyright != nil { noteAny("copyright", true) }
    }

    init(_ source: SourcePackets, _ choice: MetadataChoice, for facts: Facts) {
        addExif(source.exif, choice, facts)
        let record = addIPTC(source.iptc, choice, facts)
        addXMP(source, choice, facts, record)
    }

    /// Notes what has become of what several packets may have. A notice that is kept is enough, and a place one too many.
    private mutating func noteAny(_ name: String, _ isKept: Bool) {
        note(name, isKept || fates[name] == "kept")
    }

    private mutating func note(_ name: String, _ isKept: Bool) {
        fates[name] = isKept ? "kept" : "dropped"
    }

    /// What is larger than a segment of a JPEG has room for is dropped, in each format.
    private mutating func bounded(_ bytes: [UInt8]?, _ most: Int, _ name: String) -> [UInt8]? {
        guard let bytes, bytes.count > most else { return bytes }
        remarks.append(
            "\(name) is dropped: it has \(bytes.count) bytes, and at most \(most) are kept")
        return nil
    }

    // MARK: Exif

    private mutating func addExif(_ bytes: [UInt8]?, _ choice: MetadataChoice, _ facts: Facts) {
        guard let bytes, facts.packets.contains(.exif),
            choice.items.contains(.exif) || choice.items.contains(.copyright)
        else { return }
        guard let block = ExifBlock(bytes) else {
            remarks.append("Exif is dropped: it is damaged")
            return
        }
        let all = choice.items.contains(.exif)
        let kept =
            all
            ? block.kept(keepsPlaces: choice.keepsPlaces, isAdobe: facts.saysAdobe)
            : block.copyright
        if block.hasThumbnail { note("thumbnail", false) }
        if all, block.first(ExifTags.makerNote, in: \.exif) != nil { note("MakerNote", false) }
        if !block.gps.isEmpty { noteAny("GPS", all && choice.keepsPlaces) }
        guard let kept else { return }
        let completed = kept.completed(from: block, facts, isWhole: all)
        // libtiff writes such files.
        let ordered = facts.kind == .tiff ? completed.littleEndian : completed
        exif = bounded(ordered.bytes, Exif.mostBytes, "Exif")
        if block.copyright != nil { noteAny("copyright", exif != nil) }
        keepsOrientation = exif != nil && all
    }

    // MARK: IPTC

    /// - Returns: what a format without IPTC may have otherwise.
    private mutating func addIPTC(
        _ bytes: [UInt8]?, _ choice: MetadataChoice, _ facts: Facts
    ) -> IPTCRecord? {
        guard let bytes, choice.items.contains(.iptc) || choice.items.contains(.copyright) else {
            return nil
        }
        guard let record = IPTCRecord(bytes) else {
            remarks.append("IPTC is dropped: it is damaged")
            return nil
        }
        let kept = record.kept(choice)
        if facts.packets.contains(.iptc) {
            iptc = bounded(kept?.bytes, IPTCRecord.mostBytes, "IPTC")
        }
        if record.hasNotice { noteAny("copyright", iptc != nil) }
        if record.hasPlaces { noteAny("GPS", iptc != nil && kept?.hasPlaces == true) }
        guard !facts.packets.contains(.iptc) else { return nil }
        return choice.items.contains(.copyright) && record.hasNotice ? record : nil
    }

    // MARK: XMP

    private mutating func addXMP(
        _ source: SourcePackets, _ choice: MetadataChoice, _ facts: Facts, _ record: IPTCRecord?
    ) {
        let all = choice.items.contains(.xmp)
        guard facts.packets.contains(.xmp), all || choice.items.contains(.copyright) else { return }
        var document: XMPDocument?
        if let bytes = source.xmp {
            do throws(XMPScanner.Damage) {
                document = try XMPScanner.read(bytes)
            } catch {
                remarks.append("XMP is dropped: it \(error.words)")
            }
        }
        if source.hasExtendedXMP { note("extended XMP", false) }
        if document?.hasThumbnail == true { note("thumbnail", false) }
        if all, document?.hasPlaces == true { noteAny("GPS", choice.keepsPlaces) }
        if all, let document { xmp = document.kept(keepsPlaces: choice.keepsPlaces) }
        var notice = CopyrightNotice(document)
        let hasNotice = notice.packet != nil
        if xmp == nil, choice.items.contains(.copyright) {
            if let record { notice.add(record) }
            xmp = notice.packet
            hasIPTCInXMP = record != nil
        }
        xmp = bounded(xmp, XMPDocument.mostBytes, "XMP")
        if hasNotice || hasIPTCInXMP { noteAny("copyright", xmp != nil) }
    }

    // MARK: The status

    /// What became of a packet of the source.
    func fate(of packet: MetadataPacket, _ source: SourcePackets?) -> String {
        let (written, stored) =
            switch packet {
            case .exif: (exif, source?.exif)
            case .xmp: (xmp, source?.xmp)
            case .iptc: (iptc, source?.iptc)
            }
        if packet == .iptc, hasIPTCInXMP, xmp != nil { return "converted" }
        guard let written else { return "dropped" }
        return written == stored ? "kept" : "converted"
    }
}

extension ExifBlock {
    /// The entries that a result may have.
    fileprivate func kept(keepsPlaces: Bool, isAdobe: Bool) -> ExifBlock? {
        var block = ExifBlock(isBigEndian: isBigEndian)
        block.main = main.filter { ExifTags.isKept(inMain: $0.tag) }.map(\.terminated)
        block.exif = exif.filter { ExifTags.isKept(inExif: $0.tag) }.map(\.terminated)
        if keepsPlaces { block.gps = gps.filter { ExifTags.isKept(inGPS: $0.tag) } }
        block.isAdobe = isAdobe
        let isEmpty = block.main.isEmpty && block.exif.isEmpty && block.gps.isEmpty
        return isEmpty && !isAdobe ? nil : block
    }

    /// Artist, copyright and title; nil if there is none.
    fileprivate var copyright: ExifBlock? {
        var block = ExifBlock(isBigEndian: isBigEndian)
        block.main = main.filter { entry in
            ExifTags.copyright.contains(entry.tag)
                && entry.data.contains { $0 != 0 && $0 != UInt8(ascii: " ") }
        }.map(\.terminated)
        return block.main.isEmpty ? nil : block
    }

    /// Adds what must be there, as it is in the result. (Exif 2.32, section 4.6.8.)
    ///
    /// - Parameter isWhole: whether this is more than a copyright notice.
    fileprivate func completed(
        from source: ExifBlock, _ facts: ResultMetadata.Facts, isWhole: Bool
    ) -> ExifBlock {
        var block = self
        if isWhole { block.main.append(short(ExifTags.orientation, facts.orientation.rawValue)) }
        let resolution = [ExifTags.resolutionX, ExifTags.resolutionY, ExifTags.resolutionUnit]
        let known = resolution.compactMap { source.first($0, in: \.main) }
        if !facts.isScaled, known.count == 3, known[0].type == 5, known[0].data == known[1].data {
            block.main += known
        } else {
            block.main += [rational(resolution[0], 72), rational(resolution[1], 72)]
            block.main.append(short(resolution[2], 2))
        }
        // JFIF has the colours of two pixels between them.
        if facts.kind == .jpeg { block.main.append(short(ExifTags.positioning, 1)) }
        guard isWhole else { return block }
        let space = source.first(ExifTags.colourSpace, in: \.exif).flatMap(source.number)
        block.exif.append(short(ExifTags.colourSpace, facts.colourSpace(from: space)))
        // A TIFF says these with tags of its own.
        let ofTIFF = [ExifTags.components, ExifTags.width, ExifTags.height]
        if facts.kind == .tiff {
            block.exif.removeAll { ofTIFF.contains($0.tag) }
        } else {
            block.exif += [
                long(ExifTags.width, facts.width), long(ExifTags.height, facts.height),
            ]
        }
        func add(_ tag: UInt16, _ data: [UInt8]) {
            if source.first(tag, in: \.exif) != nil { return }
            block.exif.append(Entry(tag: tag, type: 7, count: 4, data: data))
        }
        add(ExifTags.version, Array("0232".utf8))
        add(ExifTags.flashpixVersion, Array("0100".utf8))
        // Y, Cb, Cr.
        if facts.kind != .tiff { add(ExifTags.components, [1, 2, 3, 0]) }
        return block
    }
}

extension ExifBlock.Entry {
    /// A text ends with a zero.
    fileprivate var terminated: Self {
        guard type == 2, data.last != 0 else { return self }
        return Self(tag: tag, type: type, count: count + 1, data: data + [0])
    }
}

extension ResultMetadata.Facts {
    /// The value of Exif's ColorSpace: 1 for sRGB, 65535 for any other.
    ///
    /// - Parameter source: the source's value. It counts as long as nothing else tells the colours of the result.
    fileprivate func colourSpace(from source: Int?) -> Int {
        let other = 0xFFFF
        if let profile = colour.profile { return profile.isSRGB ? 1 : other }
        if colour.renderingIntent != nil { return 1 }
        if colour.codePoints != nil || colour.gamma != nil || colour.chromaticities != nil {
            return other
        }
        switch colour.implied {
        case .sRGB: return 1
        case .adobe: return other
        case nil: return source ?? 1 == 1 ? 1 : other
        }
    }

    /// Whether Exif tells that the values are of Adobe RGB, as nothing else does. In a TIFF, Exif has no directory for it.
    fileprivate var saysAdobe: Bool {
        var others = colour
        others.implied = nil
        return colour.implied == .adobe && !others.saysSpace && kind != .tiff
    }
}

extension PictureColour.Profile {
    /// Whether its description names sRGB. The text is in ASCII or, since ICC 4, in 16 bits.
    fileprivate var isSRGB: Bool {
        let name = Array("sRGB".utf8)
        let wide: [UInt8] = [0, name[0], 0, name[1], 0, name[2], 0, name[3]]
        let described = bytes.prefix(4096)
        return described.firstRange(of: name) != nil || described.firstRange(of: wide) != nil
    }
}
