// `make build`: the command and the worker threads as plain JavaScript in dist/, dependencies included.
import { resolve } from 'node:path'
import { defineConfig, type Plugin } from 'rolldown'
import { bundleUi } from './hack/ui.ts'

/** Modules of Node with exports that are costly when they are read. */
const COSTLY: ReadonlySet<string> = new Set(['http', 'tls'])

/**
 * An import of a module of Node reads all its exports. Those of node:http include `WebSocket`, which loads the client
 * of `fetch`; those of node:tls include `rootCertificates`, a list of texts for each thread. The bundle takes such
 * modules as require() does, without these exports: an import of one of them fails the build.
 */
const withoutCostlyExports: Plugin = {
  name: 'without-costly-exports',
  resolveId(source, _importer, { kind }) {
    const name = source.replace(/^node:/, '')
    return COSTLY.has(name) && kind !== 'require-call' ? `\0node:${name}` : undefined
  },
  load(id) {
    if (!id.startsWith('\0node:')) return undefined
    const source = id.slice(1)
    const exported = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(source)))
    const names = exported.filter(([, property]) => property.get === undefined).map(([name]) => name)
    return [
      `const all = process.getBuiltinModule('${source}')`,
      'export default all',
      `export const { ${names.join(', ')} } = all`,
    ].join('\n')
  },
}

/** The web UIs of a proxy and of a controller, in `ui` and `ui-controller` beside the bundle. */
const withUi: Plugin = {
  name: 'with-ui',
  writeBundle: ({ dir = 'dist' }) => bundleUi(resolve(dir)),
}

export default defineConfig({
  // Threads are started by path, so they are entries of their own beside the command (proxy/main.ts,
  // proxy/auth/password-checker.ts, proxy/llm/tokens/tables.ts, cli/edit/edit-worker.ts); the library of regular
  // expressions as well (api/late-re2.ts).
  input: {
    gw: 'cli/main.ts',
    worker: 'proxy/worker.ts',
    'password-thread': 'proxy/auth/password-thread.ts',
    'edit-thread': 'cli/edit/edit-thread.ts',
    'token-tables-thread': 'proxy/llm/tokens/tables-thread.ts',
    re2: 're2js',
  },
  platform: 'node',
  plugins: [withoutCostlyExports, withUi],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    // A file of Latin-1 characters only takes half the memory: V8 keeps the text of what it runs.
    charset: 'ascii',
    // Shorter for the same reason. Names of functions stay, for stacks in the log; nothing is removed or rewritten.
    minify: { compress: false, mangle: { toplevel: true, keepNames: true }, codegen: { removeWhitespace: true } },
    comments: { legal: true, annotation: false, jsdoc: false },
  },
})
