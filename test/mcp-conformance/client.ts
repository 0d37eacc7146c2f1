// The client of the client leg: the suite serves, and runs this program with its URL. Arguments: `directly` or
// `gateway`, and the URL. It calls every tool that it knows, and reads what the server lists.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Agent, buildConnector, fetch as fetchBy } from 'undici'
import { ANY_PORTS, GwProcess } from '#test/cli/gw.ts'
import { ON_A_BUSY_MACHINE } from '#test/mcp/gateway.ts'
import { User } from '#test/mcp-sign-in/clients.ts'
import { freePort } from '#test/ports.ts'

const MODERN = '2026-07-28'
const INFO = { name: 'gw-conformance', version: '1' }
/** `tools/call` of a server that closes its stream and continues in another one. */
const CALL_MS = 15_000
const SIGN_INS_MAX = 3

type Tool = Readonly<{ name: string; inputSchema: unknown }>
type Arguments = Readonly<Record<string, unknown>>

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
/** What the suite asks for. */
const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? 'null') as {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Arguments }[]
  /** Of a client that is registered at the authorization server. */
  readonly client_id?: string
  readonly client_secret?: string
} | null

/** Arguments of the tools of the suite that need some. */
function argumentsOf({ name }: Tool, tools: readonly Tool[]): Arguments {
  if (name === 'add_numbers') return { a: 5, b: 3 }
  const focal = tools.find((tool) => tool.name !== name)
  return name === 'json_schema_echo' ? { schema: focal?.inputSchema } : {}
}

async function useLegacy(access: Access): Promise<void> {
  const client = new Client(INFO, { capabilities: { elicitation: { form: { applyDefaults: true } } } })
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }))
  const open = (): StreamableHTTPClientTransport => new StreamableHTTPClientTransport(...access.transport)
  let transport = open()
  const finish = (): Promise<void> => transport.finishAuth(access.user?.returned.get('code') ?? '')
  await signingIn({ finish, again: () => void (transport = open()) }, () => client.connect(transport))
  const { tools } = await signingIn({ finish }, () => client.listTools())
  for (const tool of tools) {
    const call = { name: tool.name, arguments: argumentsOf(tool, tools) }
    await signingIn({ finish }, () => client.callTool(call, undefined, { timeout: CALL_MS }))
  }
  await client.close()
}

async function useModern(access: Access): Promise<void> {
  const client = new ModernClient(INFO, {
    capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
    versionNegotiation: { mode: { pin: MODERN } },
  })
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }))
  const open = (): ModernTransport => new ModernTransport(...access.transport)
  let transport = open()
  const finish = (): Promise<void> => transport.finishAuth(access.user?.returned ?? new URLSearchParams())
  await signingIn({ finish, again: () => void (transport = open()) }, () => client.connect(transport))
  const { tools } = await signingIn({ finish }, () => client.listTools())
  const calls = given?.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsOf(tool, tools) }))
  // At once: answers to questions of servers must not reach another call.
  const called = await Promise.allSettled(
    calls.map(({ name, arguments: own }) =>
      signingIn({ finish }, () => client.callTool({ name, arguments: { ...own } })),
    ),
  )
  for (const result of called) if (result.status === 'rejected') console.error(result.reason)
  await client.close()
}

/** Documents about sign-in that are not below `/.well-known/` need a route to the server. */
function gatewayFor(server: string, port: number): object {
  const targets = [{ name: 'suite', mcp: { host: server } }]
  return {
    gateways: { default: { port } },
    mcp: { gateways: ['default'], targets },
    routes: [
      { name: 'documents', matches: [{ path: { pathPrefix: '/' } }], backends: [{ host: new URL(server).host }] },
    ],
  }
}

interface SignIn {
  /** Gets the tokens for the last authorization response. */
  readonly finish: () => Promise<void>
  readonly again?: () => void
}

/** Repeats the work after each sign-in that it requires. */
async function signingIn<T>({ finish, again }: SignIn, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const isUnauthorized = error instanceof Error && error.constructor.name === UnauthorizedError.name
      if (!isUnauthorized || tries === SIGN_INS_MAX) throw error
      await finish()
      again?.()
    }
  }
}

/** Of one server. */
interface Access {
  /** undefined: the scenario has no sign-in. */
  readonly user: User | undefined
  readonly transport: [URL, { fetch: typeof fetch; authProvider?: User }]
}

/** `port`: of the gateway, which gets the requests for the server at its address, as behind a public name. */
function accessTo(server: string, port?: number): Access {
  const url = new URL(server)
  const connect = buildConnector({})
  const dispatcher = new Agent({
    connect: (options, callback) => connect({ ...options, hostname: '127.0.0.1', port: String(port) }, callback),
  })
  const through: typeof fetch = (input, init) => {
    const at = new URL(input instanceof Request ? input.url : input)
    // undici is the implementation of fetch: the types differ in names only.
    return at.origin === url.origin ? fetchBy(at, { ...init, dispatcher } as never) : fetch(input, init)
  }
  const user = scenario.startsWith('auth/') ? new ConformanceUser({}) : undefined
  const used = port === undefined ? fetch : through
  return { user, transport: [url, { fetch: used, ...(user && { authProvider: user }) }] }
}

/** With the client that the suite registered, the address of its metadata, or a registration at each issuer. */
class ConformanceUser extends User {
  readonly clientMetadataUrl = 'https://conformance-test.local/client-metadata.json'

  override clientInformation(context?: { readonly issuer: string }): never {
    const { client_id: id, client_secret: secret } = given ?? {}
    const own = id === undefined ? this.kept.get(`client ${context?.issuer}`) : { client_id: id, client_secret: secret }
    return own as never // what the SDK stored, or the suite sent
  }
  override saveClientInformation(client: unknown, context?: { readonly issuer: string }): void {
    this.kept.set(`client ${context?.issuer}`, client)
  }
}

const [way, server = ''] = process.argv.slice(2)
const use = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] === MODERN ? useModern : useLegacy

if (way === 'directly') await use(accessTo(server))
else {
  const folder = mkdtempSync(join(tmpdir(), 'gw-mcp-conformance-'))
  const port = await freePort()
  writeFileSync(join(folder, 'gateway.json'), JSON.stringify(gatewayFor(server, port)))
  const args = ['run', '-f', join(folder, 'gateway.json'), ...ANY_PORTS]
  const gateway = new GwProcess(args, ON_A_BUSY_MACHINE)
  try {
    await gateway.says('gw: serving')
    await use(accessTo(server, port))
  } finally {
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
