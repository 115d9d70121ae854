import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Synchronization

/// The outputs of former images that get others, or that no image has any more.
extension RunFolder {
    /// Lists them before anything happens to them.
    func listFormer(_ status: Status, _ result: ImageComparison.Result) throws(RunError) {
        var kept: Set<ByteString> = []
        var gone: Set<ByteString> = []
        for (verdict, image) in zip(result.verdicts, result.images) {
            if case .made(let reason) = verdict {
                if reason == .gone { gone.insert(ByteString(image.name)) }
                continue
            }
            if let output = image.output { kept.insert(ByteString(output.file)) }
        }
        for image in status.images {
            guard let output = image.output, !kept.contains(ByteString(output.file)) else {
                continue
            }
            formerOutputs.add(
                .init(output, of: image, isGone: gone.contains(ByteString(image.name))))
        }
        try runError(of: formerOutputs.write(in: spool.root, durably: durably))
    }

    /// What a run does after its last status: outputs of images that are gone are removed on request, and listed otherwise.
    func settleFormer(of images: [ImageStatus]) throws(RunError) {
        noteStanding(images)
        let before = formerOutputs.byFile
        if before.isEmpty { return }
        let found = try FormerFiles(
            before, outputs: outputs, manifest: job.manifest,
            results: images.map(FormerFiles.Result.init), sources: job.sources)
        try formerOutputs.settle(
            found.settled, in: outputs, removesFolders: job.prunes && !spool.isReadOnly)
        let removed = job.prunes ? try formerOutputs.prune(found.gone, in: outputs) : 0
        if !spool.isReadOnly, removed > 0 || formerOutputs.byFile != before {
            try runError(of: formerOutputs.write(in: spool.root, durably: durably))
        }
        // A shard does not know whether another one has such a file now. `ShardMerge` tells it.
        let left = shard == nil && !job.prunes ? found.gone.map(\.string) : []
        changes.withLock { changes in
            if changes == nil { changes = RunChanges() }
            changes?.gone = left
            changes?.stale = found.stale.map(\.string)
            changes?.away = found.away.map(\.string)
            changes?.removed += removed
        }
    }

    /// Counts the images that were to be made, and that turned out to have the same, or could not be made.
    private func noteStanding(_ images: [ImageStatus]) {
        let formers = formers.withLock { exchange(&$0, with: FormerResults()) }
        for (index, entry) in formers.entries.sorted(by: { $0.key < $1.key }) {
            guard images.indices.contains(index), let reason = entry.makeReason else { continue }
            switch entry.ending(of: images[index]) {
            case .made: break
            case .stood: changes.withLock { $0?.stood(after: reason) }
            case .stoodAlone(let cause):
                let name = images[index].name
                changes.withLock { changes in
                    changes?.stood(after: reason)
                    changes?.alone[cause, default: []].append(name)
                    if reason == .settings { changes?.outdated += 1 }
                }
            }
        }
    }
}
