import DarkroomCore
import DarkroomPicture

/// What is known about a source from its first bytes.
enum SourceFinding: Sendable {
    /// - Parameter bytes: the size of the file; nil if the server has not told it.
    case header(PictureHeader, bytes: Int64?)
    /// What the daemon would say.
    case failure(Failure)
    /// Why it is not known what the daemon would say.
    case unknown(String)
}
