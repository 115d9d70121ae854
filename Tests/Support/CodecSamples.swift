import Foundation

/// Small files of the kinds that codec programs read, made by other programs (Pillow, libjxl). Each shows the same picture
/// of 8 × 6 pixels: red is 30·x, green 40·y, blue 15·(x + y). With alpha, it is 36·x from the second row on.
package enum CodecSamples {
    package static let webp = bytes(
        """
        UklGRioAAABXRUJQVlA4TB4AAAAvB0ABALmM6H/sIqL/ASEBYY7/GyULxmMeYgKAWzc=
        """)

    package static let webpAlpha = bytes(
        """
        UklGRjYAAABXRUJQVlA4TCkAAAAvB0ABELmM6H/sIqL/YVDQtg1TOOWP8Y7BNB59EAiksF2egEeawjU5AwA=
        """)

    package static let webpLossy = bytes(
        """
        UklGRmoAAABXRUJQVlA4IF4AAAAQAgCdASoIAAYAAIAIJbACdLcAAZCXcJHAAP7//f9f/6I4BiX+i3dIT3KosONA
        2s78/+++eUcfhzh/8cv/s++9/+bj/ybf8EnxX//M0v/ybf8EVef8k3/5qRHNeAAA
        """)

    package static let tiff = bytes(
        """
        SUkqAKYAAACAACBB4AA8eAAPFoAC08AAeJYAEtaAAtNIAGkACgHh4UB4eCgWloUDw8CglpYUFpaCg0tIUQ0oB4PF
        AWjwoDwtFAlngoFpLFA0rQoHhpFBDgA8C0PHgeSQllo8VA8GlLHg8LQ8IdpHiIKAeB5QEseKAtFpQGk8KCuKBDrR
        QJZpKBSgBkEsPMgtDxkGktMirMhDpZkJZaMhStJkLSAgAAoAAAEDAAEAAAAIAAAAAQEDAAEAAAAGAAAAAgEDAAMA
        AAAkAQAAAwEDAAEAAAAFAAAABgEDAAEAAAACAAAAEQEEAAEAAAAIAAAAFQEDAAEAAAADAAAAFgEDAAEAAAAGAAAA
        FwEEAAEAAACdAAAAHAEDAAEAAAABAAAAAAAAAAgACAAIAA==
        """)

    package static let tiffAlpha = bytes(
        """
        SUkqAKYAAAB4nA3NoQ1EIRAFwNfBdYBCYH4HWwAJBr0dkFDA6+BbFBpzHWwRaBTFkHA3DQyA6/C5AncVzyXkdqRr
        0LtQLsIHLjgv4YkapDKk1oOahbJX4EF2cPnxkiVqTpVZW8/FLHOv/B7wgaN4YYpKrWRpnTTjuxf7wfjPI3kZGnWU
        ysHWx2s2+l7jezAT3FQvs0SdrJxv67Obze9e084Pln1S+QsAAAEDAAEAAAAIAAAAAQEDAAEAAAAGAAAAAgEDAAQA
        AAAwAQAAAwEDAAEAAAAIAAAABgEDAAEAAAACAAAAEQEEAAEAAAAIAAAAFQEDAAEAAAAEAAAAFgEDAAEAAAAGAAAA
        FwEEAAEAAACeAAAAHAEDAAEAAAABAAAAUgEDAAEAAAACAAAAAAAAAAgACAAIAAgA
        """)

    package static let tiffCMYK = bytes(
        """
        SUkqAM4AAAD+/xwA4f/wAMP/4QCl/9IAh//DAGn/tABL/6UALf+WAB//1/AA4dfhAMPX0gCl18MAh9e0AGnXpQBL
        15YALdeHAB//r+EA4a/SAMOvwwClr7QAh6+lAGmvlgBLr4cALa94AB//h9IA4YfDAMOHtAClh6UAh4eWAGmHhwBL
        h3gALYdpAB//X8MA4V+0AMNfpQClX5YAh1+HAGlfeABLX2kALV9aAB//N7QA4TelAMM3lgClN4cAhzd4AGk3aQBL
        N1oALTdLAAAKAAABAwABAAAACAAAAAEBAwABAAAABgAAAAIBAwAEAAAATAEAAAMBAwABAAAABYAAAAYBAwABAAAA
        BQAAABEBBAABAAAACAAAABUBAwABAAAABAAAABYBAwABAAAABgAAABcBBAABAAAAxQAAABwBAwABAAAAAQAAAAAA
        AAAIAAgACAAIAA==
        """)

    package static let gif = bytes(
        """
        R0lGODdhCAAGAIUAANLItLTIpZbIltKgpbSglpagh3jIh1rIeHigeFqgadJ4lrR4h5Z4eHh4aVp4WjzIaR7IWgDI
        SzygWh6gSwCgPDx4Sx54PAB4LdJQh7RQeJZQaXhQWlpQSzxQPB5QLQBQHtIoeLQoaZYoWtIAabQAWpYAS3goS1oo
        PHgAPFoALTwoLR4oHgAoDzwAHh4ADwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
        AAAAAAAAACwAAAAACAAGAAAIOQBfuGiRAkUJEiNYrFBxwoSIECA+eOjAYYOGDBguWKjgoAGDBQooTJCQAEEBAgMi
        QHhwwICAAAACAgA7
        """)

    package static let bmp = bytes(
        """
        Qk3GAAAAAAAAADYAAAAoAAAACAAAAAYAAAABABgAAAAAAJAAAADEDgAAxA4AAAAAAAAAAAAAS8gAWsgeacg8eMha
        h8h4lsiWpci0tMjSPKAAS6AeWqA8aaBaeKB4h6CWlqC0paDSLXgAPHgeS3g8WnhaaXh4eHiWh3i0lnjSHlAALVAe
        PFA8S1BaWlB4aVCWeFC0h1DSDygAHigeLSg8PChaSyh4WiiWaSi0eCjSAAAADwAeHgA8LQBaPAB4SwCWWgC0aQDS
        """)

    package static let avif = bytes(
        """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAA
        AAAAAAAAAAAAAAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAiQAAAChpaW5mAAAA
        AAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAACAAAAAYA
        AAAQcGl4aQAAAAADCAgIAAAADGF2MUOBIAAAAAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQB
        AoMEAAAAkW1kYXQSAAoIOAi9YQENBpAyexAAAPf0jfY4+5kDn/kzrZAmocnExzfiQh1iB9M7Ae7p8R3XeuTBeImJ
        4upycHP6Pb3CeKphquY5Nh6t67PKjhPCeU7Qt49xMNsCt27qJWyYyUiu5LWg8V0SlQP6AO9VwF/UYo2r9c761m/S
        w6YaD4GAW1dxP9UVnSKoNA==
        """)

    package static let jxl = bytes(
        """
        /wooMBAJCAIBAOQASyg1xt7eCgoiRmxwjMG7Y5AbY2PsAUSMkQAA5DgSSIj0smUt7zfunyBNwE2PK+7/cR5/egsb
        MPEG
        """)

    private static func bytes(_ text: String) -> [UInt8] {
        Array(Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
    }
}
