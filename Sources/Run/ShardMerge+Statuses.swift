import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import SystemPackage

/// The statuses of the shards, and that of an earlier merge.
extension ShardMerge {
    /// Opens the status of each shard, and notes those that are not final or not of this run.
    func streams(_ report: inout MergeReport) throws(RunError) -> [StatusStream] {
        var streams: [StatusStream] = []
        let piece = min(256 << 10, max(16 << 10, (32 << 20) / shards.count))
        for number in 1...shards.count {
            guard let shard = Shard(number, of: shards.count) else { break }
            let folder = RunParts.name(of: shard).text
            do {
                let name = FileName("\(folder)/\(BatchFile.status.text)")
                guard let stream = try StatusStream(name, in: shared, piece: piece),
                    !stream.frame.isOfFormerRun
                else {
                    report.missing.append(.init(shard: number, reason: .notBegun))
                    continue
                }
                let frame = stream.frame
                if let message = foreign(frame, number) {
                    report.add(message, in: number)
                } else if !frame.state.isFinal {
                    report.missing.append(.init(shard: number, reason: .unfinished(frame.counts)))
                } else {
                    if frame.counts.failed > 0 { report.failed.append(number) }
                    streams.append(stream)
                }
            } catch .file(let error) {
                guard error.errno == .tooManySymbolicLinkLevels else { throw RunError(error) }
                report.add("a symbolic link is in the place of its status", in: number)
            } catch {
                report.add(unreadableStatus(of: number), in: number)
            }
        }
        return streams
    }

    /// What is said of a shard whose status cannot be read.
    func unreadableStatus(of number: Int) -> String {
        guard let shard = Shard(number, of: shards.count) else { return StatusDefect.unknown }
        let name = FileName("\(RunParts.name(of: shard).text)/\(BatchFile.status.text)")
        return "its status.json: \(StatusDefect.sentence(of: name, in: shared))"
    }

    /// Why a status is not that of this shard; nil if it is.
    private func foreign(_ frame: Status, _ number: Int) -> String? {
        guard FileName(frame.id) == FileName(plan.id) else {
            return "its status is that of another run, \(frame.id)"
        }
        guard frame.manifest.sha256 == plan.sha256 else {
            return "its status is that of another manifest"
        }
        guard frame.shards == Status.Shards(count: shards.count, number: number) else {
            return "its status is that of another shard"
        }
        return nil
    }

    /// The whole status of an earlier merge of this run, also of an earlier revision; nil if there is none.
    func former() -> StatusStream? {
        guard let stream = try? StatusStream(in: outputs), stream.frame.isWhole(of: plan) else {
            return nil
        }
        return stream
    }
}
