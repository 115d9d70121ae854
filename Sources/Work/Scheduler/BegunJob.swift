import DarkroomBoard
import DarkroomCore
import DarkroomSpool

/// A job of the board that has begun, with what its operation needs of its batch.
@dynamicMemberLookup
struct BegunJob<Job> {
    let job: Job
    let folders: BatchFolders
    let cancellation: CancellationFlag

    subscript<Value>(dynamicMember path: KeyPath<Job, Value>) -> Value { job[keyPath: path] }
}

extension BegunJob: Sendable where Job: Sendable {}

extension Scheduler {
    func begun<Job>(_ job: Job, of key: BatchKey, id: String) -> BegunJob<Job> {
        BegunJob(job: job, folders: folders(of: id), cancellation: cancellations.flag(of: key))
    }
}
