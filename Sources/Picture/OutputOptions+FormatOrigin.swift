import DarkroomCore

extension OutputOptions {
    /// Takes a format, or the rule that it is that of the source.
    ///
    /// - Parameter isShared: whether a recipe says it.
    package mutating func choose(_ choice: FormatChoice, isShared: Bool) {
        switch choice {
        case .format(let format):
            self.format = format
            origin = .given
        case .source: origin = .source(isShared: isShared)
        }
    }

    /// Takes the format of other options, or their rule for it.
    package mutating func takeFormat(of other: OutputOptions) {
        (format, origin) = (other.format, other.origin)
    }

    /// Takes the format of the image that this one is made from. Its pixels are handed over in a file without a name.
    package mutating func inheritFormat(of other: OutputOptions) {
        takeFormat(of: other)
        if origin == .ending { origin = .given }
    }

    /// Whether an option can have an effect. Of what only a source tells, any option can.
    package func has(_ option: OutputOption) -> Bool {
        isFormatOpen || option.formats.contains(format)
    }

    /// Whether the format is not decided yet.
    package var isFormatOpen: Bool {
        if case .source = origin { true } else { false }
    }

    /// Decides the format by the name of the source's file.
    package mutating func decideFormat(byName name: String) {
        let kind = PictureDecoder.all.first { $0.endings.contains(where: name.hasEnding) }
        if let written = kind?.written {
            (format, origin) = (written, .ending)
        } else {
            (format, origin) = (kind?.nearest.first ?? .png, .unwritten(kind?.kind))
        }
    }

    /// Why no file of this format is written, as a sentence; nil if files are written.
    ///
    /// - Parameter name: of the source's file, if that is to be in the sentence.
    package func formatRefusal(of name: String? = nil) -> String? {
        guard case .unwritten(let kind) = origin else { return nil }
        let rule = "‘format: source’"
        guard let kind, let decoder = PictureDecoder.decoder(of: kind) else {
            let subject = name.map { "the name ‘\($0)’" } ?? "the name of the source"
            return "\(rule): \(subject) does not tell a format that darkroom writes; name a format,"
                + " such as png"
        }
        let nearest = Words.list(decoder.nearest.map(\.rawValue), "or")
        return
            "\(rule): \(name.map { "‘\($0)’" } ?? "the source") is \(kind.words) by its name, and"
            + " darkroom does not write \(decoder.name); name another format, such as \(nearest)"
    }

    /// The error of a picture whose result has no format.
    var refusal: PictureError? { formatRefusal().map { PictureError(.formatNotWritten, $0) } }

    /// What to say if the source is of another format than its name says. The result has a name already, so it keeps
    /// its format.
    func remark(on kind: InputFormat) -> String? {
        guard origin == .ending, kind != format.encoder.kind else { return nil }
        return "this is \(kind.words), but its name is that of \(format.encoder.kind.words); the"
            + " result is \(format.title), as its name says"
    }
}

extension PictureDecoder {
    /// The format in which such pictures are written; nil if they are only read.
    fileprivate var written: OutputFormat? {
        OutputFormat.allCases.first { $0.encoder.kind == kind }
    }
}
