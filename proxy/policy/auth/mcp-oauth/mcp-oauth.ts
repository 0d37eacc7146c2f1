// OAuth for MCP servers, according to the MCP specification: metadata for clients without a token, and a challenge
// with its address. Does not check tokens.
import type { JwtAuthentication, McpOauth } from '#api/ir/types.gen.ts'
import { ServiceError } from '../../../chain/service.ts'
import type { Exchange } from '../../../exchange/exchange.ts'
import type { ChainEnvironment } from '../../../chain/environment.ts'
import type { Verdict } from '../../../chain/filter.ts'
import { answer } from './answers.ts'
import { challenge, configuredOrigin, resourceMetadata } from './documents.ts'
import {
  authorizationServerOf,
  facadeMetadata,
  isUsable,
  metadataUrls,
  type ProviderSettings,
} from './identity-provider.ts'
import { IssuerClient } from './issuer-client.ts'
import { baseOf, type OauthPlace, placeOf, SERVER_METADATA } from './place.ts'
import { Relay, type RelayPlace } from './relay.ts'

/** For every rejection (data-plane supplement section 1.9); the reason is in the log. */
const UNAUTHORIZED = JSON.stringify({ error: 'unauthorized', error_description: 'JWT token required' })

export interface CompiledMcpOauth {
  /** undefined: an ordinary request, which requires a token. */
  serve(exchange: Exchange): Verdict | Promise<Verdict>
  /** Adds the address of the metadata to a rejection. `error`: the error of a token that was sent. */
  challenge(exchange: Exchange, error: 'invalid_token' | undefined): void
}

export function compileMcpOauth(
  mcp: McpOauth,
  { providers }: JwtAuthentication,
  environment: Pick<ChainEnvironment, 'origin' | 'secret' | 'mcpSignIn'>,
): CompiledMcpOauth {
  const [first] = providers
  const settings: ProviderSettings = {
    issuer: first?.issuer ?? '',
    audiences: first?.audiences,
    provider: mcp.provider,
    clientId: mcp.clientId,
    hasClientSecret: mcp.clientSecret !== undefined,
  }
  const clientSecret = mcp.clientSecret === undefined ? undefined : environment.secret(mcp.clientSecret)
  const issuer = new IssuerClient(environment.origin, metadataUrls(settings))
  const relay = new Relay({ settings, clientSecret, issuer, signIn: environment.mcpSignIn })
  const origin = configuredOrigin(mcp.resourceMetadata)
  const server = new OauthServer({ mcp, settings, origin, issuer, relay })
  return {
    serve(exchange) {
      const place = placeOf(exchange.request.path)
      return place === undefined ? undefined : server.serve(exchange, place)
    },
    challenge(exchange, error) {
      const { response, request } = exchange
      if (response === undefined || exchange.isGrpc) return
      response.headers.set('www-authenticate', challenge(origin ?? baseOf(request), request.path, error))
      response.headers.set('content-type', 'application/json')
      response.body = UNAUTHORIZED
    },
  }
}

interface ServerParts {
  readonly mcp: McpOauth
  readonly settings: ProviderSettings
  /** Of the MCP server, if the configuration names it. */
  readonly origin: string | undefined
  readonly issuer: IssuerClient
  readonly relay: Relay
}

class OauthServer {
  readonly #parts: ServerParts

  constructor(parts: ServerParts) {
    this.#parts = parts
  }

  serve(exchange: Exchange, place: OauthPlace): Verdict | Promise<Verdict> {
    const { method } = exchange.request
    // It has the code of the user: neither for the access log nor for traces.
    if (place.kind === 'callback') exchange.request.loggedQuery = ''
    if (method === 'OPTIONS') return answer(exchange, 204)
    if (!allowedMethods(place).includes(method)) {
      return answer(exchange, 405, undefined, [['allow', allowedMethods(place).join(', ')]])
    }
    return this.#guarded(exchange, place)
  }

  /** Requests that may call the identity provider. */
  async #guarded(exchange: Exchange, place: OauthPlace): Promise<Verdict> {
    const base = this.#parts.origin ?? baseOf(exchange.request)
    const at = { issuer: base + place.path, here: `${base}${SERVER_METADATA}${place.path}` }
    try {
      return await this.#ask(exchange, place, at)
    } catch (error) {
      if (error instanceof ServiceError) return exchange.fail('identityProviderFailed', error.message)
      throw error
    }
  }

  #ask(exchange: Exchange, { kind, path }: OauthPlace, at: RelayPlace): Verdict | Promise<Verdict> {
    const { relay } = this.#parts
    if (kind === 'resource') return this.#resource(exchange, path, at)
    if (kind === 'server') return this.#server(exchange, at)
    if (kind === 'registration') return relay.register(exchange, at)
    if (kind === 'authorize') return relay.authorize(exchange, at)
    return kind === 'callback' ? relay.callback(exchange, at) : relay.token(exchange, at)
  }

  async #resource(exchange: Exchange, path: string, at: RelayPlace): Promise<Verdict> {
    const { mcp, settings } = this.#parts
    const authorizationServer = (await this.#isAuthorizationServer(exchange)) ? at.issuer : settings.issuer
    const resource = baseOf(exchange.request) + path
    return answer(exchange, 200, resourceMetadata({ resource, authorizationServer, extra: mcp.resourceMetadata }))
  }

  async #isAuthorizationServer(exchange: Exchange): Promise<boolean> {
    const { settings, issuer } = this.#parts
    const server = authorizationServerOf(settings)
    return server === 'UnlessUsable' ? !isUsable(await issuer.metadata(exchange), settings) : server === 'Gateway'
  }

  async #server(exchange: Exchange, at: RelayPlace): Promise<Verdict> {
    const { settings, issuer } = this.#parts
    return answer(exchange, 200, facadeMetadata(await issuer.metadata(exchange), settings, at))
  }
}

function allowedMethods({ kind }: OauthPlace): readonly string[] {
  return kind === 'registration' || kind === 'token' ? ['POST'] : ['GET', 'HEAD']
}
