import ArgumentParser
import DarkroomClient
import DarkroomCore
import Foundation

/// The arguments of `darkroom run`, which decide what it makes. `darkroom plan` has the same.
struct RunArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A manifest, or pictures: files, URLs or folders.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @OptionGroup var pictures: PictureOptions
    @OptionGroup var list: PictureListOption
    @OptionGroup var headers: HeaderOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Use this folder for the results. darkroom run creates it if it does not exist.",
            valueName: "dir"),
        completion: .directory)
    var output: String

    @Flag(help: "Repeat the images that have failed in an earlier run.")
    var retry = false

    @Flag(help: "Read all sources and outputs of a finished run, also where nothing looks changed.")
    var check = false

    @Flag(
        help:
            "Remove the outputs that no image has any more: of images that are gone from the manifest, or whose sources are gone."
    )
    var prune = false

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        try list.require(files)
        if output.isEmpty { throw ValidationError("--output: write a path") }
        // It is nobody's folder for results.
        if output.realPath == "/" {
            throw ValidationError("--output \(output): name a folder in the root folder")
        }
    }

    /// A shard does not know what the others have.
    func refusePruning() throws {
        guard prune else { return }
        throw ValidationError(
            "--prune is for a run without --shard; for shards, it is an option of darkroom merge")
    }

    var isOfPictures: Bool { !files.contains(where: ManifestArgument.isManifest) }
}
