// Yams builds whole trees: it recurses for each level, and it hashes keys that are containers with everything that
// their aliases stand for, so a file of forty lines could keep it busy for years. Its C module, libyaml, gives the
// events one by one, and a reader of events can stop at the limits.
internal import CYaml
import DarkroomCore

/// The events of a YAML text, one by one, as libyaml reports them.
///
/// It borrows the bytes, which must stay in place during its lifetime.
package struct YAMLEvents: ~Copyable {
    struct Event {
        let kind: Kind
        let place: Document.Place
    }

    enum Kind {
        case streamStart, documentStart, documentEnd, streamEnd
        case alias(ByteString)
        case scalar(ByteString, isPlain: Bool, Properties)
        case listStart(Properties)
        case mapStart(Properties)
        /// The end of a list or a map.
        case containerEnd
    }

    struct Properties {
        /// Without `&`.
        var anchor: ByteString?
        /// In full: `tag:yaml.org,2002:str` for `!!str`; nil if there is none.
        var tag: ByteString?
    }

    /// On the heap, because libyaml keeps a pointer to its parser within the parser.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The source of further text for libyaml, which keeps a pointer to it.
    private let input: Input

    /// - Parameter stop: checked from time to time; when it is set, the next event is an error.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, stop: CancellationFlag? = nil
    ) throws(ManifestProblem) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw ManifestProblem(.syntax, "YAML: out of memory", place: .none)
        }
        // Set only now: if the initializer throws after all members are set, deinit runs.
        self.parser = parser
        self.bytes = bytes
        input = Input(bytes, stop)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        // In pieces, because a long text or comment may be between two events.
        yaml_parser_set_input(
            parser,
            { context, target, capacity, count in
                guard let context, let target, let count else { return 0 }
                let input = Unmanaged<Input>.fromOpaque(context).takeUnretainedValue()
                guard let read = input.read(into: target, capacity) else { return 0 }
                count.pointee = read
                return 1
            }, Unmanaged.passUnretained(input).toOpaque())
    }

    /// Passes the text to libyaml in pieces.
    private final class Input {
        private var rest: UnsafeBufferPointer<UInt8>
        private let stop: CancellationFlag?

        init(_ bytes: UnsafeBufferPointer<UInt8>, _ stop: CancellationFlag?) {
            rest = bytes
            self.stop = stop
        }

        /// The number of bytes; nil if reading is interrupted.
        func read(into target: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Int? {
            if stop?.isSet == true { return nil }
            let piece = rest.prefix(capacity)
            _ = UnsafeMutableBufferPointer(start: target, count: capacity).update(from: piece)
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(piece.count))
            return piece.count
        }
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    /// The next event. Must not be called after `streamEnd` or an error.
    mutating func next() throws(ManifestProblem) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw problem() }
        defer { yaml_event_delete(&event) }
        return Event(kind: Self.kind(of: event), place: Self.place(of: event.start_mark))
    }

    private static func kind(of event: yaml_event_t) -> Kind {
        switch event.type {
        case YAML_STREAM_START_EVENT: return .streamStart
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_DOCUMENT_END_EVENT: return .documentEnd
        case YAML_ALIAS_EVENT:
            return .alias(text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let value = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return .scalar(
                ByteString(decoding: value),
                isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE,
                Properties(anchor: text(scalar.anchor), tag: text(scalar.tag)))
        case YAML_SEQUENCE_START_EVENT:
            let list = event.data.sequence_start
            return .listStart(Properties(anchor: text(list.anchor), tag: text(list.tag)))
        case YAML_MAPPING_START_EVENT:
            let map = event.data.mapping_start
            return .mapStart(Properties(anchor: text(map.anchor), tag: text(map.tag)))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .containerEnd
        // The end of the stream, and what libyaml returns after it.
        default: return .streamEnd
        }
    }

    private func problem() -> ManifestProblem {
        let error = parser.pointee
        let what = ByteString(error.problem.map { String(cString: $0) } ?? "out of memory")
        if error.error == YAML_READER_ERROR {
            // libyaml's reader reports its place in bytes only.
            return ManifestProblem(
                .syntax, "YAML: \(what)", place: place(ofByte: error.problem_offset))
        }
        if what.hasPrefix("Maximum nesting level") {
            // libyaml's own limit is 1000; its scanner reaches it when it looks ahead.
            return .tooDeep(at: Self.place(of: error.problem_mark))
        }
        let context = error.context.map { " " + String(cString: $0) } ?? ""
        let hint = Self.hint(
            to: what.string, line: error.problem_mark.line,
            begin: error.context == nil ? nil : error.context_mark.line, first: 0)
        return ManifestProblem(
            .syntax, "YAML: \(what)\(context)\(hint)", place: Self.place(of: error.problem_mark))
    }

    /// A hint where to look for a mistake: libyaml often finds it only in a later line.
    ///
    /// - Parameters:
    ///   - begin: the line at which the current element begins, if there is one.
    ///   - first: the number of the first line.
    package static func hint<Line: BinaryInteger>(
        to problem: String, line: Line, begin: Line?, first: Line
    ) -> String {
        if let begin, begin < line {
            return ", in the part that begins at line \(begin - first + 1)"
        }
        let isIndentation =
            problem.hasPrefix("mapping values are not allowed")
            || problem.hasPrefix("did not find expected key")
        return isIndentation ? "; check the indentation of this line" : ""
    }

    private func place(ofByte offset: Int) -> Document.Place {
        let before = bytes.prefix(max(0, offset))
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
        return Document.Place(line: line, column: column)
    }

    private static func place(of mark: yaml_mark_t) -> Document.Place {
        Document.Place(line: mark.line + 1, column: mark.column + 1)
    }

    private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> ByteString? {
        pointer.map { ByteString(String(cString: $0)) }
    }
}
