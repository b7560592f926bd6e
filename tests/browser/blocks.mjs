// Writes block files for the tests of the page (docs/block-format.md), with XXH64 of their records.
import { writeFileSync } from "node:fs";

const MASK = (1n << 64n) - 1n,
  P1 = 0x9e3779b185ebca87n,
  P2 = 0xc2b2ae3d27d4eb4fn,
  P3 = 0x165667b19e3779f9n,
  P4 = 0x85ebca77c2b2ae63n,
  P5 = 0x27d4eb2f165667c5n;
const rotate = (x, r) => ((x << r) | (x >> (64n - r))) & MASK;
const round = (a, lane) => (rotate((a + lane * P2) & MASK, 31n) * P1) & MASK;
const merge = (h, v) => ((h ^ round(0n, v)) * P1 + P4) & MASK;

/** XXH64 with seed 0, as 16 digits. Slow: for small records only. */
export function xxh64(bytes) {
  const n = bytes.length,
    lane = (i) => bytes.readBigUInt64LE(i);
  let i = 0,
    h = P5;
  if (n >= 32) {
    let [a, b, c, d] = [(P1 + P2) & MASK, P2, 0n, -P1 & MASK];
    for (; i + 32 <= n; i += 32)
      [a, b, c, d] = [round(a, lane(i)), round(b, lane(i + 8)), round(c, lane(i + 16)), round(d, lane(i + 24))];
    h = (rotate(a, 1n) + rotate(b, 7n) + rotate(c, 12n) + rotate(d, 18n)) & MASK;
    for (const v of [a, b, c, d]) h = merge(h, v);
  }
  h = (h + BigInt(n)) & MASK;
  for (; i + 8 <= n; i += 8) h = (rotate(h ^ round(0n, lane(i)), 27n) * P1 + P4) & MASK;
  if (i + 4 <= n) {
    h = (rotate(h ^ ((BigInt(bytes.readUInt32LE(i)) * P1) & MASK), 23n) * P2 + P3) & MASK;
    i += 4;
  }
  for (; i < n; i++) h = (rotate(h ^ ((BigInt(bytes[i]) * P5) & MASK), 11n) * P1) & MASK;
  h = ((h ^ (h >> 33n)) * P2) & MASK;
  h = ((h ^ (h >> 29n)) * P3) & MASK;
  return (h ^ (h >> 32n)).toString(16).padStart(16, "0");
}

function record(lines, end) {
  const text = lines.join("\n") + "\n";
  return `${text}${end} ${text.split("\n").length - 1} ${xxh64(Buffer.from(text))}\n`;
}

function setText(set, number) {
  const lines = [
    `set ${number}`,
    ...Object.entries(set.params ?? {}).map(([k, v]) => `param ${k} ${v}`),
    ...(set.hints ?? []).map((hint) => `hint ${hint.join(" ")}`),
    ...(set.times ?? []).map((time) => `time ${time.join(" ")}`),
  ];
  for (const { rank = 0, key, unit = "ns", values } of set.series ?? []) {
    lines.push(`series ${rank} ${key} ${unit} ${values.length}`);
    for (let i = 0; i < values.length; i += 32) lines.push(values.slice(i, i + 32).join(" "));
  }
  lines.push(
    ...(set.errors ?? []).map((error) => `error ${error.join(" ")}`),
    ...(set.warnings ?? []).map((text) => `warning ${text}`),
  );
  return record(lines, "end-set");
}

let ids = 0;

/** `blocks`: [{ class, testname, inputs, facts, sets: [{ params, hints, times, series, errors, warnings }] }] */
export function writeBlocks(path, blocks) {
  const text = blocks.map((block) => {
    const head = [
      `id ${(++ids).toString(16).padStart(16, "0")}`,
      `class ${block.class}`,
      `testname ${block.testname}`,
      ...Object.entries(block.inputs ?? {}).map(([k, v]) => `input ${k} ${v}`),
      ...Object.entries(block.facts ?? {}).flatMap(([k, v]) => [v].flat().map((one) => `fact ${k} ${one}`)),
    ];
    return `piolet-block 1\n${record(head, "end-head")}${block.sets.map((set, i) => setText(set, i + 1)).join("")}end-block ${block.sets.length}\n`;
  });
  writeFileSync(path, text.join(""));
}
