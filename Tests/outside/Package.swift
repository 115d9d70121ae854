// swift-tools-version: 6.3

import PackageDescription

// A package of somebody else: of Darkroom it sees what is public. `bash Tests/run.sh outside` builds and runs it.
let package = Package(
    name: "outside",
    dependencies: [.package(name: "darkroom", path: "../..")],
    targets: [
        // The example of etc/doc/picture.md.
        .executableTarget(
            name: "example",
            dependencies: [.product(name: "DarkroomPicture", package: "darkroom")]),
        // Uses all that is public.
        .executableTarget(
            name: "everything",
            dependencies: [.product(name: "DarkroomPicture", package: "darkroom")],
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ]
)
