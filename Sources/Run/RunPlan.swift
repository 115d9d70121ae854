import DarkroomCore
import DarkroomSpool
import Foundation
import Glibc
import SystemPackage

/// `.darkroom/plan.json` in the folder of a run: on which manifest it works. It is written once, before anything else, so
/// that a later run with another manifest is refused instead of mixing its outputs with these.
package struct RunPlan: Codable, Sendable, Equatable {
    static let fileName: FileName = "plan.json"
    private static let newName: FileName = "plan.new"
    private static let capacity = 64 << 10

    /// The version of this format. A reader refuses a version that it does not know.
    var schemaVersion = 1
    /// The ID of the batch.
    let id: String
    /// The name of the manifest's file, for people.
    let manifest: String
    /// Of the manifest, in hexadecimal.
    let sha256: String
    /// The folder at which relative paths begin; nil if the manifest has none.
    let base: String?

    init(id: String, manifest: String, sha256: String, base: String?) {
        self.id = id
        self.manifest = manifest
        self.sha256 = sha256
        self.base = base
    }

    /// The plan in the folder; nil if there is none.
    static func read(in folder: Directory) throws(RunError) -> RunPlan? {
        let bytes: [UInt8]
        do {
            bytes = try folder.read(fileName, upTo: capacity)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw .file(error)
        }
        guard let plan = try? JSONDecoder().decode(RunPlan.self, from: Data(bytes)),
            plan.schemaVersion == 1
        else { throw .unreadable(folder.path(of: fileName)) }
        return plan
    }

    /// Writes the plan into a folder that has none.
    func write(into folder: Directory, durably: Bool) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings and integers can always be encoded.
        let text = (try? encoder.encode(self)) ?? Data()
        try folder.write(
            Array(text) + [UInt8(ascii: "\n")], to: Self.newName, replacing: true,
            durably: durably)
        FaultPoint.planWritten.pass()
        try folder.rename(Self.newName, to: folder, as: Self.fileName)
        FaultPoint.planMoved.pass()
    }

    /// Why a run with the plan `other` may not continue this one; nil if it may.
    func conflict(with other: RunPlan, in folder: String) -> RunError? {
        guard sha256 == other.sha256 else {
            return .otherManifest(folder: folder, manifest: manifest)
        }
        guard let base, let otherBase = other.base, base != otherBase else { return nil }
        // The folder may have been moved, or another machine may have it at another place. But if both exist, the same
        // paths mean other pictures.
        guard let former = FolderIdentity(base), former != FolderIdentity(otherBase) else {
            return nil
        }
        return .otherBase(folder: folder, base: base)
    }
}

/// Tells a folder from all others, whatever its path.
private struct FolderIdentity: Equatable {
    let device: UInt64
    let inode: UInt64

    /// nil if there is no such folder.
    init?(_ path: String) {
        guard let information = try? Directory(path: path).information() else { return nil }
        device = UInt64(information.st_dev)
        inode = UInt64(information.st_ino)
    }
}
