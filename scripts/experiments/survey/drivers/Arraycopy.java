/** Java: blocks of 1 MiB into an array of 64 MiB. */
class Arraycopy {
    public static void main(String[] words) {
        final int mib = 1 << 20;
        byte[] source = new byte[16 * mib], target = new byte[64 * mib];
        for (int i = 0; i < source.length; ++i) source[i] = (byte) (i * 7 >> 3);
        int turns = Integer.parseInt(words[0]), start = 0;
        for (int turn = 0; turn < turns; ++turn) {
            start = turn % 4 * 16 * mib;
            for (int i = 0; i < 16 * mib; i += mib)
                System.arraycopy(source, i, target, start + i, mib);
        }
        java.util.zip.CRC32 sum = new java.util.zip.CRC32();
        sum.update(target, start, 16 * mib);
        System.out.println("result " + sum.getValue() + " " + 16 * mib);
    }
}
