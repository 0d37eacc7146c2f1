// The web UI (ui/): three files beside the bundle, read when a browser asks for them, so that they take no memory.
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { INDEX_PAGE } from './index-page.ts'
import { send } from './http-listener.ts'

/** `make build` writes it. */
const FOLDER = new URL(import.meta.url.endsWith('.ts') ? '../../dist/ui/' : './ui/', import.meta.url)
const HTML = 'text/html; charset=utf-8'

/** Path to file and media type. They show nothing of the process. */
const FILES: ReadonlyMap<string, readonly [file: string, type: string]> = new Map([
  ['/ui/', ['index.html', HTML]],
  ['/ui/assets/app.js', ['assets/app.js', 'text/javascript; charset=utf-8']],
  ['/ui/assets/style.css', ['assets/style.css', 'text/css; charset=utf-8']],
])

/** Everything from this server, nothing in a frame. The icon is empty, in the page itself. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'"

export const UI_PATHS: readonly string[] = ['/ui', ...FILES.keys()]

/**
 * The list of paths where the UI was not built, such as in a clone without `make build`. `folder`: for tests, in place
 * of the one beside the bundle.
 */
export async function answerUi(path: string, response: ServerResponse, folder = FOLDER): Promise<void> {
  const [file, type] = FILES.get(path) ?? ['index.html', HTML]
  let body: Uint8Array | undefined
  try {
    body = await readFile(new URL(file, folder))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  if (body === undefined) send(response, { status: 200, type: HTML, body: INDEX_PAGE })
  else if (path === '/ui') response.writeHead(308, { location: 'ui/' }).end()
  else {
    response.setHeader('content-security-policy', POLICY)
    response.setHeader('referrer-policy', 'no-referrer')
    send(response, { status: 200, type, body })
  }
}
