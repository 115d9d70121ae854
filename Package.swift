// swift-tools-version: 6.3

import PackageDescription

/// Every Swift target: Swift 6 language mode (the tools version gives it), no warning left standing.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]
/// The stations: what a file uses it imports, so that its imports say what it depends on.
let station = strict + [.enableUpcomingFeature("MemberImportVisibility")]
/// Tests/run.sh builds the tests for release, too, with the programs that are packaged. It leaves out the optimisation of
/// tests and tools, which would take longer than they run, and has makers of pictures optimised in each build. A package
/// with such flags cannot be a dependency, so they are there on demand only.
let isForTests = Context.environment["DARKROOM_TESTS_UNOPTIMIZED"] != nil
/// Tools of the tests.
let tool =
    isForTests ? strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))] : strict
/// Tests. Without the option the driver starts another process to write the module, which checks all declarations once
/// more, with all that macros expand to.
let test =
    isForTests
    ? tool
        + [.unsafeFlags(["-no-emit-module-separately-wmo"], .when(configuration: .release))] : tool
/// A product for other packages: the compiler refuses a public declaration that shows something of another module, unless
/// that is imported as public.
let exported = station + [.enableUpcomingFeature("InternalImportsByDefault")]

/// The program of a library that reads or writes pictures.
func codec(_ name: String, _ folder: String, _ libraries: [String]) -> Target {
    .executableTarget(
        name: "darkroom-codec-\(name)", dependencies: ["CDarkroomCodec"],
        path: "Sources/Codec\(folder)",
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// The programs that the tests of pictures start.
let codecs: [Target.Dependency] = [
    "webp", "heif", "tiff", "gif", "bmp", "jxl", "icc", "basic", "bad",
].map {
    .target(name: "darkroom-codec-\($0)")
}

/// All stations, in their order; tests and tools use any of them.
let library: [Target.Dependency] = [
    "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest", "DarkroomAnswer",
    "DarkroomSpool", "DarkroomBoard", "DarkroomPage", "DarkroomClient", "DarkroomWork",
    "DarkroomConfiguration", "DarkroomRun", "DarkroomDaemon", "DarkroomSelfTest",
]

/// The files of a folder of tests that DARKROOM_TESTS_LEFT_OUT names, as paths from the top folder with colons between:
/// a build under a sanitizer takes minutes, and runs few of them.
func leftOut(of folder: String) -> [String] {
    let prefix = "Tests/\(folder)/"
    return (Context.environment["DARKROOM_TESTS_LEFT_OUT"] ?? "").split(separator: ":")
        .filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
}

/// The targets of the stations' tests, and the folders of each in Tests/DarkroomTests. There are several, because for each
/// macro the compiler looks through what all others in the target expand to.
let stationTests: [(target: String, folders: [String])] = [
    ("DarkroomPictureTests", ["Picture"]),
    ("DarkroomManifestTests", ["Core", "Fetch", "Manifest"]),
    ("DarkroomSpoolTests", ["Answer", "Spool", "Page", "SelfTest"]),
    ("DarkroomWorkTests", ["Board", "Work", "Daemon"]),
    ("DarkroomClientTests", ["Client", "Run", "Manual"]),
]

func testTarget(_ name: String, of folders: [String], _ fixtures: [Target.Dependency] = [])
    -> Target
{
    let others = (stationTests.flatMap(\.folders) + ["Fixtures"]).filter { !folders.contains($0) }
    let left = leftOut(of: "DarkroomTests").filter { file in
        folders.contains { file.hasPrefix("\($0)/") }
    }
    return .testTarget(
        name: name,
        dependencies: library + codecs + fixtures + [
            "TestSupport", "TestPictures", .product(name: "Yams", package: "Yams"),
        ],
        path: "Tests/DarkroomTests", exclude: others + left, swiftSettings: test)
}

let package = Package(
    name: "darkroom",
    products: [
        // One program under two names; see Sources/darkroom/main.swift. The package has it once.
        .executable(name: "darkroomd", targets: ["darkroom"]),
        .executable(name: "darkroom", targets: ["darkroom"]),
        .library(name: "DarkroomPicture", targets: ["DarkroomPicture"]),
        // For the tests.
        .library(name: "clockshim", type: .dynamic, targets: ["CDarkroomClockShim"]),
        .library(name: "shareshim", type: .dynamic, targets: ["CDarkroomShareShim"]),
    ],
    dependencies: [
        // The command lines of both programs: options, --help, completions.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // The logging interface; the one handler behind it, for the journal, is ours.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        // Paths, descriptors and errno with types.
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        // Configuration in layers: command line, environment, file. (The file is read with Yams, which tells
        // the line of each key, so none of its formats is needed.)
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        // Queues and heaps of what waits (Deque, Heap).
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // YAML manifests, and the place of each key in the configuration file.
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    ],
    targets: [
        // The name of a C module must be unique in a whole program, also among other packages. So these have a prefix.
        //
        // libcurl: downloads. It is loaded on demand; the target has typed wrappers for its variadic calls.
        .target(name: "CDarkroomCurl", path: "Sources/CCurl"),
        // libsystemd: the journal, and notification of the service manager.
        .systemLibrary(
            name: "CDarkroomSystemd", path: "Sources/CSystemd", pkgConfig: "libsystemd",
            providers: [.apt(["libsystemd-dev"])]),
        // libcrypto, which libcurl uses, too: SHA-256 with the processor's instructions.
        .systemLibrary(
            name: "CDarkroomCrypto", path: "Sources/CCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        // What Swift cannot call: libpng and libjpeg behind setjmp, Linux calls Glibc's module leaves out.
        .target(
            name: "CDarkroomShims",
            dependencies: [
                "CDarkroomPixels", "CDarkroomDeflate", "CDarkroomJpeg", "CDarkroomCodecWire",
            ],
            path: "Sources/CShims",
            linkerSettings: [.linkedLibrary("png16"), .linkedLibrary("z"), .linkedLibrary("jpeg")]),
        // Kernels over rows of pixels, SIMD chosen at run time.
        .target(name: "CDarkroomPixels", path: "Sources/CPixels"),
        // Deflate both ways for rows of pixels: writers of our own for photographs and for drawings,
        // libdeflate where bytes matter more than time; an inflater of our own.
        .target(
            name: "CDarkroomDeflate", dependencies: ["CDarkroomPixels"], path: "Sources/CDeflate",
            linkerSettings: [.linkedLibrary("deflate"), .linkedLibrary("z")]),
        // The data of usual JPEG files, twice as fast as libjpeg-turbo and with its pixels. libjpeg-turbo
        // reads what is unusual or damaged.
        .target(name: "CDarkroomJpeg", dependencies: ["CDarkroomPixels"], path: "Sources/CJpeg"),
        // What a daemon and a codec process say to each other, and how both choose a quality.
        .target(name: "CDarkroomCodecWire", path: "Sources/CCodecWire"),
        // The codec processes: a program that waits and forks for each picture, confined by libseccomp's list of system
        // calls. Each library has a program, so that a machine needs only those it uses.
        .target(
            name: "CDarkroomCodec", dependencies: ["CDarkroomCodecWire"], path: "Sources/CCodec",
            linkerSettings: [.linkedLibrary("seccomp")]),
        codec("webp", "WebP", ["webp", "webpdemux", "webpmux", "m"]),
        codec("heif", "HEIF", ["heif"]),
        codec("tiff", "TIFF", ["tiff"]),
        codec("gif", "GIF", ["gif"]),
        codec("bmp", "BMP", []),
        codec("jxl", "JXL", ["jxl"]),
        // Tables of colours from profiles.
        codec("icc", "ICC", ["lcms2"]),
        // The readers of PNG and JPEG in such a process, for who wants no picture to be decoded in the daemon.
        .executableTarget(
            name: "darkroom-codec-basic", dependencies: ["CDarkroomCodec", "CDarkroomShims"],
            path: "Sources/CodecBasic", linkerSettings: [.linkedLibrary("m")]),
        // The stations of a manifest, in their order: each target uses only those before it.
        //
        // What all need: descriptors, folders, errors, the clock, the kinds of records in the journal.
        .target(
            name: "DarkroomCore",
            dependencies: [
                "CDarkroomCrypto", "CDarkroomShims",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Core", swiftSettings: station),
        // Readers, filters and writers of pictures.
        .target(
            name: "DarkroomPicture",
            dependencies: [
                "DarkroomCore", "CDarkroomShims", "CDarkroomPixels", "CDarkroomDeflate",
                "CDarkroomCodecWire",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Picture", swiftSettings: exported),
        // Downloads, the rules for them, the cache, local sources.
        .target(
            name: "DarkroomFetch",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "CDarkroomCurl", "CDarkroomShims",
                "CDarkroomDeflate", "CDarkroomCrypto",
                .product(name: "Yams", package: "Yams"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Fetch", swiftSettings: station),
        // Manifests: formats, schema, every error with its place.
        .target(
            name: "DarkroomManifest",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch",
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Sources/Manifest", swiftSettings: station),
        // What is said of a batch, as data: status, progress, reports, commands, records of its journal; each with its
        // writer and its reader.
        .target(
            name: "DarkroomAnswer",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "CDarkroomShims",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Answer", swiftSettings: station),
        // The contract on disk: folders, claim and receipt, status, journal of images, recovery, retention.
        .target(
            name: "DarkroomSpool",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "CDarkroomShims",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Spool", swiftSettings: station),
        // Who goes next, as a value: the stages of images, places, turns, memory.
        .target(
            name: "DarkroomBoard",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            path: "Sources/Board", swiftSettings: station),
        // The pages of a batch, for people: HTML and previews.
        .target(
            name: "DarkroomPage",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "DarkroomSpool",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Page", swiftSettings: station),
        // What a client program does with a spool: find it, drop files, find and read answers.
        .target(
            name: "DarkroomClient",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "DarkroomSpool", "CDarkroomShims",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Sources/Client", swiftSettings: station),
        // The work itself: operations on queues, publication.
        .target(
            name: "DarkroomWork",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "DarkroomSpool", "DarkroomBoard", "DarkroomPage",
                "CDarkroomShims",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Work", swiftSettings: station),
        // The settings of the engine: the file, its layers, and what each station gets of them.
        .target(
            name: "DarkroomConfiguration",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "DarkroomSpool", "DarkroomBoard", "DarkroomWork",
                "CDarkroomShims",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Sources/Configuration", swiftSettings: station),
        // One batch in a folder of its own, by the same engine, in a process that ends with it.
        .target(
            name: "DarkroomRun",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "DarkroomSpool", "DarkroomBoard", "DarkroomWork",
                "DarkroomConfiguration",
                "CDarkroomShims",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Run", swiftSettings: station),
        // Inbox, signals, notification, metrics; wires the stations together.
        .target(
            name: "DarkroomDaemon",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "DarkroomSpool", "DarkroomBoard", "DarkroomWork",
                "DarkroomConfiguration",
                "CDarkroomShims",
                "CDarkroomSystemd",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/Daemon", swiftSettings: station),
        // `darkroomd --self-test`: checks of a mount, daemons that are killed, the audit of what is left.
        .target(
            name: "DarkroomSelfTest",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "DarkroomSpool", "DarkroomWork", "DarkroomDaemon",
                "CDarkroomShims",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Sources/SelfTest", swiftSettings: station),
        // What comes before anything else of the program: keeps the arguments, fills closed standard streams, blocks the
        // control signals of a daemon.
        .target(name: "CDarkroomEntry", path: "Sources/CEntry"),
        // The daemon's command line.
        .target(
            name: "DarkroomDaemonCommand",
            dependencies: library + [
                "CDarkroomEntry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/darkroomd", swiftSettings: strict),

        // The program, and the command for people and scripts.
        .executableTarget(
            name: "darkroom",
            dependencies: [
                "DarkroomCore", "DarkroomPicture", "DarkroomFetch", "DarkroomManifest",
                "DarkroomAnswer", "DarkroomSpool", "DarkroomPage", "DarkroomClient",
                "DarkroomWork",
                "DarkroomConfiguration", "DarkroomRun", "DarkroomDaemonCommand", "CDarkroomEntry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),

        // What the tests share: scratch folders, an origin, the daemon as a process.
        .target(
            name: "TestSupport",
            dependencies: library, path: "Tests/Support",
            swiftSettings: strict),
        // Makers and readers of pictures for the tests. No two threads use one of them at once. Without optimisation they
        // take long, most of all under a sanitizer. The option goes to the compiler itself: the driver takes the last of its
        // own ones, which Tests/run.sh gives it.
        .target(
            name: "TestPictures",
            dependencies: ["DarkroomPicture"], path: "Tests/Pictures",
            swiftSettings: isForTests
                ? strict + [.unsafeFlags(["-Xfrontend", "-O"])] : strict),
        // Puts a daemon's clocks ahead or back; a library to be loaded before the C library's.
        .target(name: "CDarkroomClockShim", path: "Tests/ClockShim"),
        // Makes a folder one of a share, for a run; loaded in the same way.
        .target(name: "CDarkroomShareShim", path: "Tests/ShareShim"),
        // Makes the procedural pictures of the samples and benchmarks.
        .executableTarget(
            name: "starfield",
            dependencies: [
                "TestPictures",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Starfield", swiftSettings: strict),
        // Holds colour filters against their definitions for all colours; built for release.
        .executableTarget(
            name: "exact",
            dependencies: library + ["CDarkroomPixels"], path: "Tests/Exact",
            swiftSettings: strict),
        // Lets the system fail the daemon; see Tests/run.sh faults.
        .executableTarget(
            name: "faults",
            dependencies: library + [
                "darkroom",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Faults", exclude: ["codec_shim.c", "shim.c"], swiftSettings: tool),
        // Measures Darkroom beside its peers; see Tests/bench.sh.
        .executableTarget(
            name: "benchmark",
            dependencies: library + [
                "TestSupport", "TestPictures", "CDarkroomShims",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/Benchmark",
            exclude: ["peers.c", "peer.py", "compression.c", "jpeg.c", "codec.c"],
            swiftSettings: tool),
        // A codec that misbehaves, for the tests.
        .executableTarget(
            name: "darkroom-codec-bad", dependencies: ["CDarkroomCodec", "CDarkroomShims"],
            path: "Tests/BadCodec", linkerSettings: [.linkedLibrary("m")]),
        // What the tests of several stations share. Only a target of tests may import what is internal: others are built
        // for users, too.
        testTarget("DarkroomFixtures", of: ["Fixtures"]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: library + ["TestSupport", "TestPictures"],
            exclude: leftOut(of: "EndToEndTests"), swiftSettings: test),
    ]
)

package.targets += stationTests.map {
    testTarget($0.target, of: $0.folders, ["DarkroomFixtures"])
}

// Nor are the tools of the other tests needed there.
if Context.environment["DARKROOM_TESTS_LEFT_OUT"] != nil {
    package.targets.removeAll { ["benchmark", "exact", "faults", "starfield"].contains($0.name) }
}
