/// The conversion of a reader's rows of CMYK, which is prepared when the first ones are read.
final class CMYKSource {
    /// If the profile cannot be used.
    private(set) var remarks: [String] = []
    private let profile: [UInt8]?
    private let input: PictureDecoder.Input
    private var made: CMYKConverter?
    /// Those that take part.
    var programs: [CodecProgram] { profile == nil ? [] : [ProfileTables.program] }

    /// - Parameters:
    ///   - profile: that of the file; nil without one.
    ///   - input: that of the reader, with the wanted space.
    init(profile: [UInt8]?, _ input: PictureDecoder.Input) {
        (self.profile, self.input) = (profile, input)
    }

    /// - Parameter layout: of the rows of RGB, the same each time.
    func converter(to layout: PixelLayout) throws(PictureError) -> CMYKConverter {
        if let made { return made }
        let (table, remark) = try CMYKTables.table(for: profile, to: input.profile, input)
        if let remark { remarks.append(remark) }
        let converter = CMYKConverter(to: layout, table: table)
        made = converter
        return converter
    }
}
