// `tls` of a listener: certificate and key as secrets, authorities for clients, and the settings of the handshake.
import { authorityFault } from '#api/tls/authority-fault.ts'
import { certificatesOnly } from '#api/tls/certificate-bundle.ts'
import type { FrontendTLS, ListenerTLS } from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type { Protocol, TlsFields } from '../schema/listeners.ts'
import type { BuildContext } from './context.ts'
import { defined } from './defined.ts'
import { renderKeyPair, type RenderedPair } from './key-pair.ts'

export interface RenderedListenerTls {
  readonly tls?: ListenerTLS
  /** undefined: the defaults. */
  readonly handshake?: FrontendTLS
}

const VERSIONS = { TLS_V1_2: '1.2', TLS_V1_3: '1.3' } as const

export interface ListenerTlsInput {
  readonly protocol: Protocol
  readonly fields: TlsFields | undefined
  /** Of the listener. */
  readonly path: string
}

export function renderListenerTls(
  { protocol, fields, path }: ListenerTlsInput,
  context: BuildContext,
): RenderedListenerTls {
  const at = pathTo(path, 'tls')
  if (protocol === 'HBONE') {
    if (fields !== undefined)
      context.error(at, 'must not be set with protocol HBONE, which has the certificate of the mesh')
    return { tls: { mode: 'Terminate', mesh: 'Mutual' } }
  }
  if (protocol === 'HTTP' || protocol === 'TCP') {
    if (fields !== undefined) context.error(at, `must not be set with protocol ${protocol}; use HTTPS or TLS`)
    return {}
  }
  if (fields === undefined) {
    if (protocol === 'HTTPS') context.error(path, 'protocol HTTPS needs tls with cert and key')
    // Without a certificate the connection is forwarded unchanged, by its server name.
    return { tls: { mode: 'Passthrough' } }
  }
  const handshake = renderHandshake(fields, at, context)
  return {
    tls: {
      mode: 'Terminate',
      ...certificates(fields, at, context),
      ...clientCertificates(fields, at, context),
    },
    ...(Object.keys(handshake).length > 0 && { handshake }),
  }
}

/** With `mode: dynamicCa`, `cert` and `key` belong to an authority. */
function certificates(
  fields: TlsFields,
  at: string,
  context: BuildContext,
): RenderedPair & Pick<ListenerTLS, 'signsCertificates'> {
  const pair = renderKeyPair(fields, at, context)
  if (fields.mode !== 'dynamicCa') return pair
  if (fields.root !== undefined) {
    context.error(pathTo(at, 'root'), 'cannot be combined with mode dynamicCa; remove one of them')
  }
  const pem = context.valueOf(pair.certificate) ?? ''
  const fault = pem === '' ? undefined : authorityFault(pem)
  if (fault !== undefined) context.error(pathTo(at, 'cert'), `with mode dynamicCa the file must have ${FAULTS[fault]}`)
  return { ...pair, signsCertificates: true }
}

const FAULTS = {
  noAuthority: 'a certificate of an authority (CA:TRUE)',
  otherKey: 'the certificate of an authority with a key of RSA, EC or Ed25519',
} as const

function clientCertificates({ root }: TlsFields, at: string, context: BuildContext): Partial<ListenerTLS> {
  if (root === undefined) return {}
  const pem = context.readFile(pathTo(at, 'root'), root)
  if (pem === undefined) return {}
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    context.error(pathTo(at, 'root'), 'the file contains no PEM certificate')
  }
  return { clientCertificates: { mode: 'AllowValidOnly', caCertificates: certificatesOnly(pem) } }
}

function renderHandshake(fields: TlsFields, at: string, context: BuildContext): FrontendTLS {
  for (const [one, other] of [
    ['minTLSVersion', 'minTlsVersion'],
    ['maxTLSVersion', 'maxTlsVersion'],
  ] as const) {
    const isTwice = fields[one] !== undefined && fields[other] !== undefined
    if (isTwice) context.error(pathTo(at, other), `is the same field as ${one}: remove one of them`)
  }
  return renderVersions(
    {
      min: fields.minTLSVersion ?? fields.minTlsVersion,
      max: fields.maxTLSVersion ?? fields.maxTlsVersion,
      cipherSuites: fields.cipherSuites,
      keyExchangeGroups: fields.keyExchangeGroups,
    },
    at,
    context,
  )
}

type Version = keyof typeof VERSIONS

export interface HandshakeNames {
  readonly min: Version | undefined
  readonly max: Version | undefined
  readonly cipherSuites: string[] | undefined
  readonly keyExchangeGroups: FrontendTLS['keyExchangeGroups'] | undefined
}

export function renderVersions(names: HandshakeNames, at: string, context: BuildContext): FrontendTLS {
  const { min, max, cipherSuites, keyExchangeGroups } = names
  if (min === 'TLS_V1_3' && max === 'TLS_V1_2') {
    context.error(at, 'the minimum version is higher than the maximum version: no client can connect')
  }
  return defined({
    minProtocolVersion: min && VERSIONS[min],
    maxProtocolVersion: max && VERSIONS[max],
    cipherSuites,
    keyExchangeGroups,
  })
}
