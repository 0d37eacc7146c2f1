// Bundles the web UIs of a proxy and of a controller into `ui` and `ui-controller` of a folder, by default dist/, where
// `gw run` of a clone finds them. `make build` writes them beside its bundle.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')

const UIS = [
  ['ui/main.tsx', 'ui'],
  ['ui/controller.tsx', 'ui-controller'],
] as const

export async function bundleUi(folder: string): Promise<void> {
  for (const [input, name] of UIS) {
    await build({
      cwd: ROOT,
      input,
      platform: 'browser',
      tsconfig: 'ui/tsconfig.json',
      output: {
        dir: join(folder, name, 'assets'),
        entryFileNames: 'app.js',
        // What pages load when they need it; its names are in api/admin/ui-files.ts.
        chunkFileNames: '[name].js',
        format: 'esm',
        minify: true,
        comments: { legal: true },
      },
    })
    cpSync(join(ROOT, 'ui/style.css'), join(folder, name, 'assets/style.css'))
    cpSync(join(ROOT, 'ui/index.html'), join(folder, name, 'index.html'))
  }
}

if (import.meta.main) await bundleUi(join(ROOT, 'dist'))
