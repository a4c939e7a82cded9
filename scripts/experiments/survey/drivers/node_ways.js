// node: blocks of 1 MiB into a typed array of 64 MiB, and buffers put together.
const [way, count] = process.argv.slice(2);
const MIB = 1 << 20;
const source = Buffer.alloc(16 * MIB);
for (let i = 0; i < source.length; ++i) source[i] = (i * 7) >> 3;
const blocks = Array.from({ length: 64 }, (_, i) => source.subarray(i << 16, (i + 1) << 16));
const target = new Uint8Array(64 * MIB);
function set(turn) {
  const start = (turn % 4) * 16 * MIB;
  for (let i = 0; i < 16 * MIB; i += MIB) target.set(source.subarray(i, i + MIB), start + i);
  return Buffer.from(target.buffer, start, 16 * MIB);
}
let result;
for (let turn = 0; turn < Number(count); ++turn)
  result = way === "set" ? set(turn) : Buffer.concat(blocks);
const sum = require("crypto").createHash("sha1").update(result).digest("hex").slice(0, 8);
console.log(`result ${sum} ${way === "set" ? 16 * MIB : 4 * MIB}`);
