import CDarkroomShims

/// What this machine does with the pictures of a format.
package struct FormatSupport: Sendable {
    /// `WebP`.
    package let name: String
    /// The name for programs: `webp`.
    package let word: String
    package let mediaType: String
    /// The extensions of names, with the dot.
    package let endings: [String]
    package let isRead: Bool
    package let isWritten: Bool
    /// The name and the version of the library, or why there is none.
    package let library: Result<String, PictureError>
    /// The Debian package that reads and writes it.
    package let debianPackage: String

    /// All formats that this version knows, from the tables of decoders and encoders. This starts the codec programs,
    /// which end with this process.
    package static func all() -> [FormatSupport] { PictureDecoder.all.map(FormatSupport.init) }

    private init(_ decoder: PictureDecoder) {
        name = decoder.name
        word = decoder.kind.word
        mediaType = decoder.mediaType
        endings = decoder.endings
        let writes = OutputFormat.allCases.contains { $0.encoder.kind == decoder.kind }
        if let program = decoder.program {
            library = Result { () throws(PictureError) in
                let words = try program.library().version
                // After a comma there is what encodes.
                return writes ? words : String(words.prefix { $0 != "," })
            }
            debianPackage = program.debianPackage
        } else {
            library = .success(Self.library(of: decoder.kind))
            debianPackage = CodecProgram.mainPackage
        }
        let isThere = (try? library.get()) != nil
        isRead = isThere
        isWritten = isThere && writes
    }

    /// The library of a kind that this process reads.
    private static func library(of kind: InputFormat) -> String {
        kind == .png
            ? "libpng \(String(cString: darkroom_libpng_version()))"
            : "libjpeg-turbo \(String(cString: darkroom_libjpeg_turbo_version()))"
    }
}

extension OutputFormat {
    /// Finds out the version of the library that writes it, by starting its program.
    ///
    /// - Returns: false if that does not start.
    package func findLibrary() -> Bool {
        encoder.program.map { (try? $0.library()) != nil } ?? true
    }

    /// The name and the version of the library with which a codec program writes it: `libwebp`, `1.2.4`. nil if this
    /// process writes it, and until the program has run.
    package var library: (name: String, version: String)? {
        guard let words = encoder.program?.knownLibrary?.version else { return nil }
        let parts = words.split(separator: " ", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
}
