import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

extension SpoolAudit {
    /// Processes manifests without faults and returns the results as the reference. Each kind must have its intended
    /// result.
    package static func makeReference(
        _ manifests: [SampleManifest], on spool: TestSpool
    ) throws(SelfTestError) -> Reference {
        let ids = try manifests.map { manifest throws(SelfTestError) in try spool.drop(manifest) }
        let daemon = try spool.start()
        guard try spool.waitUntilIdle(daemon) else {
            let ending = daemon.poll().map { "\($0)" } ?? "it does not finish"
            throw spool.broken("a daemon without a fault point: \(ending)")
        }
        try spool.stop(daemon)
        var reference: Reference = [:]
        for (id, manifest) in zip(ids, manifests) {
            reference[manifest.kind] = try outcomes(of: FileName(id), manifest, spool)
        }
        return reference
    }

    private static func outcomes(
        of id: FileName, _ manifest: SampleManifest, _ spool: TestSpool
    ) throws(SelfTestError) -> [String: Expected] {
        let status = try spool.outboxFile(id, BatchFile.status).flatMap(Status.init(decoding:))
        var outcomes: [String: Expected] = [:]
        for image in status?.images ?? [] {
            if let output = image.output,
                let bytes = try spool.outboxFile(id, FileName(output.file))
            {
                outcomes[image.name] = .filtered(file: output.file, bytes)
            } else if let error = image.error {
                outcomes[image.name] = .failed(code: error.code)
            }
        }
        let filtered = outcomes.values.count { if case .filtered = $0 { true } else { false } }
        let isAsMeant =
            if let outcome = manifest.outcome {
                outcome == (filtered, outcomes.count - filtered)
            } else {
                status?.state == .rejected
            }
        guard isAsMeant else {
            throw .broken(
                "without a fault point \(id.text) is \(status.map { "\($0.state)" } ?? "lost"), with "
                    + "\(filtered) images filtered of \(status?.images.count ?? 0)")
        }
        return outcomes
    }
}
