// The files of a web UI, as admin servers send them: beside the bundle, read when a browser asks for them, so that they
// take no memory.
import { readFile } from 'node:fs/promises'

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

/** Path to file and media type. They show nothing of the process. */
const FILES: ReadonlyMap<string, readonly [file: string, type: string]> = new Map([
  ['/ui/', ['index.html', HTML]],
  ['/ui/assets/app.js', ['assets/app.js', SCRIPT]],
  // Of single pages; the controller has only the last one.
  ['/ui/assets/code-view.js', ['assets/code-view.js', SCRIPT]],
  ['/ui/assets/mcp-client.js', ['assets/mcp-client.js', SCRIPT]],
  ['/ui/assets/yaml-text.js', ['assets/yaml-text.js', SCRIPT]],
  ['/ui/assets/style.css', ['assets/style.css', 'text/css; charset=utf-8']],
])

/** `/ui` leads to `/ui/`. */
export const UI_PATHS: readonly string[] = ['/ui', ...FILES.keys()]

/** Folders that `make build` writes beside the bundle: of a proxy, and of a controller. */
export const UI_FOLDERS = ['ui', 'ui-controller'] as const

export interface UiFile {
  readonly type: string
  readonly body: Uint8Array
  /** Everything from this server, nothing in a frame. The icon is empty, in the page itself. */
  readonly headers: Readonly<Record<string, string>>
}

const HEADERS: UiFile['headers'] = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

export function uiFolder(name: (typeof UI_FOLDERS)[number]): URL {
  return new URL(import.meta.url.endsWith('.ts') ? `../../dist/${name}/` : `./${name}/`, import.meta.url)
}

/** undefined: the UI was not built, such as in a clone without `make ui`. */
export async function readUiFile(path: string, folder: URL): Promise<UiFile | undefined> {
  const [file, type] = FILES.get(path) ?? ['index.html', HTML]
  try {
    return { type, body: await readFile(new URL(file, folder)), headers: HEADERS }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
