import ArgumentParser
import DarkroomPicture
import SystemPackage
import TestPictures

@main
struct StarfieldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "starfield", abstract: "Make a picture of a starry sky as a PNG file.")

    @Option(help: "In pixels.")
    var width = 512

    @Option(help: "In pixels.")
    var height = 384

    @Option(help: "Other numbers give other pictures.")
    var seed: UInt64 = 7

    @Option(help: "Bits of a sample, 8 or 16.")
    var depth = 8

    @Flag(help: "Add an alpha channel.")
    var alpha = false

    @Option(
        help: "What to show: \(Starfield.Scene.allCases.map(\.rawValue).joined(separator: ", ")).")
    var scene = Starfield.Scene.galaxy

    @Option(help: "Strength of the camera's noise in steps of 8 bits.")
    var noise: Float = 1.2

    @Option(name: .shortAndLong, help: "The file to write.")
    var output: String

    func validate() throws {
        guard depth == 8 || depth == 16 else { throw ValidationError("--depth is 8 or 16") }
        guard width > 0, height > 0 else { throw ValidationError("no picture has no pixels") }
    }

    func run() throws {
        var sky = Starfield(scene: scene, width: width, height: height, seed: seed)
        sky.noise = noise
        let target = try FileDescriptor.open(
            FilePath(output), .writeOnly, options: [.create, .truncate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
        try target.closeAfter {
            _ = try PNGWriter.write(
                PictureEncoder.Input(
                    ArrayStage(sky.picture(depth: depth, alpha: alpha)), to: target, name: output))
        }
    }
}

extension Starfield.Scene: ExpressibleByArgument {}
