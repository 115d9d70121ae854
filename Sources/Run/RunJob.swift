import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork

/// What a run has to do: a manifest that has been checked, and where its pictures and its results are.
package struct RunJob: Sendable {
    /// The ID of the batch.
    package var id: String
    /// The name of the manifest's file, for people.
    package var name: String
    package var format: ManifestFormat
    package var bytes: [UInt8]
    package var manifest: Manifest
    /// The absolute path of the folder at which relative sources begin.
    package var base: String
    package var usesBase: Bool
    /// The folders in which relative sources are looked for instead of `base`; nil if nobody has set `sources.roots`.
    var roots: [String]?
    var defaultFilters: String?
    var defaultProfile = OutputProfile.keep
    /// The folder of the results, as its user has named it.
    package var folder: String
    /// Whether images that failed in an earlier run are repeated.
    package var retries: Bool
    /// The part of the manifest that is worked on; nil for the whole.
    package var shard: ShardRequest?
    /// Whether the manifest was made of pictures that were named on the command line.
    package var isOfPictures = false
    /// Whether all sources and outputs of a finished run are read.
    package var checks = false
    /// Whether outputs that no image has any more are removed.
    package var prunes = false
    /// Whether a shard that has ended has counted the pages of its sources again.
    package var hasCountedAgain = false
    /// Pictures of an answer, which come before all others.
    var kept: KeptPictures?
    /// Asks the servers of sources; nil to take all for unchanged.
    var remote: RemoteLook?
    /// The limits of now; nil if nobody knows them.
    var settings: BatchSettings?
    /// The status of the former run in the folder; nil to read it when it is needed.
    package var prefetch: StatusPrefetch?
    /// Where sources are looked for; nil for any file.
    var localSources: LocalSources?

    var sources: LocalSources { localSources ?? LocalSources(relativeTo: base, maximumBytes: .max) }

    package init(
        id: String, name: String, format: ManifestFormat, bytes: [UInt8], manifest: Manifest,
        base: String, usesBase: Bool, folder: String, retries: Bool = false,
        shard: ShardRequest? = nil
    ) {
        self.id = id
        self.name = name
        self.format = format
        self.bytes = bytes
        self.manifest = manifest
        self.base = base
        self.usesBase = usesBase
        self.folder = folder
        self.retries = retries
        self.shard = shard
    }

    /// - Parameters:
    ///   - shards: how the manifest is divided, for a run of a part.
    ///   - id: that of the former run in the folder; nil without one.
    func plan(_ shards: RunPlan.Shards?, id: String? = nil) -> RunPlan {
        // A changed recipe makes another manifest of the same text.
        let recipes = manifest.recipes.flatMap { Array("\($0.name) \($0.sha256)\n".utf8) }
        return RunPlan(
            id: id ?? self.id, manifest: name, sha256: SHA256Digest.hex(of: bytes),
            recipes: recipes.isEmpty ? nil : SHA256Digest.hex(of: recipes),
            base: usesBase ? base : nil, roots: usesBase ? roots : nil,
            defaultFilters: manifest.usesDefaultFilters ? defaultFilters : nil,
            defaultProfile: defaultProfile, shards: shards, format: format,
            isOfPictures: isOfPictures)
    }
}
