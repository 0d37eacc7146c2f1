// Requests one certificate of the mesh: a new key and its signing request go to the authority of the mesh (gRPC,
// istio.v1.auth.IstioCertificateService) with the service-account token of the pod. Keeps nothing between requests.
import { createHash, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto'
import { create } from '@bufbuild/protobuf'
import { messageOf } from '../exchange/diagnosis.ts'
import { createGrpcClient } from '../grpc/client.ts'
import { GrpcError, GrpcStatus } from '../grpc/status.ts'
import { PeerCertificate } from '../socket/peer.ts'
import { DnsCache } from '../upstream/dns-cache.ts'
import type { UpstreamTarget } from '../upstream/target.ts'
import { certificatesOf, endOf, pathToRoot, startOf } from './bundle.ts'
import { signingRequest } from './csr.ts'
import { IstioCertificateRequestSchema, IstioCertificateService } from './gen/security/v1alpha1/ca.gen.ts'
import { readSmallFile } from './read-file.ts'
import { INVALID_CA, type MeshSettings } from './settings.ts'
import { spiffeIdOf } from './spiffe-id.ts'

/** Plain data: it crosses to the workers. */
export interface MeshCertificate {
  readonly spiffeId: string
  /** PEM: the certificate of the proxy, then the intermediate authorities. */
  readonly chain: string
  /** PEM. Secret. */
  readonly privateKey: string
  /** PEM: peers must have a certificate of one of these authorities. */
  readonly roots: string
  /** Unix times in milliseconds: start, and the first end on the way to the root. */
  readonly fromMs: number
  readonly untilMs: number
}

/** Why there is no certificate. The message goes to the log and to config_dump; it never has the token. */
export class CaError extends Error {
  /** `Rejected`: by the authority, or its answer is unusable. `Unavailable`: it, the token or the root is missing. */
  readonly reason: 'Rejected' | 'Unavailable'

  constructor(reason: CaError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CaError'
    this.reason = reason
  }
}

const TOKEN_BYTES_MAX = 65_536
const ROOT_BYTES_MAX = 1_048_576
const ANSWER_BYTES_MAX = 1_048_576
/** Certificates of an answer: leaf, intermediate authorities, roots. */
const CHAIN_ENTRIES_MAX = 32
const CONNECT_MS = 5000
/** Connection, call and answer. */
const CALL_MS = 10_000
/** Of the certificate, as agents of the mesh ask for it; the authority may give less. */
const VALIDITY_SECONDS = 86_400n
const REJECTING: ReadonlySet<number> = new Set([
  3,
  GrpcStatus.PERMISSION_DENIED,
  GrpcStatus.UNIMPLEMENTED,
  GrpcStatus.UNAUTHENTICATED,
])

export interface CaClientOptions {
  readonly settings: MeshSettings
  readonly dns?: DnsCache
  /** Unix time in milliseconds. */
  readonly now?: () => number
}

export class CaClient {
  readonly #settings: MeshSettings
  readonly #dns: DnsCache
  readonly #now: () => number

  constructor({ settings, dns = new DnsCache(), now = () => Date.now() }: CaClientOptions) {
    this.#settings = settings
    this.#dns = dns
    this.#now = now
  }

  /** Takes at most 10 s. @throws {CaError} */
  async request(signal: AbortSignal): Promise<MeshCertificate> {
    const { tokenFile, rootFile } = this.#settings
    const token = (await fileOf('the token of the service account', tokenFile, TOKEN_BYTES_MAX)).trim()
    if (!/^[\x21-\x7e]+$/.test(token)) throw new CaError('Unavailable', `${tokenFile}: contains no valid token`)
    const roots = await this.roots()
    const authorities = rootsOf(rootFile, roots)
    const spiffeId = idOf(this.#settings)
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const entries = await this.#call({ csr: signingRequest(spiffeId, pair), token, roots, signal })
    const { chain, fromMs, untilMs } = this.#checked(entries, { spiffeId, key: pair.privateKey, authorities })
    const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    return { spiffeId, chain, privateKey, roots, fromMs, untilMs }
  }

  /** PEM, as mounted now. @throws {CaError} */
  roots(): Promise<string> {
    return fileOf('the root certificates of the mesh', this.#settings.rootFile, ROOT_BYTES_MAX)
  }

  async #call({ csr, token, roots, signal }: Call): Promise<readonly string[]> {
    const { ca, clusterId } = this.#settings
    if (ca === undefined) throw new CaError('Unavailable', INVALID_CA)
    const grpc = createGrpcClient({ dns: this.#dns })
    try {
      const method = IstioCertificateService.method.createCertificate
      const message = create(IstioCertificateRequestSchema, {
        csr,
        validityDuration: VALIDITY_SECONDS,
        metadata: { ClusterID: clusterId },
      })
      const answer = await grpc.unary(targetOf(ca, roots), method, message, {
        authority: `${ca.host}:${ca.port}`,
        metadata: ['authorization', `Bearer ${token}`, 'clusterid', clusterId],
        deadlineMs: performance.now() + CALL_MS,
        signal,
        messageBytesMax: ANSWER_BYTES_MAX,
      })
      return answer.certChain
    } catch (error) {
      const text = messageOf(error).replaceAll(token, '<redacted>')
      const reason = error instanceof GrpcError && REJECTING.has(error.status) ? 'Rejected' : 'Unavailable'
      throw new CaError(reason, `${ca.host}:${ca.port}: ${text}`)
    } finally {
      grpc.close()
    }
  }

  /** An answer that peers would reject, or that is for another workload, must not replace a certificate in use. */
  #checked(entries: readonly string[], { spiffeId, key, authorities }: Expected): Checked {
    const [leaf, ...others] = chainOf(entries)
    if (leaf === undefined) throw new CaError('Rejected', 'the authority of the mesh returned no certificate')
    if (!leaf.checkPrivateKey(key)) throw new CaError('Rejected', 'the certificate is for another key')
    const given = new PeerCertificate(leaf).spiffeId
    if (given !== spiffeId) {
      const of = given ?? 'no SPIFFE id'
      throw new CaError('Rejected', `the certificate is for ${of} instead of ${spiffeId}: check the trust domain`)
    }
    const path = pathToRoot(leaf, { intermediates: others, roots: authorities, nowMs: this.#now() })
    if (path === undefined) {
      throw new CaError('Rejected', `the certificate is not valid with the roots in ${this.#settings.rootFile}`)
    }
    const chain = path.slice(0, -1).map(String).join('')
    return { chain, fromMs: startOf(leaf), untilMs: Math.min(...path.map(endOf)) }
  }
}

interface Call {
  readonly csr: string
  readonly token: string
  readonly roots: string
  readonly signal: AbortSignal
}

interface Expected {
  readonly spiffeId: string
  readonly key: KeyObject
  readonly authorities: readonly X509Certificate[]
}

interface Checked {
  readonly chain: string
  readonly fromMs: number
  readonly untilMs: number
}

/** The certificate of the authority is verified with the root of the mesh, and must be for the host that is dialled. */
function targetOf({ host, port }: NonNullable<MeshSettings['ca']>, roots: string): UpstreamTarget {
  const trust = createHash('sha256').update(roots).digest('hex')
  return {
    key: `mesh-ca ${host}:${port} ${trust}`,
    host,
    port,
    unixPath: undefined,
    tls: { servername: undefined, caCertificates: roots, insecureSkipVerify: undefined, alpnProtocols: undefined },
    httpVersion: 'HTTP2',
    connectTimeoutMs: CONNECT_MS,
  }
}

function idOf(settings: MeshSettings): string {
  try {
    return spiffeIdOf(settings)
  } catch (error) {
    throw new CaError('Unavailable', `no identity in the mesh: ${messageOf(error)}`, { cause: error })
  }
}

async function fileOf(what: string, path: string, bytesMax: number): Promise<string> {
  try {
    return await readSmallFile(path, bytesMax)
  } catch (error) {
    throw new CaError('Unavailable', `${what}: ${messageOf(error)}`, { cause: error })
  }
}

function rootsOf(path: string, text: string): X509Certificate[] {
  try {
    return certificatesOf(text)
  } catch (error) {
    throw new CaError('Unavailable', `${path} ${messageOf(error)}`, { cause: error })
  }
}

/** An entry may hold several certificates: the roots come as one. */
function chainOf(entries: readonly string[]): X509Certificate[] {
  if (entries.length > CHAIN_ENTRIES_MAX) throw new CaError('Rejected', 'the authority returned too many certificates')
  try {
    return entries.flatMap(certificatesOf)
  } catch (error) {
    throw new CaError('Rejected', `an entry of the answer ${messageOf(error)}`, { cause: error })
  }
}
