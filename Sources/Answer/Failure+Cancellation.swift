import DarkroomCore
import DarkroomPicture

extension Failure {
    package var isCancellation: Bool { code == PictureError.Code.cancelled.rawValue }
}
