import DarkroomCore
import DarkroomManifest
import DarkroomPicture

/// The formats of codec programs in a self-test: those that this machine reads and writes.
package struct SampleFormats: Sendable {
    /// Small pictures that codec programs read: `small.webp`.
    package private(set) var read: [FileName] = []
    package private(set) var written: [OutputFormat] = []
    /// What is left out, with the reason.
    package private(set) var leftOut: [String] = []

    /// The formats that codec programs write. `made` takes a large picture for the first two.
    private static let ofPrograms: [OutputFormat] = {
        let first: [OutputFormat] = [.webp, .tiff]
        return first
            + OutputFormat.allCases.filter { $0.encoder.program != nil && !first.contains($0) }
    }()

    /// Makes the pictures in a folder. Programs that this starts end with this process, or after a minute.
    init(in folder: Directory) throws(SelfTestError) {
        let formats = FormatSupport.all()
        for format in Self.ofPrograms {
            let name = FileName("small.\(format.rawValue)")
            do throws(PictureError) {
                try SamplePictures.write(SamplePictures.small, as: format, to: name, in: folder)
                read.append(name)
                written.append(format)
            } catch {
                guard error.kind == .codecMissing else { throw .broken(error.message) }
                leftOut.append("\(format.title): \(error.message)")
                try onFiles(of: folder.remove(name))
            }
        }
        for (word, bytes) in [("gif", SamplePictures.gif()), ("bmp", SamplePictures.bmp())] {
            guard let format = formats.first(where: { $0.word == word }) else { continue }
            switch format.library {
            case .success:
                let name = FileName("small.\(word)")
                try onFiles(of: folder.write(bytes, to: name, durably: false))
                read.append(name)
            case .failure(let error):
                leftOut.append("\(format.name): \(error.message)")
            }
        }
        try cut(in: folder)
    }

    private func cut(in folder: Directory) throws(SelfTestError) {
        guard let name = read.first else { return }
        try onFiles { () throws(FileError) in
            let whole = try folder.read(name)
            try folder.write(
                Array(whole[..<(whole.count / 2)]), to: "cut-\(name.text)", durably: false)
        }
    }

    /// Manifests with these formats. There are none if there is no codec program.
    package var manifests: [SampleManifest] { [converted, made].compactMap { $0 } }

    /// Each kind that is read, to PNG and to each kind that is written; and a picture that fails.
    var converted: SampleManifest? {
        guard let first = read.first else { return nil }
        var images = ["{name: cut, source: cut-\(first.text)}"]
        for (index, name) in read.enumerated() {
            images.append("{name: r\(index), source: \(name.text), filters: [flip]}")
            guard !written.isEmpty else { continue }
            let format = written[(index + 1) % written.count]
            images.append(
                "{name: c\(index), source: \(name.text), output: {format: \(format.rawValue)}}")
        }
        return SampleManifest(
            kind: "converted", format: .yaml, text: Self.text(images),
            outcome: (images.count - 1, 1))
    }

    /// Each kind that is written, and images that are made from these.
    var made: SampleManifest? {
        var images: [String] = []
        for (index, format) in written.enumerated() {
            let output = "output: {format: \(format.rawValue)}"
            let source = index < 2 ? "large.png" : "alpha.png"
            images.append("{name: w\(index), source: \(source), \(output)}")
            images.append("{name: f\(index), from: w\(index), filters: [{resize: 20}], \(output)}")
        }
        guard !images.isEmpty else { return nil }
        return SampleManifest(
            kind: "made", format: .yaml, text: Self.text(images), outcome: (images.count, 0))
    }

    fileprivate static func text(_ images: [String]) -> String {
        "images:\n" + images.map { "  - \($0)\n" }.joined()
    }
}

extension SampleManifest {
    /// Pictures that two codec programs read and write, for tests in which every system call counts.
    package static let codecs = SampleManifest(
        kind: "codecs", format: .yaml,
        text: SampleFormats.text([
            "{name: a, source: small.webp}", "{name: b, source: small.tiff}",
            "{name: c, source: small.png, output: {format: webp}}",
            "{name: d, source: small.png, output: {format: tiff}}",
        ]), outcome: (4, 0))
}
