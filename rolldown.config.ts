// `make build`: the command and the worker threads as plain JavaScript in dist/, dependencies included.
import { defineConfig } from 'rolldown'

export default defineConfig({
  // Threads are started by path, so they are entries of their own beside the command (proxy/main.ts,
  // proxy/auth/password-checker.ts).
  input: { gw: 'cli/main.ts', worker: 'proxy/worker.ts', 'password-thread': 'proxy/auth/password-thread.ts' },
  platform: 'node',
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    // A file of Latin-1 characters only takes half the memory: V8 keeps the text of what it runs.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
  },
})
