import DarkroomCore
import DarkroomPicture

extension Failure {
    /// Whether the work was stopped, and has not failed.
    package var isCancellation: Bool { code == PictureError.Code.cancelled.rawValue }
}
