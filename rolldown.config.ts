// `make build`: the command and the worker threads as plain JavaScript in dist/, dependencies included.
import { defineConfig } from 'rolldown'

export default defineConfig({
  // The worker is started by path, so it is an entry of its own beside the command (proxy/main.ts).
  input: { gw: 'cli/main.ts', worker: 'proxy/worker.ts' },
  platform: 'node',
  output: { dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', sourcemap: true },
})
