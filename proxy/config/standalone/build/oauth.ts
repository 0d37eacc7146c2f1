// Token endpoints of policies that get a token for the backend, as the contract has them. A key that cannot sign is an
// error of the file.
import { readKeyCertificates, readSigningKey } from '#api/credentials/signing-key.ts'
import type {
  BackendReference,
  CrossAppAccess as RenderedCrossAppAccess,
  OAuthClientAuth,
  OAuthEndpoint,
  OAuthPrivateKeyJwt,
  OAuthTokenCache,
  OAuthTokenExchange as RenderedTokenExchange,
} from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { ClientAuth, PrivateKeyJwt, TokenCache } from '../schema/oauth.ts'
import type { CrossAppAccess, OAuthTokenExchange, ServiceFields } from '../schema/upstream.ts'
import type { FileOrInline } from '../schema/values.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { renderExtraction, renderLocation } from './extraction.ts'

const METHODS = {
  clientSecretBasic: 'ClientSecretBasic',
  clientSecretPost: 'ClientSecretPost',
  privateKeyJwt: 'PrivateKeyJwt',
} as const satisfies Record<NonNullable<ClientAuth['method']>, OAuthClientAuth['method']>

const DEFAULT_PATH = '/'

/** Adds the service at that path of the file. */
type ServiceAt = (fields: ServiceFields, path: string) => BackendReference

export interface OAuthPlace {
  /** Of the policy in the file. */
  readonly path: string
  readonly context: BuildContext
  readonly serviceAt: ServiceAt
}

export function renderCrossAppAccess(
  value: CrossAppAccess,
  { path, context, serviceAt }: OAuthPlace,
): RenderedCrossAppAccess {
  const { identityProvider, resourceAuthorizationServer, audience, resources, scopes, subjectToken, cache } = value
  const endpoint = (name: string, given: CrossAppAccess['identityProvider']): OAuthEndpoint => {
    const at = pathTo(path, name)
    return {
      service: serviceAt(given, at),
      path: given.path ?? given.tokenEndpointPath ?? DEFAULT_PATH,
      clientAuth: renderClientAuth(given.clientAuth, pathTo(at, 'clientAuth'), context),
    }
  }
  return {
    identityProvider: endpoint('identityProvider', identityProvider),
    resourceAuthorizationServer: endpoint('resourceAuthorizationServer', resourceAuthorizationServer),
    audience,
    ...defined({
      resources,
      scopes,
      subjectToken: ifSet(subjectToken, ({ source }) => defined({ source: ifSet(source, renderExtraction) })),
      cache: ifSet(cache, renderCache),
    }),
  }
}

const GRANTS = { tokenExchange: 'TokenExchange', jwtBearer: 'JwtBearer' } as const
const REQUESTED = { accessToken: 'AccessToken', jwt: 'Jwt', idToken: 'IdToken' } as const
const DEFAULT_TYPE = 'AccessToken'

export function renderTokenExchange(
  value: OAuthTokenExchange,
  { path, context, serviceAt }: OAuthPlace,
): RenderedTokenExchange {
  const { subjectToken = {}, actorToken, additionalParams = {}, clientAuth, audiences, scopes, resources } = value
  const params = Object.entries(additionalParams).map(([name, expression]) => ({ name, expression }))
  return {
    service: serviceAt({ ...value, target: value.target ?? value.tokenEndpoint }, path),
    path: value.path ?? value.tokenEndpointPath ?? DEFAULT_PATH,
    grantType: GRANTS[value.grantType ?? 'tokenExchange'],
    subjectToken: {
      tokenType: subjectToken.tokenType ?? DEFAULT_TYPE,
      ...defined({ source: ifSet(subjectToken.source, renderExtraction) }),
    },
    ...defined({
      actorToken: ifSet(actorToken, ({ source, tokenType = DEFAULT_TYPE, enforceMayAct }) => ({
        source: renderExtraction(source),
        tokenType,
        ...(enforceMayAct === true && { mayAct: 'Required' as const }),
      })),
      audiences,
      scopes,
      resources,
      requestedTokenType: ifSet(value.requestedTokenType, (type) => REQUESTED[type]),
      additionalParams: params.length === 0 ? undefined : params,
      clientAuth: ifSet(clientAuth, (given) => renderClientAuth(given, pathTo(path, 'clientAuth'), context)),
      location: ifSet(value.authorizationLocation, renderLocation),
      cache: ifSet(value.cache, renderCache),
    }),
  }
}

function renderCache({ maxEntries, defaultTtl }: TokenCache): OAuthTokenCache {
  return defined({ entriesMax: maxEntries, defaultTtlMs: defaultTtl })
}

function renderClientAuth(
  { clientId, method = 'clientSecretBasic', clientSecret, privateKeyJwt }: ClientAuth,
  path: string,
  context: BuildContext,
): OAuthClientAuth {
  return {
    clientId,
    method: METHODS[method],
    ...defined({
      secretRef: ifSet(clientSecret, (given) => context.secret(pathTo(path, 'clientSecret'), given)),
      privateKeyJwt: ifSet(privateKeyJwt, (given) =>
        renderPrivateKeyJwt(given, pathTo(path, 'privateKeyJwt'), context),
      ),
    }),
  }
}

function renderPrivateKeyJwt(
  { signingKey, alg = 'RS256', kid, assertionAudience, certificate, certificateHeader }: PrivateKeyJwt,
  path: string,
  context: BuildContext,
): OAuthPrivateKeyJwt {
  const [keyPath, certificatePath] = [pathTo(path, 'signingKey'), pathTo(path, 'certificate')]
  const pem = contentOf(keyPath, signingKey, context)
  const chain = ifSet(certificate, (given) => contentOf(certificatePath, given, context))
  const key = ifSet(pem, (text) => readSigningKey(text, alg))
  if (typeof key === 'string') context.error(keyPath, key)
  else if (key !== undefined && chain !== undefined) {
    const certificates = readKeyCertificates(chain, key)
    if (typeof certificates === 'string') context.error(certificatePath, certificates)
  }
  return {
    signingKeyRef: context.secret(keyPath, pem ?? ''),
    alg,
    assertionAudience,
    ...defined({
      kid,
      certificateRef: ifSet(certificate, () => context.secret(certificatePath, chain ?? '')),
      certificateHeader,
    }),
  }
}

/** undefined: a file that cannot be read, which is reported. */
function contentOf(path: string, value: FileOrInline, context: BuildContext): string | undefined {
  return typeof value === 'string' ? value : context.readFile(pathTo(path, 'file'), value.file)
}
