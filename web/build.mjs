// build.mjs PAGE: bundles src/main.ts and src/style.css into src/page.html, one file without references.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const page = process.argv[2] ?? "report.html";
const options = { bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none" };
const script = await build({
  ...options,
  entryPoints: ["src/main.ts"],
  format: "iife",
  target: ["chrome100", "firefox113"],
});
const style = await build({ ...options, entryPoints: ["src/style.css"], target: ["chrome100", "firefox113"] });

// A function, so that "$&" in the code stays what it is. "</script" must not end the element early.
const text = readFileSync("src/page.html", "utf8")
  .replace("/*piolet:style*/", () => style.outputFiles[0].text)
  .replace("/*piolet:script*/", () => script.outputFiles[0].text.replaceAll("</script", "<\\/script"));
writeFileSync(page, text);
