// Results for the tests of the page: of every class that the page draws and that is not quickly measured here.
import { readFileSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { writeBlocks } from "./blocks.mjs";

const random = (() => {
  let state = 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
})();
const times = (count, mean) =>
  Array.from({ length: count }, () => Math.round(mean * (0.7 + 0.6 * random()) * (random() < 0.01 ? 12 : 1)));

export const facts = (place, more = {}) => ({
  nprocs: 4,
  product_version: "0.1.0",
  hostname: place.host,
  timestamp: "2026-11-15T10:02:11Z",
  mpi_library: "MPICH Version: 4.0.2",
  mpiio: "ROMIO",
  filesystem: place.filesystem,
  filesystem_source: place.device,
  memory_bytes: 8_000_000_000,
  cores: 4,
  ...more,
});

export const PLACES = [
  { host: "alpha", filesystem: "ext4", device: "/dev/sda1", directory: "/scratch", speed: 1 },
  { host: "alpha", filesystem: "btrfs", device: "/dev/sdb", directory: "/project", speed: 1.8 },
];

/** Two operations of two processes, of which one half is slower. */
export function lowlevel(path, count = 500, ranks = 2, more = {}) {
  const sets = [10_000, 100_000].map((block) => ({
    params: { filesize_bytes: count * block * ranks, blocksize_bytes: block, collective: "false", layout: "strided" },
    hints: [["used", "cb_nodes", "1"]],
    times: Array.from({ length: ranks }, (_, r) => [r, "pre_time", 100_000 + r]),
    series: ["w", "r"].flatMap((key) =>
      Array.from({ length: ranks }, (_, rank) => ({
        rank,
        key,
        values: times(count, key === "w" ? 60_000 : 20_000).map((v, i) => (i < count / 2 ? v : 2 * v)),
      })),
    ),
  }));
  writeBlocks(path, [
    { class: "Lowlevel", testname: "multiple", inputs: { filename: "t.dat" }, facts: facts(PLACES[0]), sets, ...more },
  ]);
}

export function peak(path) {
  writeBlocks(
    path,
    PLACES.map((place) => ({
      class: "Peak",
      testname: "device",
      inputs: { on: place.directory },
      facts: facts(place, {
        io_node: place.host,
        "config.filesystem": place.filesystem,
        "config.device": place.device,
        "config.rotational": "no",
        "config.scheduler": "mq-deadline",
      }),
      sets: [
        ...["write", "read"].flatMap((operation) =>
          ["sequential", "strided", "random"].flatMap((access, a) =>
            [4096, 65536, 1048576].map((request) => {
              const bytes = 64 * 1048576,
                rate = (place.speed * (operation === "read" ? 900 : 500)) / (1 + a) / (1 + 30_000 / request);
              return {
                params: {
                  operation,
                  access,
                  request_bytes: request,
                  file_bytes: bytes,
                  direct: "no",
                  processes: 1,
                  bytes,
                },
                times: [[0, `${operation}_time`, Math.round((bytes * 1e3) / rate)]],
                series: [{ key: operation[0], values: times(64, (request * 1e3) / rate) }],
              };
            }),
          ),
        ),
        ...["create", "open", "stat", "unlink", "fsync"].map((operation, i) => ({
          params: { operation },
          series: [{ key: operation, values: times(200, 8000 * (i + 1)) }],
        })),
        {
          params: { kind: "device", device: "disk" },
          series: ["at", "busy", "queue"].map((key) => ({ key, values: [100_000_000] })),
        },
      ],
    })),
  );
}

export function replay(path) {
  writeBlocks(
    path,
    PLACES.map((place) => {
      const samples = 60,
        period = 50_000_000,
        phase = (number, begin, end, operations, count) => ({
          params: {
            kind: "phase",
            phase: number,
            count,
            executed: count,
            weight_bytes: 42448320,
            read_bytes: operations.startsWith("read") ? 42448320 : 0,
            written_bytes: operations.startsWith("write") ? 42448320 : 0,
            total_bytes: 42448320 * count,
            operations,
            metadata: "no",
            repetition: 1,
            begin_ns: begin,
            end_ns: end,
            total_ns: Math.round((end - begin) / place.speed),
            total_low_ns: Math.round((0.9 * (end - begin)) / place.speed),
            total_high_ns: Math.round((1.12 * (end - begin)) / place.speed),
          },
          series: [0, 1, 2, 3].map((rank) => ({ rank, key: "phase", values: times(count, (end - begin) / count) })),
        });
      const wave = (scale, reads) =>
        Array.from({ length: samples }, (_, i) =>
          Math.round(
            scale *
              place.speed *
              Math.max(0, reads ? (i > 36 ? 1 : 0.02) : i > 4 && i < 36 ? 1 : 0.03) *
              (0.8 + 0.4 * random()),
          ),
        );
      return {
        class: "Replay",
        testname: "phases",
        inputs: { model: "btio.model", on: place.directory, mpiio: "system", pace: "fast", cache: "asis", repeat: 1 },
        facts: facts(place, {
          model_hash: "0123456789abcdef",
          program: "bt.B.4",
          configuration: `${place.directory}, system`,
          start_ns: 1763200931000000000n,
          "config.filesystem": place.filesystem,
          "config.device": place.device,
        }),
        sets: [
          phase(1, 200_000_000, 1_800_000_000, "write_at_all", 40),
          phase(2, 1_850_000_000, 2_900_000_000, "read_at_all", 1),
          {
            params: { kind: "device", device: place.device, repetition: 1 },
            series: [
              { key: "at", values: Array.from({ length: samples }, (_, i) => (i + 1) * period) },
              { key: "read", unit: "B", values: wave(30e6, true) },
              { key: "written", unit: "B", values: wave(20e6, false) },
              { key: "reads", unit: "count", values: wave(240, true) },
              { key: "writes", unit: "count", values: wave(160, false) },
              { key: "busy", values: wave(20e6, false).map((v, i) => Math.min(period, v + (i > 36 ? 30e6 : 0))) },
              { key: "queue", values: wave(60e6, false) },
            ],
          },
        ],
      };
    }),
  );
}

export function prediction(path) {
  const phases = [
    ["1", "40 × collective strided write of 10.1 MiB", "write_at_all", 40],
    ["2", "40 collective strided reads of 10.1 MiB", "read_at_all", 1],
  ];
  writeBlocks(path, [
    {
      class: "Prediction",
      testname: "phases",
      facts: { model_hash: "0123456789abcdef", program: "bt.B.4", source: ["replay.out", "peak.out"], nprocs: 4 },
      sets: PLACES.flatMap((place, p) => [
        ...phases.map(([phase, words, operations, count], i) => ({
          params: {
            kind: "phase",
            configuration: `${place.directory}, system`,
            phase,
            words,
            operations,
            weight_bytes: i ? 1697932800 : 42448320,
            count,
            time_ns: Math.round(1.7e9 / place.speed),
            time_low_ns: Math.round(1.5e9 / place.speed),
            time_high_ns: Math.round(1.9e9 / place.speed),
            bw_ch_bytes_per_s: Math.round(300e6 * place.speed),
            bw_pk_bytes_per_s: Math.round(480e6 * place.speed),
            usage_percent: 62.5 - 20 * i,
            measured_ns: Math.round(1.65e9 / place.speed),
            measured_bw_bytes_per_s: Math.round(310e6 * place.speed),
            error_bw_percent: 3.2,
            error_time_percent: i ? 14.1 : 3.0,
            noise_percent: 2.1,
            method: "replay",
          },
        })),
        {
          params: {
            kind: "total",
            configuration: `${place.directory}, system`,
            time_ns: Math.round(3.4e9 / place.speed),
            time_low_ns: Math.round(3.0e9 / place.speed),
            time_high_ns: Math.round(3.8e9 / place.speed),
            place: 2 - p,
            decides: 1,
            reason: "phase 1 decides: its writes are 1.8 times as fast",
          },
        },
      ]),
    },
  ]);
}

export const HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'&$&`${1}";

/** Every place where a file may say something. */
export function hostile(path) {
  lowlevel(path, 20, 1, {
    testname: HOSTILE.replaceAll(" ", "_"),
    inputs: { filename: HOSTILE },
    facts: {
      ...facts(PLACES[0]),
      hostname: HOSTILE,
      filesystem: HOSTILE,
      mpiio: HOSTILE,
      mpi_library: HOSTILE,
      warning: HOSTILE,
    },
    sets: [
      {
        params: { filesize_bytes: 1000, blocksize_bytes: 100, [`x${HOSTILE.replaceAll(" ", "")}`]: HOSTILE },
        hints: [["asked", "cb_nodes", HOSTILE]],
        series: [{ key: "w", values: [1, 2, 3] }],
        errors: [["E_IO", 0, HOSTILE]],
        warnings: [HOSTILE],
      },
    ],
  });
}

/** A page of the build's template with a payload that no version of the program has written. */
export function page(template, path, report) {
  const encode = (bytes) => deflateSync(bytes).toString("base64");
  const element = (id, bytes) => `<script type="text/plain" id="${id}">${encode(bytes)}</script>`;
  const data = [element("piolet-json", JSON.stringify(report)), element("piolet-columns", Buffer.alloc(8))].join("\n");
  writeFileSync(
    path,
    readFileSync(template, "utf8").replace("<!--piolet:data-->", () => data),
  );
}

const DOCUMENT = {
  block: "b1",
  title: "Many small files",
  notes: ["The files were in one directory.", HOSTILE],
  tables: [
    {
      key: "rates",
      title: "Operations a second",
      columns: [
        { key: "operation", label: "operation", unit: "" },
        { key: "ranks", label: "ranks", unit: "" },
        { key: "rate", label: "rate", unit: "1/s" },
        { key: "median", label: "median", unit: "ns" },
      ],
      rows: [
        ["create", 1, 12_000.5, 80_000],
        ["stat", 1, 250_000, 3_900],
        ["unlink", 1, null, 71_000],
        ["create", 4, 31_000, 125_000],
      ],
    },
  ],
  charts: [
    {
      title: "Operations by ranks",
      x: { label: "ranks", unit: "", log: false },
      y: { label: "operations", unit: "1/s", log: true },
      series: [
        {
          name: "create",
          points: [
            [1, 12_000.5, 11_000, 13_000],
            [4, 31_000, 29_000, 33_500],
          ],
        },
        {
          name: "stat",
          points: [
            [1, 250_000],
            [4, 400_000, null, null],
          ],
        },
      ],
    },
    {
      title: "Time by operation",
      x: { label: "operation", unit: "" },
      y: { label: "time", unit: "ns" },
      series: [
        {
          name: "one rank",
          points: [
            ["create", 80_000, 70_000, 95_000],
            ["stat", 3_900, null, null],
          ],
        },
      ],
    },
  ],
};

/** A result of a benchmark that the page has never heard of, with one that it knows. */
export function unheard(template, path) {
  const set = {
    set: 1,
    params: [["files", "1000"]],
    hints: [],
    times: [[0, "create_time", 80_000]],
    errors: [],
    warnings: [],
    series: [],
  };
  const block = (id, name) => ({
    id,
    class: name,
    testname: "t",
    complete: true,
    inputs: [],
    facts: Object.entries(facts(PLACES[0])).map(([key, value]) => [key, String(value)]),
    sets: [set],
  });
  const quantity = (id, what, value, unit, more = {}) => ({
    block: id,
    what,
    settings: "files=1000 ranks=1",
    value,
    unit,
    low: null,
    high: null,
    lower_is_better: false,
    made: "median of 5",
    ...more,
  });
  page(template, path, {
    product_version: "9.9.9",
    title: "Unheard of",
    made: "2030-01-01T00:00:00Z",
    samples: 0,
    models: [],
    files: [
      {
        path: "metadata.out",
        kind: "blocks",
        trouble: "",
        warnings: [],
        blocks: [block("b1", "Metadata"), block("b2", "Undocumented"), block("b3", "Lowlevel")],
        derived: { allav: { curves: "of another version" }, tomorrow: { x: 1 } },
        documents: [DOCUMENT, { block: "b3", title: "Known", tables: [], charts: [], notes: ["as before"] }],
        quantities: [
          quantity("b1", "creates a second", 12_000.5, "1/s", { low: 11_000, high: 13_000 }),
          quantity("b1", "time of a stat", 3_900, "ns", { lower_is_better: true }),
          quantity("b3", "write rate", 2040.4, "MB/s"),
        ],
      },
    ],
  });
}

/** Called as a program: everything into a folder. */
if (process.argv[1]?.endsWith("fixtures.mjs")) {
  const [, , folder, template] = process.argv;
  lowlevel(`${folder}/low.out`);
  peak(`${folder}/peak.out`);
  replay(`${folder}/replay.out`);
  prediction(`${folder}/prediction.out`);
  hostile(`${folder}/hostile.out`);
  writeFileSync(`${folder}/hostile.txt`, HOSTILE);
  unheard(template, `${folder}/unheard.html`);
}
