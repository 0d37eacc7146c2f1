// A session of the official MCP client with a route of the gateway. Its requests go through `/debug/send`.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TraceEvent } from './api.ts'
import { callGateway } from './gateway-call.ts'

export interface McpItem {
  readonly kind: 'tool' | 'resource' | 'prompt'
  /** The URI of a resource. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments; of a resource none. */
  readonly schema: unknown
}

export interface McpSession {
  readonly server: string
  readonly items: readonly McpItem[]
  /** The result, as it arrived. @throws {Error} of the client */
  call(item: McpItem, given: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Nothing is reported from here on. */
  close(): void
}

export interface McpOptions {
  readonly url: string
  /** Empty: none. */
  readonly token: string
  /** Of the last request. */
  readonly onTrace: (events: readonly TraceEvent[]) => void
}

const CALL_MS_MAX = 60_000
/** Statuses whose responses have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304])

/** @throws {Error} of the client, with the response of the gateway. */
export async function openMcp({ url, token, onTrace }: McpOptions): Promise<McpSession> {
  const client = new Client({ name: 'gw-ui', version: '1' })
  let isOpen = true
  const report: typeof onTrace = (events) => {
    if (isOpen) onTrace(events)
  }
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: gatewayFetch(report),
    requestInit: { headers: token === '' ? {} : { authorization: `Bearer ${token}` } },
  })
  await client.connect(transport, { timeout: CALL_MS_MAX })
  const { tools: hasTools, resources: hasResources, prompts: hasPrompts } = client.getServerCapabilities() ?? {}
  const { tools } = hasTools === undefined ? { tools: [] } : await client.listTools()
  const { resources } = hasResources === undefined ? { resources: [] } : await client.listResources()
  const { prompts } = hasPrompts === undefined ? { prompts: [] } : await client.listPrompts()
  const { name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' }
  return {
    server: `${name} ${version}`,
    items: [
      ...tools.map((tool): McpItem => itemOf('tool', tool, tool.inputSchema)),
      ...resources.map((resource): McpItem => ({ ...itemOf('resource', resource, undefined), name: resource.uri })),
      ...prompts.map((prompt): McpItem => itemOf('prompt', prompt, schemaOf(prompt.arguments))),
    ],
    call: (item, given) => callItem(client, item, given),
    close() {
      isOpen = false
      // A session whose end does not arrive expires.
      const ended = (): void => void client.close()
      transport.terminateSession().then(ended, ended)
    },
  }
}

function itemOf(
  kind: McpItem['kind'],
  { name, description = '' }: { readonly name: string; readonly description?: string | undefined },
  schema: unknown,
): McpItem {
  return { kind, name, description, schema }
}

/** Arguments of prompts are texts. */
function schemaOf(list: readonly { readonly name: string; readonly required?: boolean | undefined }[] = []): object {
  return {
    type: 'object',
    properties: Object.fromEntries(list.map(({ name }) => [name, { type: 'string' }])),
    required: list.filter(({ required }) => required === true).map(({ name }) => name),
  }
}

function callItem(client: Client, { kind, name }: McpItem, given: Readonly<Record<string, unknown>>): Promise<unknown> {
  const options = { timeout: CALL_MS_MAX }
  if (kind === 'resource') return client.readResource({ uri: name }, options)
  if (kind === 'tool') return client.callTool({ name, arguments: { ...given } }, options)
  const texts = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]))
  return client.getPrompt({ name, arguments: texts }, options)
}

/** The stream for messages of the server stays closed: it would hold one of the few requests of the page. */
function gatewayFetch(onTrace: McpOptions['onTrace']): typeof fetch {
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    if (method === 'GET') return new Response(null, { status: 405 })
    const events: TraceEvent[] = []
    const answer = await callGateway(
      {
        url: input instanceof Request ? input.url : String(input),
        method,
        headers: [...new Headers(headers)],
        ...(typeof body === 'string' && { body }),
      },
      {
        signal: signal ?? new AbortController().signal,
        onEvent: (event) => {
          events.push(event)
          if (event.message.type === 'requestFinished') onTrace([...events])
        },
      },
    )
    const response = { status: answer.status, headers: answer.headers.map(([...pair]): [string, string] => pair) }
    if (!EMPTY.has(answer.status)) return new Response(answer.body, response)
    await answer.body.cancel()
    return new Response(null, response)
  }
}
