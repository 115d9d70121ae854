import DarkroomCore

/// Reads a binary property list of version 00.
///
/// The layout: the eight bytes `bplist00`, the objects, a table with the offsets of the objects, and a trailer of 32
/// bytes with the position of the table and the widths of its numbers and of the references. Objects refer to one
/// another by number, so a few of them can describe an endless tree. Each object is read once and shared, and shared
/// objects count against a budget. Objects of a valid file do not overlap, so the reader does not read more bytes than
/// the file has.
package struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let trailer: Trailer
    private var builder: DocumentBuilder
    /// The objects that have been read, by number.
    private var nodes: [Int: Document.Node] = [:]
    /// The containers that are being read, outermost first.
    private var open: [Container] = []
    /// The number of bytes of all objects that have been read.
    private var consumed = 0

    private struct Trailer {
        static let size = 32
        /// The number of bytes of an entry in the offset table.
        let offsetSize: Int
        /// The number of bytes of a reference to an object.
        let referenceSize: Int
        let objectCount: Int
        let root: Int
        /// The position of the offset table.
        let table: Int
    }

    private struct Container {
        let number: Int
        let isMap: Bool
        /// For a map: the references of all keys, then those of all values.
        let references: [Int]
        /// The next item or entry.
        var next = 0
    }

    package static func read(
        _ bytes: [UInt8], budget: NodeBudget
    ) throws(ManifestProblem) -> Document.Node {
        guard bytes.starts(with: "bplist00".utf8) else {
            throw broken("of a version other than 00")
        }
        var reader = BinaryPropertyListReader(
            bytes: bytes, trailer: try trailer(of: bytes), builder: DocumentBuilder(budget: budget))
        return try reader.document()
    }

    private static func broken(_ what: String) -> ManifestProblem {
        ManifestProblem(.syntax, "a binary property list \(what)", place: .none)
    }

    private static func trailer(of bytes: [UInt8]) throws(ManifestProblem) -> Trailer {
        guard bytes.count >= 8 + Trailer.size + 2 else { throw broken("that is truncated") }
        let start = bytes.count - Trailer.size
        let tail = bytes[start...]
        let offsetSize = Int(tail[start + 6])
        let referenceSize = Int(tail[start + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = integer(tail[(start + 8)..<(start + 16)]),
            let root = integer(tail[(start + 16)..<(start + 24)]),
            let table = integer(tail[(start + 24)..<(start + 32)]),
            root < count, table >= 8, table <= start, count <= (start - table) / offsetSize
        else { throw broken("with an invalid trailer") }
        return Trailer(
            offsetSize: offsetSize, referenceSize: referenceSize, objectCount: count, root: root,
            table: table)
    }

    /// An unsigned number, most significant byte first; nil if it does not fit.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    // MARK: Objects

    private mutating func document() throws(ManifestProblem) -> Document.Node {
        try add(trailer.root)
        while let container = open.last {
            let count = container.references.count / (container.isMap ? 2 : 1)
            guard container.next < count else {
                nodes[container.number] = try builder.end()
                open.removeLast()
                continue
            }
            open[open.count - 1].next += 1
            if container.isMap {
                try builder.key(try key(container.references[container.next]), at: .none)
                try add(container.references[count + container.next])
            } else {
                try add(container.references[container.next])
            }
        }
        guard let root = builder.root else { throw Self.broken("without a root") }
        return root
    }

    /// Adds the object with this number. If it is a container that has not been read, this only begins it.
    private mutating func add(_ number: Int) throws(ManifestProblem) {
        if let node = nodes[number] {
            try builder.add(shared: node, at: .none)
            return
        }
        let offset = try offset(of: number)
        let kind = bytes[offset] >> 4
        guard kind == 0xA || kind == 0xD else {
            let value = try scalar(at: offset)
            try builder.add(value, at: .none)
            nodes[number] = Document.Node(value, at: .none)
            return
        }
        guard !open.contains(where: { $0.number == number }) else {
            throw Self.broken("with an object that contains itself")
        }
        let isMap = kind == 0xD
        try builder.begin(isMap: isMap, at: .none)
        let references = try references(at: offset, perElement: isMap ? 2 : 1)
        open.append(Container(number: number, isMap: isMap, references: references))
    }

    private mutating func key(_ number: Int) throws(ManifestProblem) -> ByteString {
        if case .text(let text)? = nodes[number]?.value { return text }
        guard case .text(let text) = try scalar(at: try offset(of: number)) else {
            throw Self.broken("with a key that is not text")
        }
        nodes[number] = Document.Node(.text(text), at: .none)
        return text
    }

    /// The offset of the object with this number; it must be between the header and the offset table.
    private func offset(of number: Int) throws(ManifestProblem) -> Int {
        guard number < trailer.objectCount else { throw Self.broken("with a dangling reference") }
        let entry = trailer.table + number * trailer.offsetSize
        guard let offset = Self.integer(bytes[entry..<(entry + trailer.offsetSize)]), offset >= 8,
            offset < trailer.table
        else { throw Self.broken("with an invalid offset") }
        return offset
    }

    private mutating func scalar(at offset: Int) throws(ManifestProblem) -> Document.Value {
        let low = Int(bytes[offset] & 0x0F)
        switch bytes[offset] >> 4 {
        case 0x0 where low == 0x0: return .null
        case 0x0 where low == 0x8: return .boolean(false)
        case 0x0 where low == 0x9: return .boolean(true)
        case 0x1: return try integerValue(try slice(offset + 1, count: 1 << low))
        case 0x2: return try realValue(try slice(offset + 1, count: 1 << low))
        case 0x3: return .other("a date")
        case 0x4: return .other("data")
        case 0x5, 0x6, 0x7: return .text(try text(at: offset))
        case 0x8: return .other("a UID")
        case 0xC: return .other("a set")
        default: throw Self.broken("with an object of an unknown kind")
        }
    }

    /// `count` bytes of an object, from `start`.
    private mutating func slice(
        _ start: Int, count: Int
    ) throws(ManifestProblem) -> ArraySlice<UInt8> {
        guard start <= trailer.table, count <= trailer.table - start else {
            throw Self.broken("with an object that reaches into the offset table")
        }
        consumed += count
        guard consumed <= bytes.count else { throw Self.broken("with objects that overlap") }
        return bytes[start..<(start + count)]
    }

    private func integerValue(
        _ slice: ArraySlice<UInt8>
    ) throws(ManifestProblem) -> Document.Value {
        switch slice.count {
        // Up to four bytes are unsigned, eight are signed.
        case 1, 2, 4: return .integer(Self.integer(slice) ?? 0)
        case 8:
            return .integer(Int(slice.reduce(Int64(0)) { $0 << 8 | Int64($1) }))
        case 16:
            // This occurs only with numbers beyond eight bytes, far beyond every range.
            return .number(slice.reduce(0.0) { $0 * 256 + Double($1) })
        default: throw Self.broken("with an integer of \(slice.count) bytes")
        }
    }

    private func realValue(_ slice: ArraySlice<UInt8>) throws(ManifestProblem) -> Document.Value {
        let bits = slice.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch slice.count {
        case 4: return .number(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
        case 8: return .number(Double(bitPattern: bits))
        default: throw Self.broken("with a real number of \(slice.count) bytes")
        }
    }

    /// The number of elements of the object at `offset`, and the position of the first one.
    private mutating func extent(at offset: Int) throws(ManifestProblem) -> (count: Int, start: Int)
    {
        let low = Int(bytes[offset] & 0x0F)
        guard low == 0xF else { return (low, offset + 1) }
        // The number is in an integer object that follows.
        let marker = try slice(offset + 1, count: 1).first ?? 0
        let size = 1 << Int(marker & 0x0F)
        guard marker >> 4 == 0x1, size <= 8,
            let count = Self.integer(try slice(offset + 2, count: size))
        else { throw Self.broken("with a length that is not a number") }
        return (count, offset + 2 + size)
    }

    private mutating func text(at offset: Int) throws(ManifestProblem) -> ByteString {
        let (count, start) = try extent(at: offset)
        guard count <= bytes.count else { throw Self.broken("with a text longer than the file") }
        let text: String? =
            switch bytes[offset] >> 4 {
            case 0x5: String(validating: try slice(start, count: count), as: Unicode.ASCII.self)
            case 0x6: Self.utf16(try slice(start, count: count * 2))
            default: String(validating: try slice(start, count: count), as: UTF8.self)
            }
        guard let text else { throw Self.broken("with a text in an unknown encoding") }
        return ByteString(text)
    }

    private static func utf16(_ slice: ArraySlice<UInt8>) -> String? {
        let units = stride(from: slice.startIndex, to: slice.endIndex, by: 2).lazy.map {
            UInt16(slice[$0]) << 8 | UInt16(slice[$0 + 1])
        }
        return String(validating: units, as: UTF16.self)
    }

    /// The references of the container at `offset`, `perElement` for each element.
    private mutating func references(
        at offset: Int, perElement: Int
    ) throws(ManifestProblem) -> [Int] {
        let (count, start) = try extent(at: offset)
        let size = trailer.referenceSize
        guard count <= bytes.count else { throw Self.broken("with a list longer than the file") }
        let slice = try slice(start, count: count * perElement * size)
        return stride(from: slice.startIndex, to: slice.endIndex, by: size).map {
            Self.integer(slice[$0..<($0 + size)]) ?? .max
        }
    }
}
