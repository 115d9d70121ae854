import DarkroomAnswer
import DarkroomConfiguration
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Glibc
import SystemPackage

/// `darkroom filter`: one picture from one open file to another, by the steps of a picture in a batch.
///
/// Its manifest has one image, and one for each picture that is laid over it. Nothing is left in any folder.
package struct SinglePicture: Sendable {
    private let picture: Manifest.Image
    /// The images before it, which are laid over it.
    private let layers: [Manifest.Image]
    private let sources: LocalSources
    private let limits: PictureLimits
    private let memory: Int
    private let maximumBytes: Int

    /// - Parameter manifest: the last image is the picture. The others have local sources.
    package init(_ manifest: Manifest, _ loaded: ConfigurationLoader.Loaded) {
        let settings = loaded.runSettings(base: "/")
        picture = manifest.images[manifest.images.count - 1]
        layers = manifest.images.dropLast()
        sources = settings.localSources
        limits = settings.pictureLimits
        memory = settings.mostMemoryOfOne
        maximumBytes = loaded.configuration.downloads.maxBytes
    }

    /// What is worth knowing about a picture, and did not make it fail.
    package struct Warning: Sendable, Equatable {
        /// The picture's name in messages.
        package let picture: String
        package let text: String
    }

    package struct Filtered: Sendable {
        package let report: PictureReport
        /// The warnings, those of the pictures that are laid over it first.
        package let warnings: [Warning]
    }

    /// Filters the picture in `input`.
    ///
    /// - Parameters:
    ///   - input: a picture from the present position on. If it is not a regular file, it is first copied to one
    ///     without a name.
    ///   - name: its name in messages.
    ///   - output: a regular file at its beginning, which is not closed. After a failure, its content is not a picture.
    package func filter(
        _ input: borrowing Descriptor, named name: String, to output: FileDescriptor,
        named outputName: String
    ) -> Result<Filtered, Failure> {
        do {
            var pictures: [ByteString: LayerFile] = [:]
            var warnings: [Warning] = []
            for layer in layers { pictures[layer.name] = try developed(layer, &warnings) }
            let source = try regular(input, name)
            let report = try develop(source, name, picture, to: output, outputName) {
                (layer) throws(PictureError) in
                guard let found = pictures[ByteString(layer)] else {
                    return try StageContext.noImage(layer)
                }
                return OtherImage(try found.reopened(layer), name: layer)
            }
            warnings += report.warnings.map { Warning(picture: name, text: $0) }
            return .success(Filtered(report: report, warnings: warnings))
        } catch {
            return .failure(Failure(erasing: error))
        }
    }

    /// The pixels of a picture that is laid over another, in a file without a name.
    private func developed(
        _ layer: Manifest.Image, _ warnings: inout [Warning]
    ) throws -> LayerFile {
        let path: String
        switch layer.origin {
        case .source(.local(let local)): path = local.path
        case .source(.refused(_, let error)): throw error
        case .source(.remote), .image:
            throw FetchError(
                .sourceForbidden,
                "\(RedactedURL.text(layer.name.string)): not a file of this machine")
        }
        let source = try sources.open(path).takeDescriptor()
        let name = layer.source?.shown ?? ""
        let file = try UnnamedFile.make()
        let report = try develop(
            source, name, layer, to: file.file, layer.resultName, StageContext.noImage)
        warnings += report.warnings.map { Warning(picture: name, text: $0) }
        return LayerFile(file)
    }

    private func develop(
        _ input: borrowing Descriptor, _ name: String, _ image: Manifest.Image,
        to output: FileDescriptor, _ outputName: String,
        _ openImage: @escaping StageContext.ImageOpener
    ) throws -> PictureReport {
        let head = try input.read(TransferReport.prefixLength, at: 0, path: name)
        if let refusal = InputFormat(prefix: head).refusal(of: name) { throw refusal }
        var steps = image.steps(within: limits)
        steps.openImage = openImage
        let conversion = PictureConversion(name, steps, to: PictureResult(output, name: outputName))
        let report: PictureReport
        switch try PicturePipeline.run(conversion, .file(input.file), admit: { $0 <= memory }) {
        case .made(let made): report = made
        case .needs(let bytes):
            throw PictureError.memoryLimit(bytes, limit: memory).naming(name, or: [])
        }
        if image.isStrict, let error = PictureError.warned(report.warnings, of: name) {
            throw error
        }
        return report
    }

    /// The picture in a regular file at its beginning.
    private func regular(_ input: borrowing Descriptor, _ name: String) throws -> Descriptor {
        let information = try input.information(path: name)
        let number = input.number
        if information.isFolder { throw FetchError(.notAFile, "\(name): a folder, not a file") }
        if LocalSources.isOfKernel(input, information) {
            throw FetchError(
                .sourceForbidden, "\(name): a file of the kernel (/proc, /sys), not a picture")
        }
        if information.isRegularFile, lseek(number, 0, SEEK_CUR) == 0 {
            try requireSize(information.length, name)
            return Descriptor(owning: try retryingInterrupts(.open, name) { dup(number) })
        }
        let file = try UnnamedFile.make()
        let size = try file.copy(from: input, upTo: maximumBytes, path: name)
        try requireSize(size, name)
        return file
    }

    private func requireSize(_ bytes: Int, _ name: String) throws(FetchError) {
        guard bytes > maximumBytes else { return }
        throw FetchError(
            .tooLarge,
            "\(name): the file has more than the limit of \(Units.bytes(maximumBytes))")
    }
}

/// The pixels of a picture that is laid over another.
private final class LayerFile {
    private let file: Descriptor

    init(_ file: consuming Descriptor) { self.file = file }

    /// The same file at its beginning, with a position of its own.
    func reopened(_ name: String) throws(PictureError) -> Descriptor {
        do {
            return try Descriptor(opening: "/proc/self/fd/\(file.number)")
        } catch {
            throw PictureError(
                .readFailed, "\(name): opening it: \(error.errno)",
                storageFailure: error.errno.storageFailure)
        }
    }
}
