// The web UI (ui/) on the admin server of a proxy.
import type { ServerResponse } from 'node:http'
import { readUiFile, uiFolder } from '#api/admin/ui-files.ts'
import { NO_UI_PAGE } from './index-page.ts'
import { send } from './http-listener.ts'

/**
 * The list of paths where the UI was not built, such as in a clone without `make ui`. `folder`: for tests, in place
 * of the one beside the bundle.
 */
export async function answerUi(path: string, response: ServerResponse, folder = uiFolder('ui')): Promise<void> {
  const file = await readUiFile(path, folder)
  if (file === undefined) send(response, { status: 200, type: 'text/html; charset=utf-8', body: NO_UI_PAGE })
  else if (path === '/ui') response.writeHead(308, { location: 'ui/' }).end()
  else {
    response.setHeaders(new Map(Object.entries(file.headers)))
    send(response, { status: 200, type: file.type, body: file.body })
  }
}
