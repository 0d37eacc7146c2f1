// An npm registry with one package: takes `npm publish`, and serves it to `npx`.
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { closeServer, listening } from '#test/ports.ts'

export interface NpmRegistry {
  readonly url: string
  /** The file of the package. */
  published(): Buffer
  close(): void
}

interface Publication {
  readonly name: string
  readonly versions: Readonly<Record<string, { readonly dist: { readonly tarball: string } }>>
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>
}

export async function npmRegistry(): Promise<NpmRegistry> {
  let found: Publication | undefined
  const file = (): Buffer => Buffer.from(Object.values(found?._attachments ?? {})[0]?.data ?? '', 'base64')
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => response.writeHead(status).end(body))
  })
  const answer = async (
    request: IncomingMessage,
  ): Promise<{ readonly status: number; readonly body: Buffer | string }> => {
    if (request.method === 'PUT') {
      found = (await json(request)) as Publication // of npm
      return { status: 201, body: '{}' }
    }
    if (found === undefined || !request.url?.startsWith(`/${found.name}`)) return { status: 404, body: '{}' }
    if (request.url.endsWith('.tgz')) return { status: 200, body: file() }
    const { _attachments, ...document } = found
    return { status: 200, body: JSON.stringify(document) }
  }
  const port = await listening(server)
  return { url: `http://127.0.0.1:${port}/`, published: file, close: () => closeServer(server) }
}
