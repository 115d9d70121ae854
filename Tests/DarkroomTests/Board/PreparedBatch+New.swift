import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

extension PreparedBatch {
    /// A batch that has just been taken.
    static func new(_ id: String, _ manifest: Manifest, owner: UInt32?) -> PreparedBatch {
        let status = Status(
            id: id, manifest: .init(name: id, file: nil, sha256: nil, bytes: 0, uid: owner),
            state: .pending, times: .init(received: Clock.timestamp),
            counts: Status.Counts(new: manifest.images.count),
            images: ImageStatus.initial(of: manifest))
        return PreparedBatch(id: id, manifest: manifest, status: status)
    }
}
