import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomManifest
import Foundation

struct MakeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Print the manifest for pictures and filters.",
        discussion: """
            Prints what darkroom submit would submit for the same pictures and options, as JSON. Names of files may \
            contain any characters.

            Examples:
              darkroom make photos/*.jpg --filter sepia=0.8 --filter thumbnail=1600
              darkroom make *.png --filter crop:width=100,height=50,x=0,y=0 -o crops.yaml
              darkroom make photo.jpg --filter resize=800x600 --watermark logo.png

            thumbnail=1600 scales a picture to at most 1600 by 1600 pixels.

            Exit status: 0 success, 64 the command line is wrong, 65 a picture cannot be named or the manifest would be \
            rejected, 66 a picture does not exist, 77 no permission.
            """)

    @Argument(
        help: ArgumentHelp("Pictures: files, URLs or folders.", valueName: "file"),
        completion: .file())
    var files: [String] = []

    @OptionGroup var pictures: PictureOptions
    @OptionGroup var list: PictureListOption
    @OptionGroup var priority: PriorityOption
    @OptionGroup var page: PageOption

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the manifest into this file; as YAML if its name ends in .yaml or .yml.",
            valueName: "file"), completion: .file())
    var output: String?

    @Flag(help: "With -o: print one JSON object that names the file of the manifest.")
    var json = false

    @OptionGroup var spool: SpoolOptions

    func validate() throws {
        try list.require(files)
        if json, output == nil {
            throw ValidationError(
                "--json needs -o FILE: without it, standard output has the manifest, which is JSON")
        }
    }

    func run() throws {
        let format = try outputFormat()
        // Without a spool, the manifest is the same for most pictures.
        let report = try? spool.open().queue()
        let job = try pictures.job(
            .init(files: files, list: list.list), priority: priority.value(), page: page.page,
            report)
        let manifest = try job.manifest()
        let file = ManifestFile(manifest, shown: "the manifest")
        let checked = try file.manifest(ManifestRules(report))
        let text = manifest.manifest(in: format)
        guard let output else { return try Console.text(text) }
        do {
            try Data(text.utf8).write(to: URL(filePath: output), options: .atomic)
        } catch {
            throw ClientError(
                .ioError, code: "file-error",
                "\(FileName(output).text): cannot write: "
                    + (SystemCause.of(error)?.description ?? error.localizedDescription),
                remedy: "No manifest was written. Name another file with -o, or correct the cause.")
        }
        guard json else { return }
        try Console.json([
            "type": "make", "output": output, "images": checked.images.count,
            "bytes": text.utf8.count, "exit": ClientExit.success.rawValue,
        ])
    }

    private func outputFormat() throws(ClientError) -> ManifestFormat {
        guard let output else { return .json }
        guard let format = ManifestFormat(fileName: output), format != .plist else {
            throw .badOption(
                "-o \(FileName(output).text): the name must end in .json, .yaml or .yml")
        }
        return format
    }
}
