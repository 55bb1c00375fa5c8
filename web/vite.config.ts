// How the front-end is built: one small bundle, each game in a part of its own, fetched beside it.
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** What is served is compressed once, here, and never by the gateway. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    generateBundle: {
      // After everybody else: Vite still writes into the chunks before.
      order: "post",
      handler(_, bundle) {
        for (const [name, file] of Object.entries(bundle)) {
          if (!/\.(js|css|html|svg|json|webmanifest)$/.test(name)) continue;
          const content = file.type === "chunk" ? file.code : file.source;
          this.emitFile({ type: "asset", fileName: `${name}.br`, source: brotliCompressSync(content) });
          this.emitFile({ type: "asset", fileName: `${name}.gz`, source: gzipSync(content, { level: 9 }) });
        }
      },
    },
  };
}

const platform = process.env["FELTRO_URL"] ?? "http://127.0.0.1:8700";

export default defineConfig({
  plugins: [compressed()],
  build: {
    outDir: "../build/web",
    emptyOutDir: true,
    target: "es2022",
    // The page allows no inline content.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      "/v1": { target: platform, ws: true },
      "/front-end.json": platform,
    },
  },
  // Whatever else the machine does.
  test: { include: ["tests/**/*.test.ts", "tests/**/*.test.tsx"], testTimeout: 60_000 },
});
