/// The colour space that Exif names: the tag 40961 of its own directory (Exif 2.32, 4.6.5), and the index of
/// interoperability, by which cameras tell Adobe RGB (DCF 2.0, 5.3).
enum ExifColourSpace {
    /// - Parameter tiff: of Exif; nothing is said by a damaged one.
    static func isAdobe(tiff: [UInt8]) -> Bool {
        guard let reader = TIFFReader(tiff), let first = reader.long(at: 4).map({ Int($0) }),
            let exif = reader.number(ExifTags.exifDirectory, of: first)
        else { return false }
        switch reader.number(ExifTags.colourSpace, of: exif) {
        case 2: return true
        case 65535:
            guard let directory = reader.number(ExifTags.interoperability, of: exif),
                let index = reader.place(1, of: directory)
            else { return false }
            // A text of three letters lies in the entry.
            return tiff[(index + 8)...].starts(with: "R03".utf8)
        default: return false
        }
    }
}

extension TIFFReader {
    /// Where the entry of a directory with this tag is.
    fileprivate func place(_ tag: UInt16, of directory: Int) -> Int? {
        guard let count = short(at: directory) else { return nil }
        for place in (0..<Int(count)).map({ directory + 2 + 12 * $0 }) {
            guard let entry = entry(at: place) else { return nil }
            if entry.tag == tag { return place }
        }
        return nil
    }

    fileprivate func number(_ tag: UInt16, of directory: Int) -> Int? {
        place(tag, of: directory).flatMap { entry(at: $0)?.number }
    }
}
