/// How the format of an output was decided.
package enum FormatOrigin: Sendable, Equatable {
    /// It was named, it is the usual one, or it is that of the image that a picture is made from.
    case given
    /// Not yet: the name of the source will tell it.
    ///
    /// - Parameter isShared: whether a recipe says so, which knows no sources. Then a source whose format is not written
    ///   is no mistake of the manifest, and only its image fails.
    case source(isShared: Bool)
    /// The extension of the source's name has told it.
    case ending
    /// The extension of the source's name means this kind of picture, of which no files are written; nil if it means none.
    /// The format stands for it in the name of the result, which is never made.
    case unwritten(InputFormat?)
}
