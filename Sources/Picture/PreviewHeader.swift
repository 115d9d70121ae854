import CDarkroomShims
package import SystemPackage

/// What the file of a small copy says of itself: in the header of the JPEG and in its Exif.
package struct PreviewHeader: Sendable, Equatable {
    /// The size of a picture, in pixels.
    package struct Size: Sendable, Equatable {
        package let width: Int
        package let height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The size of the copy, in pixels.
    package let width: Int
    package let height: Int
    /// Whether another copy of the same size stands below it, see `PreviewPair`.
    package let isPair: Bool
    /// How a viewer turns it.
    package let orientation: Orientation
    /// Of the whole picture.
    package let picture: Size

    package init(width: Int, height: Int, isPair: Bool, orientation: Orientation, picture: Size) {
        self.width = width
        self.height = height
        self.isPair = isPair
        self.orientation = orientation
        self.picture = picture
    }

    /// Whether the copy has fewer pixels than the picture.
    package var isReduced: Bool { width < picture.width || height < picture.height }

    // MARK: In a file

    /// Reads the header of a file without preparing to decode the pixels, which takes longer.
    ///
    /// - Parameter name: the name of the file in messages.
    /// - Returns: nil if it is not the file of a small copy.
    package init?(of file: FileDescriptor, name: String) throws(PictureError) {
        let reader = try JPEGFile(.file(file), name: name, limits: PictureLimits())
        let header = try reader.open()
        guard let tiff = reader.exif, tiff.count == Self.exifBytes,
            tiff.starts(with: Self.exifStart), let last = Orientation(rawValue: tiff.number(at: 42))
        else { return nil }
        width = Int(header.width)
        height = tiff.number(at: 54)
        orientation = last
        picture = Size(width: tiff.number(at: 18), height: tiff.number(at: 30))
        isPair = Int(header.height) != height
        if isPair, Int(header.height) != PreviewPair(rows: height).height { return nil }
    }

    /// A TIFF structure of one directory. (TIFF 6.0, section 2; its tags are in section 8.)
    var exif: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.exifBytes)
        bytes += Self.exifStart
        bytes.append(entry: 0x00, type: 4, picture.width)  // ImageWidth
        bytes.append(entry: 0x01, type: 4, picture.height)  // ImageLength
        bytes.append(entry: 0x12, type: 3, orientation.rawValue)
        bytes.append(entry: 0x16, type: 4, height)  // RowsPerStrip
        bytes += [0, 0, 0, 0]  // No further directory.
        return bytes
    }

    private static let exifBytes = 62
    /// The header, and the number of entries.
    private static let exifStart = Array("II".utf8) + [42, 0, 8, 0, 0, 0, 4, 0]
}

extension [UInt8] {
    /// Appends an entry with one number: the tag 256 + `entry`, and the type SHORT (3) or LONG (4).
    fileprivate mutating func append(entry: UInt8, type: UInt8, _ number: Int) {
        self += [entry, 0x01, type, 0, 1, 0, 0, 0]
        let number = UInt32(clamping: number)
        for shift: UInt32 in [0, 8, 16, 24] { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// The number of 32 bits at a place, its lowest byte first.
    fileprivate func number(at place: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(self[place + $1]) << (8 * $1) }
    }
}
