import DarkroomCore
import DarkroomPicture

/// Gives the images of a manifest the paths of their outputs by `output.name`, after they have names.
///
/// No output replaces another one:
///
/// | two images of a manifest would get                   | then                                                        |
/// |------------------------------------------------------|-------------------------------------------------------------|
/// | the same path, and all of it is known                | the manifest is rejected                                    |
/// | a path that is a folder on the way of another one    | the manifest is rejected                                    |
/// | paths that are the same except what is known later   | nothing yet: see `BatchFolders.publish`                     |
/// | the same path when they are made, and the same bytes | both have this one file                                     |
/// | the same path when they are made, and other bytes    | the one that is made later fails                            |
enum OutputNaming {
    static func isNeeded(_ drafts: [ImageDraft]) -> Bool {
        drafts.contains { $0.settings.output.name != nil }
    }

    static func decide(of drafts: inout [ImageDraft], _ problems: inout ProblemList) {
        // The variants of an image have its number.
        var number = 0
        let numbers = drafts.indices.map { index in
            if drafts[index].variant.map({ $0.first == index }) ?? true { number += 1 }
            return number
        }
        let width = String(number).utf8.count
        var owners: [ByteString: Int] = [:]
        for index in drafts.indices where drafts[index].isPublished {
            let draft = drafts[index]
            if let template = draft.settings.output.name {
                let name = OutputName(
                    template,
                    OutputName.Values(
                        name: draft.name, stem: draft.stem,
                        folders: template.contains(.folder)
                            ? draft.source.map { OutputName.folders(of: $0) } ?? [] : [],
                        variant: draft.variantSuffix,
                        index: numbers[index].digits(width: width),
                        format: draft.settings.output.format))
                drafts[index].file = name
                if let fault = name.fault {
                    problems.add(
                        .badName, "the path of its output \(fault)", at: draft.path,
                        draft.namePlace)
                    continue
                }
            }
            let file = drafts[index].file
            guard file?.isKnown ?? true else { continue }
            let path = file?.pattern ?? draft.outputFile
            guard let owner = owners.updateValue(index, forKey: path) else { continue }
            // Two images of one name have a problem already.
            guard draft.name != drafts[owner].name else { continue }
            problems.add(
                .duplicateName,
                "‘\(draft.name.shortened)’ would have the same output file as "
                    + "‘\(drafts[owner].name.shortened)’, \(drafts[owner].path): ‘\(path.shortened)’; "
                    + "with {name} or {index} in ‘output.name’, it has another one",
                at: draft.path, draft.namePlace)
        }
        for draft in drafts {
            guard let file = draft.file, draft.isPublished else { continue }
            for folder in OutputPath.folders(of: file.pattern.string) {
                guard let owner = owners[folder] else { continue }
                problems.add(
                    .duplicateName,
                    "the output file of ‘\(drafts[owner].name.shortened)’, \(drafts[owner].path), would be in the place of the folder ‘\(folder.shortened)’",
                    at: draft.path, draft.namePlace)
            }
        }
    }
}

extension ImageDraft {
    /// The name of its source's file, with the number of the page; the name of an image that is made from another one.
    fileprivate var stem: ByteString {
        guard let source else { return name }
        return "\(ImageName.derived(from: source))\(pageSuffix)"
    }

    /// The name of the image of whose variants it is one; nil if it is none.
    var variantsName: ByteString? {
        guard variant != nil else { return nil }
        guard givenName.isEmpty, let source else { return givenName }
        let derived = "\(ImageName.derived(from: source))\(pageSuffix)" as ByteString
        // After the suffix, the name may have a number.
        let withSuffix = ImageName.derived(from: source, suffix: suffix)
        guard name.hasPrefix(withSuffix) else { return derived }
        return "\(derived)\(ByteString(decoding: name.utf8.dropFirst(withSuffix.utf8.count)))"
    }
}
