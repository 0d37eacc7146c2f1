// Users with the official MCP clients, version 1 and version 2, which sign in by themselves.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { signIn } from './browser.ts'
import { chromiumPath, signInWithChromium } from './chromium.ts'

export const CALLBACK = 'http://127.0.0.1:9/callback'
const NAMED = { name: 'sign-in', version: '1.0.0' }

export interface UserOptions {
  readonly login?: string
  /** Chromium shows the pages, if this machine has it; otherwise an HTTP client sends their forms. */
  readonly hasBrowser?: boolean
}

/** What both SDKs need from a user: it keeps everything in memory, and agrees on every page. */
export class User {
  readonly redirectUrl = CALLBACK
  readonly clientMetadata = {
    redirect_uris: [CALLBACK],
    client_name: 'sign-in',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  }
  readonly kept = new Map<string, unknown>()
  /** The authorization response. */
  returned = new URLSearchParams()
  readonly #login: string
  readonly #browse: (start: URL, callback: string, login: string) => Promise<URL>

  constructor({ login = 'alice', hasBrowser = false }: UserOptions) {
    this.#login = login
    const path = hasBrowser ? chromiumPath() : undefined
    this.#browse =
      path === undefined ? signIn : (start, callback, user) => signInWithChromium(path, start, callback, user)
  }

  state(): string {
    return 'state-of-the-client'
  }
  clientInformation(): never {
    return this.kept.get('client') as never // what the SDK stored
  }
  saveClientInformation(client: unknown): void {
    this.kept.set('client', client)
  }
  tokens(): never {
    return this.kept.get('tokens') as never // as above
  }
  saveTokens(tokens: unknown): void {
    this.kept.set('tokens', tokens)
  }
  saveCodeVerifier(verifier: string): void {
    this.kept.set('verifier', verifier)
  }
  codeVerifier(): string {
    return String(this.kept.get('verifier'))
  }
  discoveryState(): never {
    return this.kept.get('discovery') as never // as above
  }
  saveDiscoveryState(state: unknown): void {
    this.kept.set('discovery', state)
  }
  async redirectToAuthorization(url: URL): Promise<void> {
    this.returned = (await this.#browse(url, CALLBACK, this.#login)).searchParams
  }
}

export interface SignedIn {
  readonly user: User
  /** The result as JSON. */
  call(tool: string): Promise<string>
  tools(): Promise<string[]>
  close(): Promise<void>
}

export async function signedInV1(url: URL, options: UserOptions = {}): Promise<SignedIn> {
  const user = new User(options)
  const client = new ClientV1(NAMED)
  const first = new TransportV1(url, { authProvider: user })
  await expectUnauthorized(client.connect(first), UnauthorizedError.name)
  await first.finishAuth(user.returned.get('code') ?? '')
  await client.connect(new TransportV1(url, { authProvider: user }))
  return {
    user,
    call: async (name) => textOf(await client.callTool({ name, arguments: {} })),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  }
}

/** Checks `issuer` of the metadata (RFC 8414 section 3.3) and `iss` of the response (RFC 9207). */
export async function signedInV2(url: URL, options: UserOptions = {}): Promise<SignedIn> {
  const user = new User(options)
  const client = new ClientV2(NAMED)
  const first = new TransportV2(url, { authProvider: user })
  await expectUnauthorized(client.connect(first), UnauthorizedError.name)
  await first.finishAuth(user.returned)
  const again = new ClientV2(NAMED)
  await again.connect(new TransportV2(url, { authProvider: user }))
  return {
    user,
    call: async (name) => textOf(await again.callTool({ name, arguments: {} })),
    tools: async () => (await again.listTools()).tools.map(({ name }) => name),
    close: () => again.close(),
  }
}

async function expectUnauthorized(connecting: Promise<void>, name: string): Promise<void> {
  try {
    await connecting
  } catch (error) {
    if (error instanceof Error && error.constructor.name === name) return
    throw error
  }
  throw new Error('the client connected without a token')
}

function textOf(result: unknown): string {
  return JSON.stringify(result)
}
