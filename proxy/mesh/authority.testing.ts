// An authority of a mesh for tests: signs certificates with any names and times, and serves CreateCertificate with the
// gRPC server of another implementation; not used by the proxy.
import { execFileSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create } from '@bufbuild/protobuf'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  Extension,
  Extensions,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_subjectAltName,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'
import { grpcServer, type GrpcTestServer, unaryMethod } from '../grpc/server.testing.ts'
import {
  type IstioCertificateRequest,
  IstioCertificateResponseSchema,
  IstioCertificateService,
} from './gen/security/v1alpha1/ca.gen.ts'
import type { MeshCertificate } from './ca-client.ts'
import type { MeshSettings } from './settings.ts'

const HOUR_MS = 3_600_000
const IDENTIFIER = new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' })

export interface Issued {
  readonly certificate: string
  readonly privateKey: string
}

export interface IssueOptions {
  readonly issuer?: Issued | undefined
  readonly commonName?: string
  readonly uris?: readonly string[]
  readonly ips?: readonly string[]
  readonly isAuthority?: boolean
  readonly fromMs?: number
  readonly untilMs?: number
  /** PEM; without one a pair is made. */
  readonly publicKey?: string
}

export function issue(options: IssueOptions): Issued {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicKey = options.publicKey === undefined ? own.publicKey : createPublicKey(options.publicKey)
  const privateKey = own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const { issuer, commonName, uris = [], ips = [], isAuthority = false } = options
  const { fromMs = Date.now() - HOUR_MS, untilMs = Date.now() + HOUR_MS } = options
  const names = [
    ...uris.map((uri) => new GeneralName({ uniformResourceIdentifier: uri })),
    ...ips.map((ip) => new GeneralName({ iPAddress: ip })),
  ]
  const subject = nameOf(commonName)
  const content = new TBSCertificate({
    version: Version.v3,
    serialNumber: Uint8Array.from([0x40, ...randomBytes(8)]).buffer,
    signature: IDENTIFIER,
    issuer:
      issuer === undefined
        ? subject
        : AsnConvert.parse(new X509Certificate(issuer.certificate).raw, Certificate).tbsCertificate.subject,
    validity: new Validity({ notBefore: new Date(fromMs), notAfter: new Date(untilMs) }),
    subject,
    subjectPublicKeyInfo: AsnConvert.parse(publicKey.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo),
    extensions: new Extensions([
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: isAuthority }), true),
      ...(names.length === 0
        ? []
        : [extension(id_ce_subjectAltName, new SubjectAlternativeName(names), commonName === undefined)]),
    ]),
  })
  const key = createPrivateKey(issuer?.privateKey ?? privateKey)
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(content)), key)
  const raw = AsnConvert.serialize(
    new Certificate({
      tbsCertificate: content,
      signatureAlgorithm: IDENTIFIER,
      signatureValue: Uint8Array.from(signature).buffer,
    }),
  )
  return { certificate: new X509Certificate(Buffer.from(raw)).toString(), privateKey }
}

function nameOf(commonName: string | undefined): Name {
  if (commonName === undefined) return new Name()
  const value = new AttributeValue({ utf8String: commonName })
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: '2.5.4.3', value })])])
}

function extension(extnID: string, value: object, critical: boolean): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) })
}

/** The public key of a signing request whose signature holds, as openssl reads it. */
export function publicKeyOf(csr: string): string {
  return execFileSync('openssl', ['req', '-verify', '-noout', '-pubkey'], { input: csr, stdio: 'pipe' }).toString()
}

export interface TestRequest {
  readonly message: IstioCertificateRequest
  readonly metadata: ReadonlyMap<string, string>
}

export interface TestAuthority {
  readonly root: Issued
  readonly settings: MeshSettings & { readonly ca: { readonly port: number } }
  readonly requests: TestRequest[]
  /** Answers of the next requests; without one the answer is what an authority of a mesh gives. */
  answer: ((request: IstioCertificateRequest) => readonly string[] | { code: number; details: string }) | undefined
  readonly server: GrpcTestServer
  /** What it gives by itself. */
  sign(csr: string, options?: IssueOptions): string
  write(file: 'token' | 'root', text: string): void
  close(): void
}

export const SPIFFE_ID = 'spiffe://cluster.local/ns/apps/sa/web'
export const TOKEN = 'header.payload-of-the-token.signature'

export async function startAuthority(): Promise<TestAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-mesh-'))
  const root = issue({ commonName: 'root', isAuthority: true, untilMs: Date.now() + 1000 * HOUR_MS })
  const own = issue({ issuer: root, commonName: 'istiod', ips: ['127.0.0.1'] })
  const files = { token: join(folder, 'istio-token'), root: join(folder, 'root-cert.pem') }
  const requests: TestRequest[] = []
  const server = await grpcServer(
    [
      unaryMethod(IstioCertificateService.method.createCertificate, ({ request, metadata }, reply) => {
        const fields = Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)] as const)
        requests.push({ message: request, metadata: new Map(fields) })
        const given = authority.answer?.(request) ?? [authority.sign(request.csr), root.certificate]
        if ('code' in given) reply(given)
        else reply(null, create(IstioCertificateResponseSchema, { certChain: [...given] }))
      }),
    ],
    { tls: { key: own.privateKey, certificate: own.certificate } },
  )
  const write = (file: 'token' | 'root', text: string): void => writeFileSync(files[file], text)
  write('token', `${TOKEN}\n`)
  write('root', root.certificate)
  const authority: TestAuthority = {
    root,
    settings: {
      ca: { host: '127.0.0.1', port: server.port },
      trustDomain: 'cluster.local',
      additionalTrustDomains: [],
      namespace: 'apps',
      serviceAccount: 'web',
      clusterId: 'Kubernetes',
      tunnelPort: 15_008,
      tokenFile: files.token,
      rootFile: files.root,
    },
    requests,
    answer: undefined,
    server,
    sign: (csr, options = {}) =>
      issue({ issuer: root, uris: [SPIFFE_ID], publicKey: publicKeyOf(csr), ...options }).certificate,
    write,
    close() {
      server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return authority
}

/** A certificate as the authority gives it, without a call. */
export function meshCertificate(root: Issued, options: IssueOptions & { readonly spiffeId: string }): MeshCertificate {
  const { fromMs = Date.now() - HOUR_MS, untilMs = Date.now() + HOUR_MS, spiffeId } = options
  const { certificate, privateKey } = issue({ issuer: root, uris: [spiffeId], ...options, fromMs, untilMs })
  return { spiffeId, chain: certificate, privateKey, roots: root.certificate, fromMs, untilMs }
}
