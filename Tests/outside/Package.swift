// swift-tools-version: 6.2

import PackageDescription

// A package of somebody else's: what it uses is public. Tests/run.sh outside puts it beside the repository and runs it.
let package = Package(
    name: "outside",
    dependencies: [.package(path: "darkroom")],
    targets: [
        .executableTarget(
            name: "sky",
            dependencies: [.product(name: "DarkroomPicture", package: "darkroom")])
    ]
)
