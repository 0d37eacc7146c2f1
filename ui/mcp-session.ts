// A session of the official MCP client with a route of the gateway. Its requests go through `/debug/send`.
import type { Client } from '@modelcontextprotocol/client'
import { ApiError, problemOf, type TraceEvent } from './api.ts'
import { callGateway } from './gateway-call.ts'

export interface McpItem {
  readonly kind: 'tool' | 'resource' | 'prompt'
  /** The URI of a resource. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments; of a resource none. */
  readonly schema: unknown
}

/** A request of a server that the user answers. */
export interface McpQuestion {
  readonly id: number
  readonly kind: 'elicitation' | 'sampling'
  /** The question of an elicitation; the messages of a sampling. */
  readonly text: string
  /** JSON Schema of the fields of an elicitation. */
  readonly schema: unknown
  readonly accept: (content: Readonly<Record<string, unknown>>) => void
  readonly decline: () => void
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
  /** Those that wait for an answer. */
  readonly onQuestions: (questions: readonly McpQuestion[]) => void
}

/** As long as the admin server waits for a response: the user may have to answer questions of the server. */
const CALL_MS_MAX = 300_000
/** Statuses whose responses have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304])

/** @throws {Error} of the client, with the response of the gateway. */
export async function openMcp({ url, token, onTrace, onQuestions }: McpOptions): Promise<McpSession> {
  let isOpen = true
  const report: typeof onTrace = (events) => {
    if (isOpen) onTrace(events)
  }
  const { mcpClient } = await import('./mcp-client.ts')
  const { client, transport } = mcpClient({ url, token, fetch: gatewayFetch(report) })
  const questions = new Questions(onQuestions)
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const schema = 'requestedSchema' in params ? params.requestedSchema : undefined
    const content = await questions.ask('elicitation', params.message, schema)
    return content === undefined ? { action: 'decline' } : { action: 'accept', content: contentOf(content) }
  })
  client.setRequestHandler('sampling/createMessage', async ({ params }) => {
    const text = JSON.stringify(params, undefined, 2)
    const content = await questions.ask('sampling', text, SAMPLED)
    if (content === undefined) throw new Error('the user has declined')
    return { model: 'typed by the user', role: 'assistant', content: { type: 'text', text: String(content['text']) } }
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
      questions.close()
      // A session whose end does not arrive expires.
      const ended = (): void => void client.close()
      transport.terminateSession().then(ended, ended)
    },
  }
}

/** Errors of the client contain the response of the gateway. */
export function mcpProblemOf(error: unknown): string {
  return error instanceof Error && !(error instanceof ApiError) ? error.message : problemOf(error)
}

/** The user plays the model. */
const SAMPLED = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

type Content = Readonly<Record<string, unknown>>

/** Requests of servers in their order. */
class Questions {
  readonly #onChange: McpOptions['onQuestions']
  #open: readonly McpQuestion[] = []
  #count = 0

  constructor(onChange: McpOptions['onQuestions']) {
    this.#onChange = onChange
  }

  /** undefined: the user declines. */
  ask(kind: McpQuestion['kind'], text: string, schema: unknown): Promise<Content | undefined> {
    const { promise, resolve } = Promise.withResolvers<Content | undefined>()
    const id = this.#count++
    const end = (content: Content | undefined): void => {
      this.#open = this.#open.filter((one) => one.id !== id)
      this.#onChange(this.#open)
      resolve(content)
    }
    this.#open = [...this.#open, { id, kind, text, schema, accept: end, decline: () => end(undefined) }]
    this.#onChange(this.#open)
    return promise
  }

  close(): void {
    for (const { decline } of this.#open) decline()
  }
}

/** Answers to an elicitation are plain values. */
function contentOf(content: Content): Record<string, string | number | boolean | string[]> {
  return Object.fromEntries(
    Object.entries(content).map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' ? value : listOrText(value),
    ]),
  )
}

function listOrText(value: unknown): string | string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? value : JSON.stringify(value)
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
