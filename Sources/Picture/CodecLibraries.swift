import CDarkroomShims

/// The libraries of the codec programs that decide what becomes of a picture, as statuses note them: `libwebp 1.2.4` by the
/// name of the program, `webp`. Without a picture that needs a program, none is started.
package enum CodecLibraries {
    /// The last two read colour profiles with tables, by lcms2, and PNG and JPEG where those are confined.
    private static let programs: [CodecProgram] =
        (CodecFormat.all.map(\.program) + OutputFormat.allCases.map(\.encoder.program))
        .compactMap(\.self) + [ProfileTables.program, ConfinedReader.program]

    /// Those that have taken part in a picture, as far as they have run.
    ///
    /// - Parameter programs: those of its reader, of its colours and of what lies over it.
    static func known(_ programs: [CodecProgram], writing format: OutputFormat) -> [String: String]?
    {
        known(programs + (format.encoder.program.map { [$0] } ?? []))
    }

    /// Those that read and write a picture that has failed. A program that is not installed has no library.
    ///
    /// - Parameters:
    ///   - kind: nil if nothing was read.
    ///   - format: nil if nothing is written.
    package static func known(
        failing kind: InputFormat?, writing format: OutputFormat?
    ) -> [String: String]? {
        let reader = kind.flatMap { PictureDecoder.decoder(of: $0)?.program }
        let programs = [reader, format?.encoder.program].compactMap(\.self)
        var libraries = known(programs) ?? [:]
        for program in programs where program.path == nil { libraries[program.name] = "" }
        return libraries.isEmpty ? nil : libraries
    }

    private static func known(_ programs: [CodecProgram]) -> [String: String]? {
        var libraries: [String: String] = [:]
        for program in programs { libraries[program.name] = program.knownLibrary?.version }
        return libraries.isEmpty ? nil : libraries
    }

    /// The library of a program now, by starting it; empty if it is not installed, and nil if it does not start or nobody
    /// knows it.
    package static func present(_ name: String) -> String? {
        guard let program = program(name) else { return nil }
        return program.path == nil ? "" : try? program.library().version
    }

    /// Tells the files of a program and of its libraries from others of the same version, by starting it; nil if it is not
    /// installed or does not start.
    package static func identity(_ name: String) -> String? {
        try? program(name)?.library().identity
    }

    /// The same of programs that have run. This starts nothing.
    package static func knownIdentities(_ names: some Sequence<String>) -> [String: String] {
        var identities: [String: String] = [:]
        for name in names { identities[name] = program(name)?.knownLibrary?.identity }
        return identities
    }

    /// The same of the programs that decode PNG and JPEG: of this one, and of another one if that decodes them; nil if that
    /// one does not start.
    package static func identity(confining rule: ConfineRule) -> String? {
        rule == .all ? identity(ConfinedReader.program.name).map { "\(own)-\($0)" } : own
    }

    private static let own = String(darkroom_picture_identity(), radix: 16)

    private static func program(_ name: String) -> CodecProgram? {
        programs.first { $0.name == name }
    }
}
