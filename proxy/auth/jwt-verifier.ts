// Verifies JSON Web Tokens (RFC 7519) against the keys of several issuers. A valid token is remembered until it
// expires, because a signature costs many times as much as the rest of a request (bench.ts).
import { hash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose'
import { jsonExcess } from '#api/bounded-json.ts'
import { fromJson } from '#api/cel/values/json.ts'
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { JwtProvider } from '#api/ir/types.gen.ts'
import { BoundedCache } from './bounded-cache.ts'
import { NO_USABLE_KEY, parseKeySet, type VerificationKey } from './jwks.ts'

/** CEL `jwt`: the claims, and `rawToken` as a SecretString. Shared by all requests with the token; never changed. */
export type JwtClaims = Readonly<Record<string, unknown>>

/** Why a token is not valid, for the client: fixed texts without content of the token. */
export type JwtRefusal =
  | 'malformed token'
  | 'unknown key'
  | 'algorithm not allowed'
  | 'invalid signature'
  | 'issuer not accepted'
  | 'audience not accepted'
  | 'token expired'
  | 'token not yet valid'
  | 'missing or invalid claim'
  | typeof JWT_BUSY

/** Too many signatures are being checked. */
export const JWT_BUSY = 'busy'

/** Allowed difference between the clocks of issuer and proxy (data-plane supplement section 8.2). */
const LEEWAY_SECONDS = 60
/** Larger than the default limit of header blocks; tokens from bodies have the same limit. */
const TOKEN_LENGTH_MAX = 64 * 1024
/** Remembered tokens of one policy in one thread: about 16 MiB of text at most. */
const CACHE = { entriesMax: 16_384, weightMax: 16 * 1024 * 1024 }
/** Concurrent checks of signatures: they queue for the threads of the runtime. */
const PENDING_MAX = 1024
/** For providers without an issuer; not a URL. */
const ANY_ISSUER = '*'
/** Any client can create tokens with unknown keys, so reports of them are limited. */
const UNKNOWN_KEY_MS_MIN = 10_000

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/

interface Candidate extends VerificationKey {
  readonly provider: JwtProvider
}

interface Verified {
  readonly claims: JwtClaims
  readonly expiresAtMs: number
}

/** Called with the `source` of a provider. */
export type UnknownKeyListener = (source: string) => void

export interface JwtVerifierOptions {
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  readonly unknownKey?: UnknownKeyListener | undefined
}

export class JwtVerifier {
  /** Unusable keys, and issuers without keys. */
  readonly warnings: readonly string[]
  readonly #keys = new Map<string, Candidate[]>()
  readonly #cache = new BoundedCache<Verified>(CACHE)
  readonly #pending = new Map<string, Promise<JwtClaims | JwtRefusal>>()
  readonly #now: () => number
  readonly #unknownKey: UnknownKeyListener
  /** By issuer: the sources of its providers, and the time of the last report of an unknown key. */
  readonly #sources = new Map<string, { readonly source: string; toldAtMs: number }[]>()

  constructor(providers: readonly JwtProvider[], { now = Date.now, unknownKey = ignore }: JwtVerifierOptions = {}) {
    this.#now = now
    this.#unknownKey = unknownKey
    const warnings: string[] = []
    for (const provider of providers) {
      const { keys, warnings: own } = keysOf(provider)
      const { issuer = ANY_ISSUER, source } = provider
      for (const warning of own) warnings.push(`issuer ${issuer}: ${warning}`)
      for (const key of keys) this.#add({ ...key, provider })
      const sources = this.#sources.get(issuer) ?? []
      if (source !== undefined) this.#sources.set(issuer, [...sources, { source, toldAtMs: -Infinity }])
    }
    if (this.#keys.size === 0) warnings.push(NO_USABLE_KEY)
    this.warnings = warnings
  }

  /** A string is a rejection. Synchronous unless a signature must be checked. */
  verify(token: string): JwtClaims | JwtRefusal | Promise<JwtClaims | JwtRefusal> {
    const digest = hash('sha256', token, 'binary')
    const known = this.#cache.get(digest)
    if (known !== undefined) {
      if (this.#now() < known.expiresAtMs) return known.claims
      this.#cache.delete(digest)
    }
    const running = this.#pending.get(digest)
    if (running !== undefined) return running
    const candidates = this.#candidates(token)
    if (typeof candidates === 'string') return candidates
    if (this.#pending.size >= PENDING_MAX) return JWT_BUSY
    const result = this.#verifyAndRemember(token, digest, candidates)
    this.#pending.set(digest, result)
    return result
  }

  async #verifyAndRemember(
    token: string,
    digest: string,
    candidates: readonly Candidate[],
  ): Promise<JwtClaims | JwtRefusal> {
    try {
      const result = await verifyWithAny(token, candidates, this.#now())
      if (typeof result === 'string') return result
      if (result.expiresAtMs > this.#now()) this.#cache.set(digest, result, token.length)
      return result.claims
    } finally {
      this.#pending.delete(digest)
    }
  }

  /** Keys that may have signed it, according to its header; a string if there is no such key. */
  #candidates(token: string): readonly Candidate[] | JwtRefusal {
    if (token.length > TOKEN_LENGTH_MAX || !COMPACT.test(token) || isTooComplex(token)) return 'malformed token'
    try {
      const { kid, alg } = decodeProtectedHeader(token)
      const keys = typeof kid === 'string' ? this.#keys.get(kid) : undefined
      if (keys === undefined) {
        this.#tellOfUnknownKey(token)
        return 'unknown key'
      }
      const allowed = keys.filter(({ algorithms }) => alg !== undefined && algorithms.includes(alg))
      if (allowed.length === 0) return 'algorithm not allowed'
      const { iss } = decodeJwt(token)
      const own = allowed.filter(({ provider }) => provider.issuer === undefined || provider.issuer === iss)
      return own.length === 0 ? 'issuer not accepted' : own
    } catch {
      return 'malformed token'
    }
  }

  /** The issuer may have changed its keys since they were fetched. @throws for a malformed token. */
  #tellOfUnknownKey(token: string): void {
    if (this.#sources.size === 0) return
    const own = this.#sources.get(String(decodeJwt(token).iss)) ?? []
    const nowMs = this.#now()
    for (const one of [...own, ...(this.#sources.get(ANY_ISSUER) ?? [])]) {
      if (nowMs - one.toldAtMs < UNKNOWN_KEY_MS_MIN) continue
      one.toldAtMs = nowMs
      this.#unknownKey(one.source)
    }
  }

  #add(candidate: Candidate): void {
    const same = this.#keys.get(candidate.kid)
    if (same === undefined) this.#keys.set(candidate.kid, [candidate])
    else same.push(candidate)
  }
}

/** The library parses header and claims; the header before the signature is checked. */
function isTooComplex(token: string): boolean {
  const [header = '', claims = ''] = token.split('.', 2)
  // Latin-1 does not change the characters of JSON syntax, and is the fastest.
  return [header, claims].some((part) => jsonExcess(Buffer.from(part, 'base64url').toString('latin1')) !== undefined)
}

function ignore(): void {}

function keysOf({ jwks, unavailable }: JwtProvider): ReturnType<typeof parseKeySet> {
  return jwks === undefined ? { keys: [], warnings: [unavailable ?? 'it has no keys'] } : parseKeySet(jwks)
}

/** Several only if issuers share a key, or one issuer is listed with several audiences. */
async function verifyWithAny(
  token: string,
  candidates: readonly Candidate[],
  nowMs: number,
): Promise<Verified | JwtRefusal> {
  let refusal: JwtRefusal = 'unknown key'
  for (const candidate of candidates) {
    const result = await verifyWith(token, candidate, nowMs)
    if (typeof result !== 'string') return result
    refusal = result
  }
  return refusal
}

async function verifyWith(token: string, candidate: Candidate, nowMs: number): Promise<Verified | JwtRefusal> {
  const { key, algorithms, provider } = candidate
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [...algorithms],
      ...(provider.issuer === undefined ? {} : { issuer: provider.issuer }),
      ...(provider.audiences === undefined ? {} : { audience: provider.audiences }),
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(nowMs),
      // `nbf` is checked if present: a token that is not valid yet must be rejected.
      requiredClaims: provider.requiredClaims ?? ['exp'],
    })
    // Without an expiry it is not remembered, and checked each time.
    const { exp = 0 } = payload
    return { claims: claimsOf(payload, token), expiresAtMs: exp * 1000 }
  } catch (error) {
    return refusalOf(error)
  }
}

function claimsOf(payload: JWTPayload, token: string): JwtClaims {
  // Written last, so that a claim of that name cannot replace it. Copied: a slice would keep the whole request head
  // in memory.
  const rawToken = new SecretString(Buffer.from(token, 'latin1').toString('latin1'))
  // The payload is the result of JSON.parse in jose and has no other owner.
  return Object.freeze(Object.assign(fromJson(payload) as Record<string, unknown>, { rawToken }))
}

const REFUSAL_BY_CLAIM: ReadonlyMap<string, JwtRefusal> = new Map([
  ['iss', 'issuer not accepted'],
  ['aud', 'audience not accepted'],
])

function refusalOf(error: unknown): JwtRefusal {
  if (error instanceof errors.JWTExpired) return 'token expired'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf' && error.reason === 'check_failed') return 'token not yet valid'
    return REFUSAL_BY_CLAIM.get(error.claim) ?? 'missing or invalid claim'
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'invalid signature'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm not allowed'
  return 'malformed token'
}
