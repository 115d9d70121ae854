/// What each folder has that is on the way to these files, by its path; that of the first one is empty.
package func namesInFolders(of files: [String]) -> [String: Set<String>] {
    var names: [String: Set<String>] = [:]
    for file in files {
        var folder = ""
        for name in file.split(separator: "/").map(String.init) {
            names[folder, default: []].insert(name)
            folder = folder.isEmpty ? name : "\(folder)/\(name)"
        }
    }
    return names
}
