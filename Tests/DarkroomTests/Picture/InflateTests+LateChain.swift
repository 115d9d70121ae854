import CDarkroomPixels
import Foundation
import TestPictures
import Testing

extension InflateTests {
    /// A fuzzer has made this stream: of the four chains, one meets the next one only behind the place where that one meets
    /// the third.
    private static let late = """
        eAEFwVFuFgQQgMGd/fYg/zl8I8GEPuiDNyBQpEmlxlTOz8zN7h5mZt12u+Ns2cls15qd6ap17W6axNZezbZ3o1o2t92N////////
        /7EZm842uT2Nsdet3dzu7u7MzIA5o53bvW639mZ2MnvnMmeaaqe7aYY119XNTHM3e9exche5q9sxGtfc3Bx3Ztnb2W5pzG53c3va
        vT1r1Lp2Inu3zF3TbcyYrb3abdvpbrJ7e3F1s1sz7pY7Nzdz7Qyum9Ps7ext3WWv3RnuarVNaxvNzt60mLN3k3JjdrSTnXW6obPm
        tjm5NWasHXbGaZp1dnd3TbU2ajMzM7trNrd3e4fZNbtuRtvM7MzN3Wl3tbNb256x193dDa0bNw5mZ3bNZU9t26gZ0+4Z08na27kZ
        9lZmbN3O7JibMbt25pYbTbJm7HR7OzcZe9k9Mzs3a9bdzOzOobli27Fqus7ODWZmZztT23btsu2sznDTTWtuZmbcNrs2THZnazZ2
        jJltj53MdYubonG7mj3d3M3c3u7dxZxbO7fn2jOdzEy2m5mTU7s3pllGO43dHdXOTrvCzTi27N2OvWtvdtu1c93eTV1nm467dUxu
        t7vbMzvNuJvmyrbNze60jbsxs7ftnmtvbkiMGm7OrnHZqWu7ye4Zbs3MXGtvdt3MqdPcttfd7qzZq2taZvdmXJzd5mZ3ZjO3dzNu
        p+3OzM5qmjP22m5uprna62amnc623dxt57Kmu2nv4rrVNHPb3rqrMbvJzVzaOnd7OzvMTrt7a8buRq7bjJhQUaTs+Xu2UdRYAGDH
        zJhJZgEgBwAyxAAA0zm3u7t2AQ52d2dSpAIQwMa4rYoAAQAgQIAAIQSAACGEAAFCAAgQIASAEAJAgAAhAACEEAACBIAQIECAAAAA
        EAAAIEAAAAgBAAAAAABCgBBCAAAIEAKEAAAAEAJAAAAIEABCCAFCgAAAACFAgAAAAQAgBIAQACAAhBAgBAgQAkAIACGEACGEEAAA
        QggQQggAEAIEAAgQAkAIAAEgQAgBQoAQAAKEEAIECBAAIAQIAAABAkAIECAAhAAAIUCAABBCCAAQAgQIASBAgAAhhBAChBBCgAAh
        hADQ3x/++IAQQgghhBAAAgBACCFAAAgAIYQQAkAIEEIIECAEAIAAECCEEAJAgAAhBAghBIAQAEIIEAIABIAAASAEgBAAAAIAAIQQ
        AgAEAIAQAkCAEAIEgBAAQoAQIABAAAgAIUAAAAgQIEAIASBACCFAgBAAAgQIASCEAPD0+58ff3u8/f/+ePv2+Pf185dnAgBACAEg
        QAAIAQIECAAAAAEAAAIEAIAQAAAAAAAgBAghBACAACFACAAAACEABACAAAEghBAgBAgAABACBAgAEAAAQgAIAQACQAgBQoAAIQCE
        ABBCCBBCCAEAIIQAIYQAACFAAIAAIQCEABAAAoQQIAQIASBACCFAgAABAEKAAAAQIACEAAECQAgAEAIECMDTj5+fX1++Pr69vL4/
        //f45/n9+9vXx8uPx9Onj38RQggAEAIECAEgQIAAIYQQAoQQ4hfZejEr
        """

    @Test func aChainMayBeMetLate() throws {
        defer { darkroom_cpu_limit(DARKROOM_CPU_AVX512) }
        let stream = Array(
            try #require(Data(base64Encoded: Self.late, options: .ignoreUnknownCharacters)))
        let expected = try Inflater.zlib(stream)
        for level in [DARKROOM_CPU_SCALAR, DARKROOM_CPU_AVX512] {
            darkroom_cpu_limit(level)
            let made = try Self.inflate(stream, expected.count)
            #expect(made == expected, "level \(level.rawValue)")
        }
    }
}
